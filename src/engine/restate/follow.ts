/**
 * Follows a run that others work on until it has ended or cannot go on, from the ledger alone. It cannot go on when somebody has
 * been asked something, nobody works on any run of its session, and every run that has not ended waits for an answer or for one
 * of its children. A question that is given up after a while does not count: the run goes on by itself then.
 */
import { sleep } from '../../base/clock.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { RunRow } from '../../ledger/port.ts';
import { deadlineStep, openWaits } from '../hearing/waits.ts';
import type { LedgerAccess, TimeAndIds } from '../options.ts';
import type { OpenWait, RunEnd } from '../port.ts';
import { UNFINISHED } from '../record/past.ts';
import { readAll } from '../record/read-all.ts';
import { resultOfEnd } from '../run/drive-run.ts';

export async function follow(
  options: TimeAndIds & LedgerAccess,
  session: SessionId,
  run: RunId,
  after: number,
  stopped: AbortSignal,
): Promise<RunEnd> {
  // Looked at before anything is under way that could fail with nobody listening.
  let asked = (await waitsOf(options, session)).length > 0;
  const over = new AbortController();
  const events = options.ledger.tail(session, after, AbortSignal.any([stopped, over.signal]))[Symbol.asyncIterator]();
  let next = events.next();
  let pauseMs: number = limits.quietCheckMs;
  try {
    for (;;) {
      const event = await (asked ? Promise.race([next, quiet(options, pauseMs, over.signal)]) : next);
      if (event === 'quiet') {
        const waits = await stuckOn(options, session);
        if (waits !== undefined) return { kind: 'waiting', waits };
        pauseMs = Math.min(pauseMs * 2, limits.quietCheckMaxMs);
        continue;
      }
      if (event.done === true) return { kind: 'interrupted', reason: 'It is no longer followed, and goes on by itself.' };
      const end = endOf(event.value, run);
      if (end !== undefined) return end;
      if (event.value.event_type === 'approval.asked' || event.value.event_type === 'task.clarify') asked = true;
      pauseMs = limits.quietCheckMs;
      next = events.next();
    }
  } finally {
    over.abort();
    next.catch(() => undefined);
  }
}

async function quiet({ clock }: TimeAndIds, milliseconds: number, signal: AbortSignal): Promise<'quiet'> {
  await sleep(clock, milliseconds, signal);
  return 'quiet';
}

function endOf(event: LedgerEvent, run: RunId): RunEnd | undefined {
  if (event.run_id !== run) return undefined;
  if (event.event_type === 'run.ended') return { kind: 'ended', result: resultOfEnd(run, event.payload) };
  if (event.event_type === 'run.parked')
    return { kind: 'parked', reason: event.payload.error.message, error: event.payload.error };
  return event.event_type === 'run.paused' ? { kind: 'paused', reason: event.payload.reason } : undefined;
}

async function waitsOf(options: LedgerAccess, session: SessionId): Promise<OpenWait[]> {
  return await openWaits(options.ledger, session);
}

async function stuckOn(options: LedgerAccess, session: SessionId): Promise<readonly OpenWait[] | undefined> {
  const rows = await options.ledger.runs({ session, states: UNFINISHED });
  const waits = await waitsOf(options, session);
  if (waits.length === 0 || rows.some(({ owner }) => owner !== null)) return undefined;
  if (!rows.every((row) => cannotGoOn(row, rows, waits))) return undefined;
  for (const wait of waits) if (!(await givesUp(options, session, wait))) return waits;
  return undefined;
}

async function givesUp({ ledger }: LedgerAccess, session: SessionId, { run, wait }: OpenWait): Promise<boolean> {
  const recorded = await readAll(ledger, session, { run, types: ['step.recorded'] });
  return recorded.some(({ step }) => step === deadlineStep(wait));
}

function cannotGoOn({ run }: RunRow, unfinished: readonly RunRow[], waits: readonly OpenWait[]): boolean {
  return waits.some((wait) => wait.run === run) || unfinished.some(({ parent }) => parent === run);
}
