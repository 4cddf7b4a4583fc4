/**
 * `troupe agents add`: checks a file as it would be once it is there, then puts it into the project's `agents/` or the user's.
 * Nothing is written when it has errors, and nothing is overwritten unless it is forced; then a copy is kept.
 */
import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { referencesOf } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { writeText } from '../../agents/text/write-text.ts';
import { TroupeError } from '../../base/errors.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { type AgentFilesHere, readAgentFiles } from './files.ts';
import { checkGivenAgent } from './given-agent.ts';
import { keepCopy } from './keep.ts';

export interface AgentsAddOptions extends JsonOption {
  readonly name?: string | undefined;
  readonly user?: boolean | undefined;
  readonly force?: boolean | undefined;
}

interface Added {
  readonly added: string;
  readonly file: string;
  /** Of what was there before. */
  readonly copy: string | null;
  readonly warnings: readonly string[];
}

export async function agentsAddCommand(context: CommandContext, file: string, options: AgentsAddOptions): Promise<ExitCode> {
  const files = await readAgentFiles(context);
  const origin = options.user === true ? 'user' : 'project';
  const { agent, text } = await checkGivenAgent(context, files, { file, origin, name: options.name });
  const { name } = agent.definition;
  const root = origin === 'user' ? files.userFolder : files.root;
  const source = sourceOf(files, name, origin) ?? (origin === 'user' ? join(root, 'agents', `${name}.md`) : `agents/${name}.md`);
  const path = resolve(root, source);
  const there = await isThere(path);
  if (there && options.force !== true)
    throw usageError(`There is already ${source}`, 'give the new one another --name, or replace it: --force');
  const copy = there ? await keepCopy(context, files.home, files.root, path) : null;
  await write(root, path, source, text);
  print(context, { added: name, file: source, copy, warnings: warningsOf(files, agent) }, options);
  return exitCodes.completed;
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

function print(context: CommandContext, added: Added, options: AgentsAddOptions): void {
  if (options.json) {
    printJson(context, 'agents add', added);
    return;
  }
  const { out, progress } = context.terminal;
  out.line(`${added.copy === null ? 'added   ' : 'replaced'}  ${safeLine(added.file)}`);
  if (added.copy !== null) progress.line(`what was there is kept in ${safeLine(added.copy)}`);
  for (const warning of added.warnings) progress.line(`${progress.paint.yellow('warning')}: ${safeText(warning)}`);
}
