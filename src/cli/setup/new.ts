/** `troupe new agent|team`: a commented file in agents/, under a name that is free. Nothing is ever replaced. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { nameProblem } from '../../agents/definition/agent-name.ts';
import { suggest } from '../../base/did-you-mean.ts';
import { type AgentFilesHere, readAgentFiles } from '../agents/files.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { agentText, memberText, teamText } from './new-texts.ts';
import { writeNew } from './write-new.ts';

interface NewFile {
  readonly name: string;
  readonly text: string;
}

/** Who is in a new team that names nobody. */
const MEMBERS = [
  { suffix: 'finder', task: 'finds what bears on the question' },
  { suffix: 'critic', task: 'looks for what is wrong or missing' },
] as const;

export async function newAgentCommand(context: CommandContext, word: string, options: JsonOption): Promise<ExitCode> {
  const name = usableName(word);
  return writeAll(context, await readAgentFiles(context), [{ name, text: agentText(name) }], options);
}

export async function newTeamCommand(
  context: CommandContext,
  word: string,
  given: readonly string[],
  options: JsonOption,
): Promise<ExitCode> {
  const name = usableName(word);
  const files = await readAgentFiles(context);
  const members = given.length > 0 ? knownMembers(files, name, given) : MEMBERS.map(({ suffix }) => `${name}-${suffix}`);
  const made =
    given.length > 0 ? [] : MEMBERS.map(({ suffix, task }) => ({ name: `${name}-${suffix}`, text: memberText(name, task) }));
  return writeAll(context, files, [{ name, text: teamText(name, members) }, ...made], options);
}

function usableName(word: string): string {
  const name = word.normalize('NFC');
  const problem = nameProblem(name) ?? fileProblem(name);
  if (problem === undefined) return name;
  const better = betterName(name);
  const fix = better === undefined ? 'choose another name' : `for example: ${better}`;
  throw usageError(`"${safeLine(word)}" is no name for an agent: it ${problem}`, fix);
}

/** What a name says as a file: some are passed over when agents are looked for. */
function fileProblem(name: string): string | undefined {
  if (name.startsWith('_')) return 'starts with _, and such files are passed over';
  if (name.toLowerCase() === 'readme') return 'is the name of a file that is passed over';
  return /\.md$/i.test(name) ? 'ends with .md, which is added to it' : undefined;
}

function betterName(name: string): string | undefined {
  const better = name
    .replace(/\.md$/i, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
  const problem = nameProblem(better) ?? fileProblem(better);
  return problem === undefined ? better : undefined;
}

function knownMembers(files: AgentFilesHere, team: string, given: readonly string[]): readonly string[] {
  const known = files.agents.map((agent) => agent.definition.name);
  for (const member of given) {
    if (member === team) throw usageError(`"${safeLine(team)}" cannot be a member of itself`, 'leave it out: it leads the team');
    if (known.includes(member)) continue;
    const fix = suggest(member, known, 'agents') ?? 'make it first: troupe new agent <name>';
    throw usageError(`There is no agent "${safeLine(member)}"`, fix);
  }
  return [...new Set(given)];
}

/** All or nothing, as far as names go: they are looked at before the first file is written. */
async function writeAll(
  context: CommandContext,
  files: AgentFilesHere,
  wanted: readonly NewFile[],
  options: JsonOption,
): Promise<ExitCode> {
  const all = [...files.agents, ...files.shadowed.map((one) => one.agent)];
  const taken = new Set(all.filter(({ origin }) => origin === 'project').map(({ definition }) => definition.name));
  for (const { name } of wanted) {
    const there = all.find(({ definition, origin }) => definition.name === name && origin === 'project');
    const path = `agents/${name}.md`;
    if (there !== undefined) throw alreadyThere(there.definition.source, name, taken);
    if (await isThere(join(files.root, path))) throw alreadyThere(path, name, taken);
  }
  const written: string[] = [];
  for (const { name, text } of wanted) {
    const { path, done } = await writeNew(files.root, `agents/${name}.md`, text);
    if (done === 'kept') throw alreadyThere(path, name, taken);
    written.push(path);
  }
  print(context, written, options);
  return exitCodes.completed;
}

function alreadyThere(path: string, name: string, taken: ReadonlySet<string>): Error {
  let number = 2;
  while (taken.has(`${name}-${number}`)) number += 1;
  return usageError(`There is already ${safeLine(path)}`, `choose another name, for example: ${safeLine(name)}-${number}`);
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

function print(context: CommandContext, written: readonly string[], options: JsonOption): void {
  const next = `${callOf(context)} check`;
  if (options.json) {
    printJson(context, 'new agent', { files: written, next });
    return;
  }
  const { out } = context.terminal;
  for (const path of written) out.line(`wrote  ${safeLine(path)}`);
  out.line(`then   say in ${written.length === 1 ? 'it' : 'them'} what ${written.length === 1 ? 'it is' : 'they are'} for`);
  out.line(`next   ${next}`);
}
