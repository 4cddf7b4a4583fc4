/** What may stand at a place of the command line, by the commands as they are described. */
import type { Argument, Command, Option } from 'commander';

export type NameKind =
  | 'agents'
  | 'runs'
  | 'tasks'
  | 'groups'
  | 'presets'
  | 'templates'
  | 'shells'
  | 'servers'
  | 'executors'
  | 'sessions'
  | 'rule-tools'
  | 'rules';

export interface Offered {
  /** What `-C` says before it. */
  readonly folder: string | undefined;
  /** Words that are known without looking anywhere, with what they are. */
  readonly words: readonly (readonly [word: string, about: string])[];
  readonly names: NameKind | undefined;
}

interface Walk {
  command: Command;
  /** Commands on the way, from the first. */
  readonly path: string[];
  /** How many arguments of the command stand there already. */
  taken: number;
  /** Stands there and still needs its value. */
  open: Option | undefined;
  folder: string | undefined;
}

/** `before` are the words before the one that is being written, without the program itself. */
export function offeredAt(program: Command, before: readonly string[], current: string): Offered {
  const walk: Walk = { command: program, path: [], taken: 0, open: undefined, folder: undefined };
  for (const word of before) step(program, walk, word);
  return { folder: walk.folder, ...offeredHere(program, walk, current) };
}

function step(program: Command, walk: Walk, word: string): void {
  // Bash makes a word of its own of the sign in --preset=name.
  if (word === '=') return;
  if (walk.open !== undefined) {
    if (walk.open.attributeName() === 'cwd') walk.folder = word;
    walk.open = undefined;
    return;
  }
  if (word.startsWith('-') && word !== '-') {
    walk.open = [...walk.command.options, ...program.options].find(
      (option) => option.required && (option.long === word || option.short === word),
    );
    return;
  }
  const below = walk.taken === 0 ? walk.command.commands.find((command) => command.name() === word) : undefined;
  if (below === undefined) walk.taken += 1;
  else {
    walk.command = below;
    walk.path.push(word);
  }
}

function offeredHere(program: Command, { command, path, taken, open }: Walk, current: string): Omit<Offered, 'folder'> {
  if (open !== undefined) return { words: choices(open), names: namesFor(path, open.attributeName()) };
  if (current.startsWith('-')) {
    const options = command === program ? program.options : [...command.options, ...program.options];
    return { words: options.flatMap(({ long, description }) => (long ? [[long, description]] : [])), names: undefined };
  }
  if (command.commands.length > 0 && taken === 0) return { words: visibleCommands(command), names: undefined };
  const argument = command.registeredArguments[taken] ?? command.registeredArguments.findLast((last) => last.variadic);
  if (argument === undefined) return { words: [], names: undefined };
  return { words: choices(argument), names: namesFor(path, argument.name()) };
}

export function visibleCommands(command: Command): readonly (readonly [name: string, about: string])[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible
    .filter((below) => below.name() !== 'help')
    .map((below) => [below.name(), below.summary() || below.description()]);
}

const choices = ({ argChoices }: Option | Argument): Offered['words'] => (argChoices ?? []).map((choice) => [choice, '']);

const NAMES: Readonly<Record<string, NameKind>> = {
  agent: 'agents',
  from: 'agents',
  members: 'agents',
  run: 'runs',
  task: 'tasks',
  after: 'tasks',
  'run-or-event': 'runs',
  'run-or-session': 'runs',
  preset: 'presets',
  template: 'templates',
  shell: 'shells',
  server: 'servers',
  executor: 'executors',
  like: 'executors',
  servers: 'servers',
  what: 'groups',
  session: 'sessions',
  tool: 'rule-tools',
  rule: 'rules',
};

/** A plain `name` is of what the command is about, unless it is a new one. */
function namesFor([command, below]: readonly string[], word: string): NameKind | undefined {
  if (command === 'new' && word !== 'members') return undefined;
  if (word !== 'name') return NAMES[word];
  if (command === 'presets') return 'presets';
  return command === 'groups' && below !== 'create' ? 'groups' : undefined;
}
