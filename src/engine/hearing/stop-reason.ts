/**
 * Why a run was stopped. Whoever is cut off below knows only that it was, and says so in these words; here they are completed by
 * what is known: who cancelled it and why, or which limit of time it was.
 */
import { TroupeError } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { sentence } from '../../base/wording.ts';
import { CANCELLED } from '../../loop/port.ts';
import type { RunResult } from '../../patterns/steps.ts';
import type { DrivenRun } from '../record/driven-run.ts';

/** The reason of an abort that the wall-time budget caused. */
export class WallTimeOver extends Error {
  /** The run whose time it was. */
  readonly run: RunId;

  constructor(run: RunId, message: string) {
    super(message);
    this.run = run;
  }
}

/** That it was cancelled and nothing else: a reason is added once, however often this is asked. */
const BARE = /^The \w+ was cancelled\.$/;

export function withReason({ abort }: Pick<DrivenRun, 'abort'>, result: RunResult): RunResult {
  const reason: unknown = abort.signal.reason;
  // It did not fail and was not cancelled: it ran out.
  if (reason instanceof WallTimeOver) {
    const error = { code: 'budget_exhausted', message: reason.message };
    return saying({ ...result, status: 'budget_exhausted', error, exhausted: reason.run }, CANCELLED, reason.message);
  }
  const { error } = result;
  if (result.status !== 'cancelled' || error === undefined || !BARE.test(error.message)) return result;
  if (!(reason instanceof TroupeError) || reason.code !== 'cancelled') return result;
  const message = sentence(`${error.message.slice(0, -1)}: ${reason.message}`);
  return saying({ ...result, error: { ...error, message } }, error.message, message);
}

/** A report of the runtime's own repeats the reason. */
function saying(result: RunResult, before: string, now: string): RunResult {
  const { report } = result;
  return report.synthetic === true ? { ...result, report: { ...report, body: report.body.replace(before, () => now) } } : result;
}
