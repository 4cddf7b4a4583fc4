/** Finds the agent that a person means: a name, or a file, also one outside the folders where agents are looked for. */
import { access } from 'node:fs/promises';
import { basename, resolve, sep } from 'node:path';
import type { ProjectCheck } from '../../agents/check-project.ts';
import { referencesOf } from '../../agents/definition/references.ts';
import { type LoadedAgent, loadAgent } from '../../agents/file/load.ts';
import { type Diagnostic, formatDiagnostic, isError } from '../../agents/text/diagnostics.ts';
import { nearest } from '../../base/did-you-mean.ts';
import { TroupeError } from '../../base/errors.ts';
import { usageError } from '../terminal/command.ts';

/** An agent is meant by file when the word looks like a path, else by name. */
export async function agentFileOf(cwd: string, word: string): Promise<string | undefined> {
  if (!word.endsWith('.md') && !word.includes('/') && !word.includes(sep)) return undefined;
  const path = resolve(cwd, word);
  const there = await access(path).then(
    () => true,
    () => false,
  );
  if (!there) throw usageError(`There is no agent file ${word}`, 'see what there is: troupe agents list');
  return path;
}

/** What is known of agents before anything is asked of them. */
export interface AgentFiles extends Pick<ProjectCheck, 'agents' | 'diagnostics'> {
  readonly root: string;
  /** Names of the prompt variables that agents may use. */
  readonly variables: readonly string[];
}

/** The agent that is meant. Every problem of its file is shown when it cannot be used. */
export async function findAgent(files: AgentFiles, word: string, file?: string): Promise<LoadedAgent> {
  const { agents, diagnostics, root, variables } = files;
  const pathOf = (agent: LoadedAgent): string => resolve(root, agent.definition.source);
  const found = agents.find((agent) => (file === undefined ? agent.definition.name === word : pathOf(agent) === file));
  const source = found === undefined ? file : pathOf(found);
  // A file that is broken has no name of its own: the one that the file has counts.
  const isMeant = (path: string): boolean =>
    source === undefined ? basename(path) === `${word}.md` : resolve(root, path) === source;
  const own = diagnostics.filter((one) => isError(one) && isMeant(one.file));
  if (own.length > 0) throw brokenAgent(word, own);
  if (found !== undefined) {
    const needed = filesOf(found, agents);
    const problems = diagnostics.filter((one) => isError(one) && needed.has(basename(one.file)));
    if (problems.length > 0) throw brokenAgent(word, problems);
    return found;
  }
  if (file === undefined) throw unknownAgent(files, word);
  const loaded = await loadAgent({ path: file, root, variables });
  if (loaded.ok) return loaded.value;
  throw brokenAgent(word, loaded.error);
}

/** The files of all whom an agent may call, as far down as is known: of one that is broken, the name it must have. */
function filesOf(first: LoadedAgent, agents: readonly LoadedAgent[]): ReadonlySet<string> {
  const byName = new Map(agents.map((agent) => [agent.definition.name, agent]));
  const files = new Set<string>();
  const left = [first];
  const seen = new Set([first.definition.name]);
  for (let agent = left.pop(); agent !== undefined; agent = left.pop()) {
    for (const { target } of referencesOf(agent.definition)) {
      if (seen.has(target)) continue;
      seen.add(target);
      const next = byName.get(target);
      files.add(next === undefined ? `${target}.md` : basename(next.definition.source));
      if (next !== undefined) left.push(next);
    }
  }
  return files;
}

function unknownAgent({ agents, diagnostics }: AgentFiles, word: string): TroupeError {
  const names = agents.map((agent) => agent.definition.name);
  const guess = nearest(word, names);
  const broken = diagnostics.some(isError) ? '; some files have problems: troupe check' : '';
  const known = `known agents: ${names.join(', ') || 'none; troupe init writes one'}${broken}`;
  return new TroupeError('unknown_agent', `There is no agent "${word}"`, {
    fix: guess === undefined ? known : `did you mean ${guess}?`,
  });
}

function brokenAgent(word: string, problems: readonly Diagnostic[]): TroupeError {
  return new TroupeError('invalid_agent', [`"${word}" cannot run`, ...problems.map(formatDiagnostic)].join('\n'), {
    fix: 'correct the file; troupe check shows the problems of all files',
  });
}
