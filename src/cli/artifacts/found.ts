/** What a person means by a reference: in the run or session that they name, else in the newest session that has it. */
import type { Resolved } from '../../artifacts/archive.ts';
import type { FoundArtifact } from '../../artifacts/port.ts';
import { TroupeError } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import type { Project } from '../../project/project.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, usageError } from '../terminal/command.ts';

export interface WithinOption {
  readonly in?: string | undefined;
}

export async function resolveIn(
  context: CommandContext,
  { ledger, artifacts }: Pick<Project, 'ledger' | 'artifacts'>,
  ref: string,
  within: WithinOption,
): Promise<Resolved> {
  const session = within.in === undefined ? undefined : (await findRun(ledger, within.in)).session;
  const found = await artifacts.resolve(ref, session);
  if (!found.ok) throw new TroupeError(found.error.code, found.error.message, { fix: found.error.fix });
  if (session === undefined && found.value.kind === 'artifact')
    context.terminal.progress.prose(`of session ${shortId(found.value.artifact.session)}; of another: --in <run or session>`);
  return found.value;
}

export async function artifactIn(
  context: CommandContext,
  project: Pick<Project, 'ledger' | 'artifacts'>,
  ref: string,
  within: WithinOption,
): Promise<FoundArtifact> {
  const found = await resolveIn(context, project, ref, within);
  if (found.kind === 'artifact') return found.artifact;
  throw usageError(`${ref} is no artifact`, `see it with: troupe artifacts show ${ref}`);
}
