/** An agent file that somebody gives, as a file or on stdin: read, given its name, and checked as if it were in its place. */
import { basename, join, relative, resolve, sep } from 'node:path';
import { nameProblem } from '../../agents/definition/agent-name.ts';
import { checkToolNames } from '../../agents/definition/tool-names.ts';
import { type LoadedAgent, loadAgent } from '../../agents/file/load.ts';
import { setName } from '../../agents/file/set-name.ts';
import { type Diagnostic, formatDiagnostic, isError } from '../../agents/text/diagnostics.ts';
import { readText } from '../../agents/text/read-text.ts';
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { type CommandContext, usageError } from '../terminal/command.ts';
import type { AgentFilesHere } from './files.ts';

interface GivenAgent {
  /** A path, or `-` for stdin. */
  readonly file: string;
  readonly origin: 'project' | 'user';
  readonly name: string | undefined;
}

interface CheckedAgent {
  readonly agent: LoadedAgent;
  readonly text: string;
}

/** No agent can have this name, so it shows that nobody gave one. */
const NAMELESS = '_stdin';

export async function checkGivenAgent(context: CommandContext, files: AgentFilesHere, given: GivenAgent): Promise<CheckedAgent> {
  const shown = given.file === '-' ? 'stdin' : given.file;
  const read = given.file === '-' ? await readInput(context) : await readText(resolve(context.cwd, given.file));
  if (!read.ok) throw usageError(`${shown} ${read.error.message}`, read.error.fix ?? 'name a markdown file, or - for stdin');
  const text = named(shown, read.value, given.name);
  return { agent: await checkAgentText(files, given, shown, text), text };
}

/** `shown` is what problems name: where the person has the text now. */
export async function checkAgentText(
  files: AgentFilesHere,
  given: Pick<GivenAgent, 'file' | 'origin'>,
  shown: string,
  text: string,
): Promise<LoadedAgent> {
  const agent = await load(files, given, shown, text);
  refuseName(agent.definition.name);
  return agent;
}

function named(shown: string, text: string, name: string | undefined): string {
  if (name === undefined) return text;
  const problem = nameProblem(name);
  if (problem !== undefined) throw usageError(`The name "${name}" ${problem}`, 'choose another --name');
  const renamed = setName(shown, text, name.normalize('NFC'));
  if (!renamed.ok) throw broken(shown, [renamed.error]);
  return renamed.value;
}

async function load(
  files: AgentFilesHere,
  given: Pick<GivenAgent, 'file' | 'origin'>,
  shown: string,
  text: string,
): Promise<LoadedAgent> {
  const { origin } = given;
  const root = origin === 'user' ? files.userFolder : files.root;
  const path = join(root, 'agents', given.file === '-' ? `${NAMELESS}.md` : basename(given.file));
  const label = (origin === 'user' ? resolve(path) : relative(root, path)).split(sep).join('/');
  const here = (one: Diagnostic): Diagnostic => (one.file === label ? { ...one, file: shown } : one);
  const loaded = await loadAgent({ path, root, origin, text, variables: files.variables });
  if (!loaded.ok) throw broken(shown, loaded.error.map(here));
  const { definition, placeOf, diagnostics } = loaded.value;
  const problems = checkToolNames(definition, placeOf, { servers: files.mcpServers }).map(here);
  if (problems.some(isError)) throw broken(shown, problems);
  return { ...loaded.value, diagnostics: [...diagnostics.map(here), ...problems] };
}

function broken(shown: string, problems: readonly Diagnostic[]): TroupeError {
  const message = [`${shown} is not a sound agent file`, ...problems.map(formatDiagnostic)].join('\n');
  return new TroupeError('invalid_agent', message, { fix: 'correct the file; nothing was written' });
}

/** Files of these names are passed over where agents are looked for. */
function refuseName(name: string): void {
  if (name === NAMELESS) throw usageError('The agent has no name', 'give it one: --name, or `name` in its frontmatter');
  if (name.startsWith('_') || name.toLowerCase() === 'readme')
    throw usageError(`A file of the name ${name}.md would not be an agent`, 'give it another --name');
}

async function readInput({ terminal }: CommandContext): Promise<Result<string, { message: string; fix?: string }>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of terminal.input) {
    size += chunk.length;
    if (size > limits.agentFileBytes)
      return fail({ message: `is larger than ${limits.agentFileBytes} bytes (limit agentFileBytes)` });
    chunks.push(chunk);
  }
  try {
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    return fail({ message: 'is not valid UTF-8', fix: 'send UTF-8 text' });
  }
}
