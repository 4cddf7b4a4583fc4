/**
 * Stays with a run until it ends, waits for somebody who is not here, or is interrupted: shows it, puts its questions to the
 * person at the terminal, and turns Ctrl-C into an orderly stop.
 */
import { present } from '../../base/present.ts';
import type { OpenWait, RunEnd, RunHandle } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { driveToRest, type GivenAnswer } from '../../library/drive-to-rest.ts';
import type { Follower } from '../../library/follow.ts';
import { personHere } from '../../library/person-here.ts';
import type { Project } from '../../project/project.ts';
import type { RunTree } from '../../projections/run-tree.ts';
import type { CommandContext } from '../terminal/command.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import type { RunView } from '../view/run-view.ts';
import { askPerson } from './ask-person.ts';

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
  const unwatch = view.streams ? project.engine.watch((piece) => view.piece(piece)) : () => undefined;
  const stopListening = stopOnSignal(drive);
  const show = (event: LedgerEvent, tree: RunTree): void => view.event(event, tree);
  const rest = (): void => view.rest(follower.tree);
  try {
    return await driveToRest(
      {
        engine: project.engine,
        follow: (done) => follower.follow(done, show).finally(rest),
        answer: (wait) => answerTo(drive, wait),
      },
      started,
    );
  } finally {
    stopListening();
    unwatch();
    rest();
  }
}

async function answerTo({ approveAll, context }: Drive, wait: OpenWait): Promise<GivenAnswer | undefined> {
  const by = personHere();
  if (approveAll && wait.kind === 'permission')
    return { answer: { kind: 'approved', whole: true }, answering: { by, where: 'flag' } };
  const answer = context.terminal.interactive ? await askPerson(context.terminal, wait) : undefined;
  const shown = wait.kind === 'permission' ? wait.shown : undefined;
  return answer === undefined ? undefined : { answer, answering: { by, where: 'terminal', ...present({ shown }) } };
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
