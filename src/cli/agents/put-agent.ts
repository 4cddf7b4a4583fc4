/** A checked agent put into `agents/` of the project or the user. Nothing is overwritten unless forced; then a copy is kept. */
import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { referencesOf } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { writeText } from '../../agents/text/write-text.ts';
import { TroupeError } from '../../base/errors.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { AgentFilesHere } from './files.ts';
import { keepCopy } from './keep.ts';

export interface AgentsAddOptions extends JsonOption {
  readonly name?: string | undefined;
  readonly user?: boolean | undefined;
  readonly force?: boolean | undefined;
  /** For cards: the one that is there now and no other. */
  readonly pin?: boolean | undefined;
  /** For cards: the variable with the token. */
  readonly tokenEnv?: string | undefined;
  /** For cards: the token may go in the clear. */
  readonly plain?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

interface Added {
  readonly added: string;
  readonly file: string;
  /** Of what was there before. */
  readonly copy: string | null;
  readonly warnings: readonly string[];
}

export const placeFor = ({ user }: AgentsAddOptions): 'user' | 'project' => (user === true ? 'user' : 'project');

/** Where the file of this agent goes; refused when there is one that is not to be replaced. */
export async function freePlace(files: AgentFilesHere, name: string, options: AgentsAddOptions): Promise<string> {
  const origin = placeFor(options);
  const root = origin === 'user' ? files.userFolder : files.root;
  const source = sourceOf(files, name, origin) ?? (origin === 'user' ? join(root, 'agents', `${name}.md`) : `agents/${name}.md`);
  if (options.force !== true && (await isThere(resolve(root, source))))
    throw usageError(`There is already ${source}`, 'give the new one another --name, or replace it: --force');
  return source;
}

export interface PutAgent {
  readonly agent: LoadedAgent;
  readonly text: string;
  /** A path from `freePlace`. */
  readonly source: string;
  readonly origin: 'user' | 'project';
}

export async function putAgent(
  context: CommandContext,
  files: AgentFilesHere,
  { agent, text, source, origin }: PutAgent,
): Promise<Added> {
  const root = origin === 'user' ? files.userFolder : files.root;
  const path = resolve(root, source);
  const copy = (await isThere(path)) ? await keepCopy(context, files.home, files.root, path) : null;
  await write(root, path, source, text);
  return { added: agent.definition.name, file: source, copy, warnings: warningsOf(files, agent) };
}

/** The file of the agent that has this name in the same place now. */
function sourceOf(files: AgentFilesHere, name: string, origin: LoadedAgent['origin']): string | undefined {
  const all = [...files.agents, ...files.shadowed.map((one) => one.agent)];
  return all.find((agent) => agent.definition.name === name && agent.origin === origin)?.definition.source;
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function write(root: string, path: string, source: string, text: string): Promise<void> {
  await mkdir(root, { recursive: true }).catch(() => undefined);
  const written = await writeText(root, path, text);
  if (written.ok) return;
  const { message, fix = 'check the folder and its permissions' } = written.error;
  throw new TroupeError('io', `${source} ${message}`, { fix });
}

/** What does not keep the file from being an agent, but may keep the agent from running, or from being the one that runs. */
function warningsOf(files: AgentFilesHere, { definition, diagnostics, origin }: LoadedAgent): readonly string[] {
  const { name } = definition;
  const known = new Set([name, ...files.agents.map((agent) => agent.definition.name)]);
  const missing = [...new Set(referencesOf(definition).map(({ target }) => target))].filter((target) => !known.has(target));
  const other = files.agents.find((agent) => agent.definition.name === name && agent.origin !== origin);
  return [
    ...diagnostics.map(formatDiagnostic),
    ...missing.map((target) => `it names the agent "${target}", which is not there yet`),
    ...(other === undefined ? [] : [shadowing(other, origin)]),
  ];
}

function shadowing({ definition: { source } }: LoadedAgent, origin: LoadedAgent['origin']): string {
  return origin === 'user'
    ? `${source} has the same name and counts first`
    : `it counts before ${source}, which has the same name`;
}

export function printAdded(context: CommandContext, added: Added, options: AgentsAddOptions): void {
  if (options.json) {
    printJson(context, 'agents add', added);
    return;
  }
  const { out, progress } = context.terminal;
  out.line(`${added.copy === null ? 'added   ' : 'replaced'}  ${safeLine(added.file)}`);
  if (added.copy !== null) progress.line(`what was there is kept in ${safeLine(added.copy)}`);
  for (const warning of added.warnings) progress.line(`${progress.paint.yellow('warning')}: ${safeText(warning)}`);
}
