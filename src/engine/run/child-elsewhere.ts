/** A child run that somebody else works on. Until it has ended, its parent cannot go on where it needs the answer. */
import { TroupeError } from '../../base/errors.ts';
import type { RunResult } from '../../patterns/steps.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import { Interruption } from '../interruption.ts';
import type { TimeAndIds } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';
import type { Elsewhere } from '../spawning/child-run.ts';
import { END_STEP, resultOfEnd } from './drive-run.ts';

/** `reopened`: how many times it was, what is on its way to the ledger included. */
export async function drivenElsewhere(
  tree: Writes,
  child: DrivenRun,
  elsewhere: Elsewhere,
  reopened: number,
): Promise<RunResult> {
  const ended = child.journal.recorded('run.ended', END_STEP);
  if (ended !== undefined) return resultOfEnd(child.run, ended.payload);
  await tree.writer.flushed();
  await elsewhere.start(child.run, reopened);
  // It may be waiting for somebody and not know yet that it was cancelled with its parent.
  if (child.abort.signal.aborted) await elsewhere.poke(child.run);
  throw new Interruption('waiting', `waiting for ${child.started.agent}`);
}

export function cancelElsewhere(
  tree: TimeAndIds & Writes & HearsOutside,
  child: DrivenRun,
  reason: string,
  elsewhere: Elsewhere,
): void {
  child.abort.abort(new TroupeError('cancelled', reason));
  if (child.journal.recorded('run.ended', END_STEP) !== undefined) return;
  if (tree.outside.cancelled(child.run) === undefined) {
    const payload = { signal: 'cancel', reason } as const;
    const cause = child.journal.newest();
    tree.writer.enqueue([{ type: 'run.signalled', run: child.run, actor: 'system', cause, payload, at: tree.clock.now() }]);
  }
  // If this process dies before, whoever takes up the parent cancels again.
  tree.writer
    .flushed()
    .then(() => elsewhere.poke(child.run))
    .catch(() => undefined);
}
