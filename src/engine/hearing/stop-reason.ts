/**
 * Why a run was stopped. Whoever is cut off below knows only that it was, and says so in these words; here they are completed by
 * what is known: who cancelled it and why, or which limit of time it was.
 */
import { durationText } from '../../agents/definition/duration.ts';
import { TroupeError } from '../../base/errors.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { counted, sentence } from '../../base/wording.ts';
import type { Failure } from '../../events/catalogue.ts';
import { CANCELLED } from '../../loop/port.ts';
import type { RunResult } from '../../patterns/steps.ts';
import type { DrivenRun } from '../record/driven-run.ts';

/** The reason of an abort that a limit of time caused. */
export class WallTimeOver extends Error {
  /** The run whose time it was. */
  readonly run: RunId;
  /** Its own budget, or how long whoever asked for it would wait. */
  readonly limit: 'budget' | 'patience';
  readonly wallMs: number;

  constructor(run: RunId, limit: WallTimeOver['limit'], wallMs: number, message: string) {
    super(message);
    this.run = run;
    this.limit = limit;
    this.wallMs = wallMs;
  }
}

/** The reason of an abort because a task has used up what its commands may use. */
export class TaskLimitOver extends Error {
  readonly category: 'cli_calls' | 'memory';

  constructor(agent: string, category: TaskLimitOver['category'], most: number) {
    const what = {
      cli_calls: `wanted to run more than ${counted(most, 'command')} (max_cli_calls)`,
      memory: `used more than ${most} MiB of memory for its commands (maxMemory)`,
    };
    super(`${agent} ${what[category]} and was stopped.`);
    this.category = category;
  }
}

/** Whether a limit of the run itself has ended it: no answer is of use to it any more. */
export const isOverLimit = (reason: unknown): boolean => reason instanceof WallTimeOver || reason instanceof TaskLimitOver;

/** That it was cancelled and nothing else: a reason is added once, however often this is asked. */
const BARE = /^The \w+ was cancelled\.$/;

export function withReason(node: Pick<DrivenRun, 'abort' | 'lastKnown' | 'leftThere'>, result: RunResult): RunResult {
  const told = reasoned(node, result);
  return told.error === undefined || node.leftThere !== true ? told : { ...told, error: { ...told.error, left: true } };
}

function reasoned({ abort, lastKnown }: Pick<DrivenRun, 'abort' | 'lastKnown'>, result: RunResult): RunResult {
  const reason: unknown = abort.signal.reason;
  if (reason instanceof WallTimeOver) {
    const up = timeUp(reason, lastKnown ?? result.error?.last);
    return saying({ ...result, ...up }, CANCELLED, up.error.message);
  }
  if (reason instanceof TaskLimitOver) {
    const error = { code: 'executor_limit', category: reason.category, message: reason.message, fix: 'Give it a smaller task.' };
    return saying({ ...result, status: 'failed', error }, CANCELLED, reason.message);
  }
  const { error } = result;
  if (result.status !== 'cancelled' || error === undefined || !BARE.test(error.message)) return result;
  if (!(reason instanceof TroupeError) || reason.code !== 'cancelled') return result;
  const message = sentence(`${error.message.slice(0, -1)}: ${reason.message}`);
  return saying({ ...result, error: { ...error, message } }, error.message, message);
}

/** It was not cancelled: its budget ran out, or it took longer than anybody waits for it. */
export function timeUp(
  { run, limit, wallMs, message: late }: WallTimeOver,
  last?: string,
): Pick<RunResult, 'status' | 'exhausted'> & { readonly error: Failure } {
  const message = last === undefined ? late : sentence(`${late.replace(/\.$/, '')}: ${last}`);
  const known = present({ last });
  if (limit === 'patience') return { status: 'failed', error: { code: 'timed_out', message, ...known } };
  const fix = `To go on with more time: troupe resume ${shortId(run)} --budget-wall ${durationText(Math.max(2 * wallMs, 1_000))}`;
  return { status: 'budget_exhausted', error: { code: 'budget_exhausted', message, fix, ...known }, exhausted: run };
}

/** A report of the runtime's own repeats the reason. */
export function saying(result: RunResult, before: string, now: string): RunResult {
  const { report } = result;
  return report.synthetic === true ? { ...result, report: { ...report, body: report.body.replace(before, () => now) } } : result;
}
