/**
 * Writes that a tree of runs goes on that had ended, or that one goes on under other terms: all of it in one append, so that
 * after a crash it is as it was, or can be resumed as any other. Whoever drives it then finds nothing special.
 */
import { present } from '../base/present.ts';
import type { Failure } from '../events/catalogue.ts';
import type { EventOf } from '../events/envelope.ts';
import { isParkedFor } from '../events/outside-reason.ts';
import type { Ledger, NewEvent, RunRow } from '../ledger/port.ts';
import { type Decided, underLease } from './lease.ts';
import type { LedgerAccess, TimeAndIds } from './options.ts';
import type { ResumeOutcome, ResumeTerms } from './port.ts';
import { readAll } from './record/read-all.ts';
import { endedForGood, type ReopenedRun, reopening, typesForReopening } from './record/reopening.ts';
import { isCounted, putOnAccount, typesOfSpending } from './spending/earlier-spend.ts';

/** `goes on`: the run can be taken up now. */
type Reopened = { readonly kind: 'goes on' } | { readonly kind: 'stays'; readonly why: Failure } | ResumeOutcome;

export async function reopen(
  options: LedgerAccess & TimeAndIds,
  root: RunRow,
  terms: ResumeTerms,
  closed: () => Promise<Failure | undefined>,
): Promise<Reopened> {
  const { ledger } = options;
  const { session, run } = root;
  const forGood = endedForGood(root);
  if (forGood !== undefined) return { kind: 'stays', why: forGood };
  return await underLease(options, root, async (): Promise<Decided<Reopened>> => {
    const [row = root] = await ledger.runs({ run });
    const found =
      row.endedAt === null && row.state !== 'parked'
        ? await unended(options, root, terms)
        : await ofTheEnded(options, row, terms);
    if (found.kind === 'stays') return { outcome: found };
    const error = await closed();
    if (error !== undefined) return { outcome: { kind: 'refused', error } };
    const events = found.runs.map(({ run: of, cause, payload }): NewEvent => {
      return { type: 'run.reopened', run: of, actor: 'user', cause, payload, at: options.clock.now() };
    });
    // What was spent while nobody counted is on the account before anything more is.
    const counted = found.runs.some(({ payload }) => isCounted(payload.budget));
    const past = counted ? await readAll(ledger, session, { root: run, types: typesOfSpending, exact: false }) : [];
    const earlier = putOnAccount(events, past);
    const write = { events: [...events, ...earlier.events], counters: earlier.counters };
    return { outcome: { kind: 'goes on' }, write };
  });
}

type Found =
  | { readonly kind: 'goes on'; readonly runs: readonly ReopenedRun[] }
  | { readonly kind: 'stays'; readonly why: Failure };

async function unended({ ledger }: LedgerAccess, { session, run }: RunRow, terms: ResumeTerms): Promise<Found> {
  const [newest] = await ledger.read({ session, run, newest: true, limit: 1 });
  if (newest === undefined) return { kind: 'stays', why: { code: 'unknown_run', message: `There is no run ${run}.` } };
  const { budget, model, maxTurns } = terms;
  const failed = await nobodyAnswered(ledger, { session, run });
  const payload = { undone: failed === undefined ? [] : [failed.position], ...present({ budget, model, maxTurns }) };
  return { kind: 'goes on', runs: [{ run, cause: newest.event_id, payload }] };
}

/**
 * That nobody answered, where that is the last thing that a run knows of: it was cut off before it could stand still for that.
 * Whoever has it go on wants it asked again, as they would one that does stand still.
 */
export async function nobodyAnswered(
  ledger: Ledger,
  { session, run }: Pick<RunRow, 'session' | 'run'>,
): Promise<EventOf<'model.failed'> | undefined> {
  const [last] = await ledger.read({ session, run, types: typesForReopening, newest: true, limit: 1 });
  if (last?.event_type !== 'model.failed' || !last.payload.final || !isParkedFor(`model_${last.payload.error.kind}`))
    return undefined;
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 });
  if (started?.event_type !== 'run.started' || started.payload.origin.kind !== 'person') return undefined;
  // Others may have been started because of it.
  const [next] = await ledger.read({ session, after: last.position, types: ['run.started'], limit: 1 });
  return next === undefined ? last : undefined;
}

async function ofTheEnded({ ledger }: LedgerAccess, { session, run }: RunRow, terms: ResumeTerms): Promise<Found> {
  const [latest] = await ledger.runs({ session, roots: true, limit: 1 });
  if (latest !== undefined && latest.run !== run)
    return {
      kind: 'stays',
      why: {
        code: 'ended',
        message: `The run has ended, and its session went on with another (${latest.run}).`,
        fix: 'Go on in the session: troupe run, with --session.',
      },
    };
  const events = await readAll(ledger, session, { root: run, types: typesForReopening, exact: false });
  return reopening(events, run, terms);
}
