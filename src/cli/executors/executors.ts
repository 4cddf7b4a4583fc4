/** `troupe executors list|probe|add`: which coding agents can work for agents, what one can do here, and others beside them. */
import { present } from '../../base/present.ts';
import type { ExecutorFields } from '../../executors/entry.ts';
import type { KeptHere } from '../../executors/kept-in.ts';
import type { BuiltinNeeds } from '../../executors/known/entries.ts';
import { entryNamed } from '../../executors/open.ts';
import {
  type ExecutorsHere,
  type ListedExecutor as Listed,
  listExecutors,
  type ProbedExecutor,
  probeHere,
  readExecutors,
} from '../../front/project/executors.ts';
import { addExecutor } from '../../project/executors/add-executor.ts';
import { settingsOf } from '../agents/files.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export async function executorsListCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const { made, resolved } = await executorsHere(context);
  try {
    const { builtin } = made.options;
    const executors = await listExecutors({ made, resolved });
    if (options.json) printJson(context, 'executors list', { executors });
    else {
      const rows = executors.map((one) => cells(one, builtin));
      const heading = ['EXECUTOR', 'NAME', 'FROM', 'STATE', 'WALLS', 'STARTS'];
      printTable(context.terminal.out, heading, rows, ['EXECUTOR', 'STATE']);
    }
    return exitCodes.completed;
  } finally {
    await made.close();
  }
}

/** Also for the completion of names and for `doctor`. */
export async function executorsHere(context: CommandContext): Promise<ExecutorsHere> {
  return await readExecutors(await settingsOf(context), context.terminal.env, context.clock);
}

/** The built-in one is this program, which people know as `troupe`; where its settings and its state are says nothing to them. */
function cells(
  { name, title, source, installed, walls, command = [], address }: Listed,
  { program, args }: BuiltinNeeds,
): readonly string[] {
  const isOwn = program.every((word, index) => command[index] === word);
  const starts = isOwn ? ['troupe', ...command.slice(program.length).filter((word) => !args.includes(word))] : command;
  const state = installed === undefined ? 'at an address' : installed ? 'installed' : 'not installed';
  return [name, title, source, state, walls.how, address ?? starts.join(' ')].map((text) => safeLine(text));
}

export async function executorsProbeCommand(context: CommandContext, name: string, options: JsonOption): Promise<ExitCode> {
  const { made, resolved } = await executorsHere(context);
  const entry = entryNamed(name, resolved);
  if (!entry.ok) throw usageError(entry.error.message, entry.error.fix);
  try {
    if (options.json !== true) context.terminal.progress.line(`starting ${safeLine(entry.value.title)} …`);
    const probed = await probeHere({ made, resolved }, entry.value, new AbortController().signal);
    if (options.json) printJson(context, 'executors probe', probed);
    else printProbe(context, probed);
    return probed.works ? exitCodes.completed : exitCodes.executorUnavailable;
  } finally {
    await made.close();
  }
}

const KEPT: Readonly<Record<KeptHere['how'], string>> = {
  inside: 'runs inside',
  own: 'its commands run inside those that it builds itself',
  outside: 'runs without',
  refused: 'not started: they are demanded (sandbox: on)',
};

function printProbe({ terminal: { out } }: CommandContext, { name, title, works, walls, ...known }: ProbedExecutor): void {
  out.line(safeLine(`${name}  ${title}${works ? '' : ': does not work here'}`));
  const row = (label: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') out.line(`  ${label.padEnd(12)} ${safeLine(value)}`);
  };
  if (works) {
    row('version', known.version);
    row('protocol', known.protocol === undefined ? undefined : `ACP ${known.protocol}`);
    row('modes', known.modes?.map((mode) => (mode === known.mode ? `${mode} (set)` : mode)).join(', '));
    row('model', known.model);
    row('permissions', known.asks === true ? 'asks before it acts' : 'never asks');
    row('sessions', known.loads === true ? 'can be loaded again' : 'end with their process');
    row('MCP', known.mcp?.join(', ') || 'takes no servers');
    row('images', known.images === true ? 'yes' : 'no');
  }
  row('walls', [KEPT[walls.how], walls.sandbox === undefined ? walls.why : `(${walls.sandbox})`].filter(Boolean).join(': '));
  row('  fix', walls.fix);
  for (const { what, fix } of known.missing) {
    row('missing', what);
    row('  fix', fix);
  }
}

export interface ExecutorsAddOptions extends JsonOption {
  readonly address?: string | undefined;
  readonly like?: string | undefined;
  readonly title?: string | undefined;
  readonly key?: readonly string[] | undefined;
  readonly user?: boolean | undefined;
  readonly force?: boolean | undefined;
}

export async function executorsAddCommand(
  context: CommandContext,
  name: string,
  command: readonly string[],
  options: ExecutorsAddOptions,
): Promise<ExitCode> {
  const { address, like, title, key } = options;
  const fields: ExecutorFields = {
    ...present({ title, like, address, keys: key && [...key] }),
    ...(command.length === 0 ? {} : { command: [...command] }),
  };
  const config = await settingsOf(context);
  const added = await addExecutor(name, fields, {
    ...{ root: config.root, env: context.terminal.env, user: options.user === true, force: options.force === true },
  });
  if (!added.ok) throw usageError(added.error.message, added.error.fix);
  const { file } = added.value;
  if (options.json) printJson(context, 'executors add', { added: name, file });
  else context.terminal.out.line(safeLine(`added  ${name} in ${file}: ${callOf(context)} executors probe ${name}`));
  return exitCodes.completed;
}
