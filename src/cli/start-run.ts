/** From words on the command line to a run under way: which agent, which prompt, which limits. */
import { access } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { ProjectCheck } from '../agents/check-project.ts';
import { type Diagnostic, formatDiagnostic, isError } from '../agents/diagnostics.ts';
import { nearest } from '../agents/did-you-mean.ts';
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

/** The name the engine knows the agent by. Every problem of its file is shown when it cannot be run. */
export function agentNameOf(context: CommandContext, check: ProjectCheck, root: string, word: string, file?: string): string {
  const agents = check.agents.map((agent) => agent.definition);
  const found = agents.find((agent) => (file === undefined ? agent.name === word : resolve(root, agent.source) === file));
  const source = found === undefined ? file : resolve(root, found.source);
  const problems = check.diagnostics.filter(
    (one) => isError(one) && (source === undefined || resolve(root, one.file) === source),
  );
  if (found !== undefined && problems.length === 0) return found.name;
  if (problems.length > 0) throw brokenAgent(context, word, problems);
  if (file !== undefined) throw usageError(`${relative(context.cwd, file)} is not an agent file`, 'see docs/agents.md');
  const names = agents.map((agent) => agent.name);
  const guess = nearest(word, names);
  const fix =
    guess === undefined ? `known agents: ${names.join(', ') || 'none; troupe init writes one'}` : `did you mean ${guess}?`;
  throw new TroupeError('unknown_agent', `There is no agent "${word}"`, { fix });
}

function brokenAgent(context: CommandContext, word: string, problems: readonly Diagnostic[]): TroupeError {
  for (const problem of problems) context.terminal.progress.line(formatDiagnostic(problem));
  return new TroupeError('invalid_agent', `"${word}" cannot run: ${problems.length} problems`, {
    fix: 'troupe check shows all of them',
  });
}
