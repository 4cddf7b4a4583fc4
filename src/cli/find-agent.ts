/** Finds the agent that a person means: a name, or a file, also one outside the folders where agents are looked for. */
import { access } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { ProjectCheck } from '../agents/check-project.ts';
import { type Diagnostic, formatDiagnostic, isError } from '../agents/diagnostics.ts';
import { nearest } from '../agents/did-you-mean.ts';
import { type LoadedAgent, loadAgent } from '../agents/load.ts';
import { TroupeError } from '../base/errors.ts';
import { type CommandContext, usageError } from './command.ts';

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
export async function findAgent(context: CommandContext, files: AgentFiles, word: string, file?: string): Promise<LoadedAgent> {
  const { agents, diagnostics, root, variables } = files;
  const pathOf = (agent: LoadedAgent): string => resolve(root, agent.definition.source);
  const found = agents.find((agent) => (file === undefined ? agent.definition.name === word : pathOf(agent) === file));
  const source = found === undefined ? file : pathOf(found);
  const problems = diagnostics.filter((one) => isError(one) && source !== undefined && resolve(root, one.file) === source);
  if (problems.length > 0) throw brokenAgent(context, word, problems);
  if (found !== undefined) return found;
  if (file === undefined) throw unknownAgent(files, word);
  const loaded = await loadAgent({ path: file, root, variables });
  if (loaded.ok) return loaded.value;
  throw brokenAgent(context, word, loaded.error);
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

function brokenAgent(context: CommandContext, word: string, problems: readonly Diagnostic[]): TroupeError {
  for (const problem of problems) context.terminal.progress.line(formatDiagnostic(problem));
  return new TroupeError('invalid_agent', `"${word}" cannot run: ${problems.length} problems`, {
    fix: 'troupe check shows all of them',
  });
}
