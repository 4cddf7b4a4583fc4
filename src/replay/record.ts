/**
 * What is recorded of a run that is to be played again: its session up to its end, as everybody may read it. Secrets are taken
 * out of all of it alike, so it comes to the same without them.
 */
import { codeOf, messageOf } from '../base/errors.ts';
import { type RunId, shortId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { standing } from '../engine/record/standing-events.ts';
import { type Failure, isEventType } from '../events/catalogue.ts';
import { type LedgerEvent, SCHEMA_VERSION } from '../events/envelope.ts';
import { readPages } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import { lateIn } from './late.ts';

/** The tree of a root run that has ended, and the session that it goes on from. */
export interface RunRecord {
  readonly root: RunRow;
  /** Everything of the session up to the end of the tree, oldest first. */
  readonly events: readonly LedgerEvent[];
  /** The root and all runs below it. */
  readonly tree: ReadonlySet<RunId>;
  /** Of every run of the session that had begun by then. */
  readonly rows: readonly RunRow[];
  /** What stands of the tree: nothing that a run which went on after its end has undone. */
  readonly standing: readonly LedgerEvent[];
  /** Runs of the tree whose own time was over, with the place before which it was. */
  readonly late: ReadonlyMap<RunId, number>;
}

/** The record of the tree that the run is in; or why it cannot be played again. */
export async function recordOf(ledger: Pick<Ledger, 'runs' | 'read'>, run: RunId): Promise<Result<RunRecord, Failure>> {
  const [asked] = await ledger.runs({ run, limit: 1 });
  if (asked === undefined) return fail({ code: 'unknown_run', message: `There is no run ${run}.` });
  const all = await ledger.runs({ session: asked.session, limit: limits.replayEvents });
  const root = rootIn(all, asked);
  if (root.endedAt === null) return fail(goesOn(root));
  const tree = below(all, root.run);
  const read = await eventsUpTo(ledger, root, tree);
  if (!read.ok) return read;
  const events = read.value;
  const begun = new Set(events.map(({ run_id }) => run_id));
  const own = events.filter(({ run_id }) => tree.has(run_id));
  const stands = standing(own);
  return ok({ root, events, tree, rows: all.filter((row) => begun.has(row.run)), standing: stands, late: lateIn(stands) });
}

function rootIn(all: readonly RunRow[], row: RunRow): RunRow {
  const parent = row.parent === null ? undefined : all.find(({ run }) => run === row.parent);
  return parent === undefined ? row : rootIn(all, parent);
}

function below(all: readonly RunRow[], root: RunId): ReadonlySet<RunId> {
  const tree = new Set([root]);
  // Oldest first: whoever is below another began after it.
  for (const { run, parent } of all.toReversed()) if (parent !== null && tree.has(parent)) tree.add(run);
  return tree;
}

const goesOn = ({ run, state }: RunRow): Failure => ({
  code: 'not_ended',
  message: `Run ${shortId(run)} has not ended (${state}): what is not recorded yet cannot be played again.`,
  fix: `Look how it stands with: troupe show ${shortId(run)}. It can be replayed when it has ended.`,
});

async function eventsUpTo(
  ledger: Pick<Ledger, 'read'>,
  { session }: RunRow,
  tree: ReadonlySet<RunId>,
): Promise<Result<readonly LedgerEvent[], Failure>> {
  const events: LedgerEvent[] = [];
  try {
    for await (const page of readPages(ledger, { session })) {
      events.push(...page);
      if (events.length > limits.replayEvents) return fail(tooLong(session));
    }
  } catch (error) {
    return fail(unreadable(session, error));
  }
  const gone = events.find((event) => event.forgotten !== undefined);
  if (gone !== undefined) return fail(unreadable(session, new Error(`${gone.event_id} was forgotten at ${gone.forgotten}`)));
  const newer = events.find((event) => event.schema_version > SCHEMA_VERSION || !isEventType(event.event_type));
  if (newer !== undefined) return fail(ofNewer(newer));
  const end = events.findLastIndex((event) => event.event_type === 'run.ended' && tree.has(event.run_id));
  return ok(events.slice(0, end + 1));
}

const tooLong = (session: string): Failure => ({
  code: 'too_long',
  message: `Session ${session} has more than ${limits.replayEvents} events (replayEvents): it is too long to be played again.`,
  fix: 'Replay a run of a shorter session.',
});

const unreadable = (session: string, error: unknown): Failure => ({
  code: codeOf(error) ?? 'unreadable',
  message: `What is recorded of session ${session} cannot be read whole: ${messageOf(error)}`,
  fix: 'troupe ledger verify names what is broken. What was collected is gone: such a run cannot be played again.',
});

const ofNewer = ({ event_id: id, event_type: type }: LedgerEvent): Failure => ({
  code: 'newer_version',
  message: `The event ${id} (${type}) was written by a newer version of Troupe, and what it says is not known here.`,
  fix: 'Replay it with that version, or a newer one.',
});
