/**
 * Plays a run again over what is recorded of it: the same loop and the same patterns, in the real engine, with every answer of
 * models, tools, executors, peers and people from the record. Nobody is asked, nothing is run and nothing is written. What it
 * comes to is held against the record: docs/replay.md says what is compared.
 */
import { eventLoopTurn } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { createEmbeddedDriver } from '../engine/local/embedded-driver.ts';
import type { EngineOptions } from '../engine/options.ts';
import type { RunEnd } from '../engine/port.ts';
import { keepNoPast } from '../engine/record/kept-past.ts';
import { takeUp } from '../engine/take-up.ts';
import type { Failure, RunStatus } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import type { Pattern } from '../patterns/pattern.ts';
import { type AgentsNow, beingRead } from './agents-now.ts';
import { createComparison, type ReplayDifference } from './comparison.ts';
import { noOutside } from './no-outside.ts';
import { type RunRecord, recordOf } from './record.ts';
import { type RecordedLedger, recordedLedger } from './recorded-ledger.ts';
import { createStops, type Stops } from './stops.ts';

export interface ReplayOptions {
  /** How agents may use others; those of this release unless given. */
  readonly patterns?: readonly Pattern[] | undefined;
  /** In the place of the recorded agents: how these were set up is compared then, too. */
  readonly agents?: AgentsNow | undefined;
  /** Told of each recorded event that says something else now, and what. */
  readonly changed?: ((position: number, payload: Json) => void) | undefined;
}

/** What came of playing a run again. */
export type ReplayOutcome =
  | ({ readonly kind: 'identical' } & Replayed)
  | ({ readonly kind: 'different'; readonly first: ReplayDifference } & Replayed)
  /** It cannot be played again: nothing of it is known, or not enough. */
  | { readonly kind: 'refused'; readonly error: Failure };

export interface Replayed {
  /** The root run: a run is played again with everything around it. */
  readonly run: RunId;
  readonly status: RunStatus;
  /** Runs that were played again, and recorded events that they came to or asked for. */
  readonly runs: number;
  readonly events: number;
}

/** What of a ledger a record is read from. */
export type ReadsRecord = Pick<Ledger, 'runs' | 'read' | 'payload'>;

/** The ledger is only read. */
export async function replayRun(ledger: ReadsRecord, run: RunId, options: ReplayOptions = {}): Promise<ReplayOutcome> {
  const read = await recordOf(ledger, run);
  if (!read.ok) return { kind: 'refused', error: read.error };
  const record = read.value;
  const { root } = record;
  const comparison = createComparison(record, options.changed);
  const agents = options.agents === undefined ? undefined : beingRead(options.agents);
  const shown = agents === undefined ? record : withoutSetups(record);
  const played = recordedLedger(shown, (ref) => ledger.payload(ref), comparison.appended);
  const stops = createStops(record, played.come, comparison);
  const engine = noOutside(record, played, { ...comparison, ...stops }, { patterns: options.patterns, agents });
  const isBusy = (): boolean => agents?.isBusy() === true;
  const end = await playToEnd(engine, root, { ...played, isBusy }, stops);
  if (end !== undefined && 'refused' in end) return { kind: 'refused', error: end.refused };
  const first = comparison.first();
  const unexplained = comparison.unexplained();
  const about = { run: root.run, status: root.state as RunStatus, runs: record.tree.size, events: comparison.compared() };
  // What never came about because an answer is not there is no difference of its own.
  const isWhole = unexplained === undefined || first?.kind !== 'missing';
  if (first !== undefined && isWhole) return { kind: 'different', first, ...about };
  return end?.kind === 'ended' ? { kind: 'identical', ...about } : { kind: 'refused', error: notEnded(end, unexplained) };
}

/** Agents that are set up once more. */
function withoutSetups(record: RunRecord): RunRecord {
  const isSetup = ({ event_type: type, run_id: run }: LedgerEvent): boolean => type === 'session.config' && record.tree.has(run);
  return { ...record, events: record.events.filter((event) => !isSetup(event)) };
}

/** `isBusy`: it does something beside its ledger. */
type Played = RecordedLedger & { isBusy(): boolean };

/** As often as it is left because somebody is to say something, and there is something that comes. */
async function playToEnd(
  engine: EngineOptions,
  root: RunRow,
  played: Played,
  stops: Stops,
): Promise<RunEnd | { readonly refused: Failure } | undefined> {
  // What was come to since stands where it is recorded, before what was read of it: it is read anew each time.
  keepNoPast(engine.ledger);
  const driver = createEmbeddedDriver(engine, new Set());
  for (;;) {
    const [row = root] = await played.runs({ run: root.run });
    const taken = await takeUp(engine, row, driver, 'end');
    if (taken.kind !== 'resumed') return { refused: notBegun(taken) };
    const end = await endOrStuck(taken.handle.done, played, stops);
    if ((end?.kind !== 'waiting' && end?.kind !== 'parked') || !stops.next()) return end;
  }
}

/** Nothing takes time: who does nothing for so long does nothing any more. */
async function endOrStuck(done: Promise<RunEnd>, { uses, isBusy }: Played, stops: Stops): Promise<RunEnd | undefined> {
  let end: RunEnd | undefined;
  const over = done.then((one) => {
    end = one;
  });
  for (let quiet = 0, before = -1; end === undefined; before = uses()) {
    quiet = uses() === before && !isBusy() ? quiet + 1 : 0;
    if (quiet >= limits.replayQuietTurns && !stops.next()) return undefined;
    if (quiet >= limits.replayQuietTurns) quiet = 0;
    await Promise.race([over, eventLoopTurn()]);
  }
  return end;
}

const notBegun = (taken: { readonly kind: string; readonly error?: Failure }): Failure =>
  taken.error ?? { code: 'not_replayed', message: `The run could not be played again (${taken.kind}).` };

function notEnded(end: RunEnd | undefined, unexplained: string | undefined): Failure {
  const why = unexplained ?? (end === undefined ? 'It waits for something that is not recorded.' : reasonOf(end));
  return { code: 'no_answer', message: `The record is not whole: ${why}` };
}

const reasonOf = (end: RunEnd): string => ('reason' in end ? end.reason : `It came to stand (${end.kind}).`);
