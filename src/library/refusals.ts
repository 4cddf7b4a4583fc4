/** Why a run could not start, as a program is told: with what is wrong in the files, which it may have no terminal to look at. */
import { basename } from 'node:path';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { formatDiagnostic, isError } from '../agents/text/diagnostics.ts';
import { suggest } from '../base/did-you-mean.ts';
import { TroupeError } from '../base/errors.ts';
import type { Failure } from '../events/catalogue.ts';
import type { Project } from '../project/project.ts';

const PROBLEMS_SHOWN = 8;

export function refusedWith({ code, message, fix }: Failure): TroupeError {
  return new TroupeError(code, message, { fix });
}

/** Of an agent that is not there: the problems of its file, or who was meant. */
export async function explained(
  project: Pick<Project, 'agents'>,
  brought: readonly AgentDefinition[],
  agent: string,
  error: Failure,
): Promise<TroupeError> {
  if (error.code !== 'no_agent' && error.code !== 'missing_agent') return refusedWith(error);
  const { agents, diagnostics } = await project.agents();
  const errors = diagnostics.filter(isError);
  // A broken file has no name of its own: the one that the file has counts. Whom an agent names may be any of the broken ones.
  const own = error.code === 'no_agent' ? errors.filter(({ file }) => basename(file) === `${agent}.md`) : errors;
  if (own.length > 0) {
    const lines = own.slice(0, PROBLEMS_SHOWN).map(formatDiagnostic);
    return new TroupeError(error.code, [error.message, ...lines].join('\n'), { fix: 'Correct the file.' });
  }
  const names = [...brought.map(({ name }) => name), ...agents.map(({ definition }) => definition.name)];
  const fix = error.code === 'no_agent' ? suggest(agent, [...new Set(names)], 'agents') : undefined;
  return refusedWith(fix === undefined ? error : { ...error, fix });
}
