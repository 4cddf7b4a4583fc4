/** After a run of a group's session has ended: whoever drove it goes on with the prompts that wait, in order. */
import type { RunId, SessionId } from '../../base/ids.ts';
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { RunEnd, RunHandle } from '../../engine/port.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import { createFollower } from '../../library/follow.ts';
import type { HeardPieces } from '../../library/hear.ts';
import type { Project } from '../../project/project.ts';
import { groupOfSession } from '../../projections/groups.ts';
import { chooseView, finishRun, hearFor, type OutputOptions } from '../drive/finish-run.ts';
import { stayWithRun } from '../drive/stay-with-run.ts';
import { type CommandContext, callOf } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

export interface DriveOptions extends OutputOptions {
  readonly yes?: boolean | undefined;
}

/** A run, with what was heard since before it began. */
export interface Begun {
  readonly handle: RunHandle;
  readonly heard: HeardPieces;
}

/** Drives one run and says how it ended; `printed` says whether its result is what the command is about. */
export async function driveHandle(
  context: CommandContext,
  project: Project,
  { handle, heard }: Begun,
  options: DriveOptions,
  printed: boolean,
): Promise<{ readonly code: ExitCode; readonly end: RunEnd }> {
  const follower = createFollower(project.ledger, handle.session);
  await follower.beginAt(handle.run);
  const view = chooseView(context, handle.run, options);
  const end = await stayWithRun({ context, project, follower, heard, view, approveAll: options.yes === true }, handle);
  if (printed)
    return {
      code: await finishRun(context, project, { session: handle.session, run: handle.run, tree: follower.tree, end }, options),
      end,
    };
  const node = follower.tree.runs.get(handle.run);
  if (!options.quiet)
    context.terminal.progress.prose(
      `queued prompt ${node?.state.replaceAll('_', ' ') ?? end.kind}; see it: ${callOf(context)} show ${shortId(handle.run)}`,
    );
  return { code: exitCodes.completed, end };
}

/** Goes on until nothing waits, a prompt cannot end now, or somebody else is at work. `own` is printed as the result. */
export async function drainQueue(
  context: CommandContext,
  project: Project,
  session: SessionId,
  options: DriveOptions,
  own?: RunId,
): Promise<ExitCode | undefined> {
  let code: ExitCode | undefined;
  for (let round = 0; round <= limits.queuedPrompts; round += 1) {
    const { takeNextPrompt } = await import('../../groups/send.ts');
    const heard = hearFor(context, project, options);
    const next = await takeNextPrompt(project.groups, session);
    if (!next.ok || next.value === undefined) heard.close();
    if (!next.ok) {
      context.terminal.progress.prose(`a queued prompt could not be started: ${next.error.message}`);
      return code;
    }
    if (next.value === undefined) {
      if (!options.quiet) await sayPaused(context, project, session);
      return code;
    }
    if (!options.quiet) context.terminal.progress.line('going on with the next prompt that waits');
    const driven = await driveHandle(context, project, { handle: next.value, heard }, options, next.value.run === own);
    if (next.value.run === own) code = driven.code;
    if (driven.end.kind !== 'ended') return code;
  }
  return code;
}

/** A pause that came too late for the run under way holds what waits behind it. */
async function sayPaused(context: CommandContext, { groups, ledger }: Project, session: SessionId): Promise<void> {
  const { pauseOf, queueOf } = await import('../../groups/send.ts');
  const queued = (await queueOf(groups, session)).length;
  if (queued === 0 || (await pauseOf(groups, session)) === undefined) return;
  const name = groupOfSession(await readOrganisation(ledger), session)?.name ?? session;
  const [prompts, them] = [counted(queued, 'prompt'), queued === 1 ? 'it' : 'them'];
  context.terminal.progress.prose(
    `the group is paused, ${prompts} in its queue; go on with ${them}: ${callOf(context)} groups resume "${safeLine(name)}"`,
  );
}
