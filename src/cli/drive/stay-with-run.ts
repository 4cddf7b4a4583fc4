/**
 * Stays with a run until it ends, waits for somebody who is not here, or is interrupted: shows it, puts its questions to the
 * person at the terminal, and turns Ctrl-C into an orderly stop.
 */
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { OpenWait, RunEnd, RunHandle } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Project } from '../../project/project.ts';
import type { RunTree } from '../../projections/run-tree.ts';
import type { CommandContext } from '../terminal/command.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import type { RunView } from '../view/run-view.ts';
import { askPerson } from './ask-person.ts';
import type { Follower } from './follow.ts';

export interface Drive {
  readonly context: CommandContext;
  readonly project: Project;
  readonly follower: Follower;
  readonly view: RunView;
  /** Every permission is given without asking. */
  readonly approveAll: boolean;
}

export async function stayWithRun(drive: Drive, started: RunHandle): Promise<RunEnd> {
  const { project, view, follower } = drive;
  const unwatch = view.streams ? project.engine.watch((part) => view.part(part)) : () => undefined;
  const stopListening = stopOnSignal(drive);
  const show = (event: LedgerEvent, tree: RunTree): void => view.event(event, tree);
  try {
    let handle = started;
    for (let round = 0; round < limits.questionsPerRun; round += 1) {
      await follower.follow(handle.done, show);
      const end = await handle.done;
      view.rest(follower.tree);
      if (end.kind !== 'waiting' || !(await answerAll(drive, end.waits))) return end;
      const resumed = await project.engine.resume(handle.run);
      // On a cluster the answer alone lets it go on, and it may have ended already.
      if (resumed.kind === 'ended') await follower.follow(Promise.resolve(), show);
      if (resumed.kind === 'ended') return { kind: 'ended', result: resumed.result };
      if (resumed.kind !== 'resumed') return { kind: 'lost' };
      handle = resumed.handle;
    }
    throw new TroupeError('limit', `The run asked more than ${limits.questionsPerRun} times (limit questionsPerRun)`);
  } finally {
    stopListening();
    unwatch();
    view.rest(follower.tree);
  }
}

/** Says whether anything was answered, so that it is worth going on. */
async function answerAll(drive: Drive, waits: readonly OpenWait[]): Promise<boolean> {
  let answered = false;
  for (const wait of waits) {
    const approve = drive.approveAll && wait.kind === 'permission';
    if (!approve && !drive.context.terminal.interactive) continue;
    const answer = approve ? ({ kind: 'approved', whole: true } as const) : await askPerson(drive.context.terminal, wait);
    if (answer === undefined) continue;
    await drive.project.engine.answer(wait.run, wait.wait, answer);
    answered = true;
  }
  return answered;
}

/** The first signal lets what is under way be recorded and gives the run back; the second leaves at once. */
function stopOnSignal({ context, project, view, follower }: Drive): () => void {
  const { terminal } = context;
  let stopping = false;
  return terminal.onStop(() => {
    if (stopping) return terminal.exitNow(exitCodes.interrupted);
    stopping = true;
    view.rest(follower.tree);
    terminal.progress.line(
      project.config.cluster === undefined
        ? 'stopping; what is done is kept. Once more to leave at once.'
        : 'leaving; the run goes on in the cluster. Once more to leave at once.',
    );
    void project.engine.close();
  });
}
