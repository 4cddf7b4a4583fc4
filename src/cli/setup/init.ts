/** `troupe init`: the agents of a template, the settings, and state kept out of git. Never overwrites anything. */
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFIG_FILE } from '../../project/config.ts';
import { type CommandContext, callOf, type JsonOption, printJson } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { filesOf, oneAgent, repliesOf, type Template, templateCalled, templates } from './templates.ts';
import { type Written, writeNew } from './write-new.ts';

const SETTINGS = `# Settings of this project. Every key is optional; docs/cli.md lists them.

# The model for agents that name none, or a list to try in order. Without it: a key in the environment, then Ollama.
# model: anthropic/claude-sonnet-5

# No run of this project may spend more than this, all runs together.
# budget: { usd: 5 }
`;

const IGNORED = '.troupe/';

export interface InitOptions extends JsonOption {
  readonly template?: string | undefined;
  readonly list?: boolean | undefined;
}

export async function initCommand(context: CommandContext, options: InitOptions): Promise<ExitCode> {
  if (options.list) return listTemplates(context, options);
  const template = await chosenTemplate(context, options);
  if (template === undefined) return exitCodes.interrupted;
  const { cwd, terminal } = context;
  const files: Written[] = [];
  for (const { path, text } of await filesOf(template)) files.push(await writeNew(cwd, path, text));
  files.push(await writeNew(cwd, CONFIG_FILE, SETTINGS), await ignoreState(join(cwd, '.gitignore')));
  const next = `${callOf(context)} run ${template.agent} "${template.prompt}"`;
  const withoutKey = `${next} --model scripted:${repliesOf(template)}`;
  if (options.json) printJson(context, 'init', { folder: cwd, template: template.name, files, next, withoutKey });
  else {
    for (const { path, done } of files)
      terminal.out.line(done === 'written' ? `wrote  ${path}` : `kept   ${path}, which was there already`);
    // A command has a line for itself, and is not broken into two: it can be copied as it stands.
    terminal.out.line(`next   ${next}`);
    terminal.out.line('or, without a key:');
    terminal.out.line(`       ${withoutKey}`);
  }
  return exitCodes.completed;
}

function listTemplates(context: CommandContext, options: JsonOption): ExitCode {
  if (options.json) printJson(context, 'init', { templates });
  else for (const { head, about } of listed()) context.terminal.out.prose(about, { head, indent: head.length });
  return exitCodes.completed;
}

function listed(): readonly { readonly head: string; readonly about: string }[] {
  const width = Math.max(...templates.map(({ name }) => name.length));
  return templates.map(({ name, about }) => ({ head: `${name.padEnd(width)}  `, about }));
}

/** The one that was named, or chosen by a person; `undefined` when they leave instead. Nobody there: one agent. */
async function chosenTemplate(context: CommandContext, options: InitOptions): Promise<Template | undefined> {
  if (options.template !== undefined) return templateCalled(options.template);
  const { interactive, progress, ask } = context.terminal;
  if (!interactive || options.json) return oneAgent;
  for (const [index, { head, about }] of listed().entries())
    progress.prose(about, { head: `${index + 1}  ${head}`, indent: head.length + 3 });
  for (;;) {
    const answer = (await ask(`Which one? A number or a name; Enter for ${oneAgent.name}: `))?.trim();
    if (answer === undefined) return undefined;
    if (answer === '') return oneAgent;
    const chosen = templates.find(({ name }, index) => answer === name || answer === String(index + 1));
    if (chosen !== undefined) return chosen;
    progress.prose(`A number from 1 to ${templates.length}, or a name from the list.`);
  }
}

async function ignoreState(path: string): Promise<Written> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const there = text.split('\n').some((line) => ['.troupe', IGNORED, `/${IGNORED}`].includes(line.trim()));
  if (there) return { path: '.gitignore', done: 'kept' };
  await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${IGNORED}\n`);
  return { path: '.gitignore', done: 'written' };
}
