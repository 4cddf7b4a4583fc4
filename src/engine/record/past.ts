/**
 * What a root run that goes on has to know of the past. That is its own tree, from where the root was condensed last; of
 * everything before, what was written down there and when an earlier root ended. So the cost of taking a run up is that of
 * what is new, however long the session is.
 */

import type { RunId, SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { type EventType, eventTypes, inboundTypes, type Payloads, type RunState } from '../../events/catalogue.ts';
import type { TreeDoings } from '../../events/doings.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { runStatus } from '../../events/run-status.ts';
import type { Ledger, ReadQuery, RunRow } from '../../ledger/port.ts';
import { type CutEvent, forgetPast, type KeptPast, keepPast, keptPast } from './kept-past.ts';
import { readAll } from './read-all.ts';

export type SessionFacts = NonNullable<Payloads['run.ended']['facts']>;
export type Cut = NonNullable<Payloads['task.summary']['cut']>;

export interface Past {
  /** Oldest first. */
  readonly events: readonly LedgerEvent[];
  /** Everything that came from outside for the runs in question, up to this position, is among the events. */
  readonly heard: number;
  readonly facts: SessionFacts;
  /** Everything that was said of what is remembered, up to this position, is in the facts. */
  readonly factsAt: number;
  /** What was taken back of it; some of it may be among the events as well. */
  readonly takenBack: readonly LedgerEvent[];
  /** Where the events of the root begin, when that is not its start; before it are only those that no turn has made. */
  readonly cut?: { readonly run: RunId; readonly position: number; readonly state: Cut } | undefined;
}

const NO_FACTS: SessionFacts = { approved: [], members: [] };
export const NO_PAST: Past = { events: [], heard: 0, facts: NO_FACTS, factsAt: 0, takenBack: [] };

/** Everything a session holds. */
export function wholePast(events: readonly LedgerEvent[]): Past {
  return { ...NO_PAST, events, heard: events.at(-1)?.position ?? 0 };
}

export const UNFINISHED: readonly RunState[] = ['running', 'waiting', 'paused', 'parked'];
const FINISHED: readonly RunState[] = runStatus.options;
/** Roots end in the order in which they began, but for those that were left and taken up again. */
const LATEST_ROOTS = 20;

/** What the turns of a run leave, and what only says that it was left or taken up: before a cut nobody asks for these. */
const OF_TURNS: ReadonlySet<EventType> = new Set<EventType>([
  ...(['model.request', 'model.response', 'model.failed', 'tool.call', 'tool.result', 'task.summary', 'context.noted'] as const),
  ...(['budget.reserved', 'budget.settled', 'cli.run', 'cli.stdout', 'cli.stderr', 'file.diff', 'test.report'] as const),
  ...(['approval.asked', 'approval.answered', 'approval.withdrawn', 'task.clarify'] as const),
  ...(['message.sent', 'message.included', 'message.read'] as const),
  ...(['run.resumed', 'run.paused', 'process.started', 'process.ended', 'agent.dismissed', 'prompt.queued'] as const),
  ...(['push.configured', 'push.removed', 'push.told', 'artifact.part', 'artifact.pinned'] as const),
]);
const BESIDE_TURNS: readonly EventType[] = eventTypes.filter((type) => !OF_TURNS.has(type));
/** More than what comes between one cut and the next, as a rule. */
const MUCH = 500;
/** Whether there was any of these matters; what they say is read when it is asked for. */
const EVIDENCE: readonly EventType[] = ['file.diff', 'cli.run'];

/** For a root run that is taken up. */
export async function pastOf(ledger: Ledger, session: SessionId, root: RunId): Promise<Past> {
  const [newest] = await ledger.read({ session, newest: true, limit: 1 });
  const heard = newest?.position ?? 0;
  // What a root that has not ended leaves for others is nowhere but in its events.
  if ((await unfinishedRoots(ledger, session)).some(({ run }) => run !== root))
    return { ...wholePast(await readAll(ledger, session)), heard };
  const [latest, takenBack, { cut, events }] = await Promise.all([
    latestFacts(ledger, session),
    takenBackIn(ledger, session, true),
    eventsOf(ledger, session, root, heard),
  ]);
  const read = { events, heard, takenBack };
  if (cut === undefined) return { ...read, ...latest };
  const { position, payload } = cut;
  const state = payload.cut as Cut;
  const facts = latest.factsAt > position ? latest : { facts: state.facts, factsAt: state.heard };
  return { ...read, ...facts, cut: { run: root, position, state } };
}

/** In the one run where it stands for all of them: so nobody has to look through the whole session for it. */
async function takenBackIn(ledger: Ledger, session: SessionId, exact: boolean): Promise<readonly LedgerEvent[]> {
  const [first] = await ledger.read({ session, limit: 1 });
  return first === undefined ? [] : await readAll(ledger, session, { run: first.run_id, types: ['approval.withdrawn'], exact });
}

type Facts = Pick<Past, 'facts' | 'factsAt'>;

/** What says which rules are remembered in a session: written down by its runs, said since, and taken back. */
export interface SaidOfRules {
  readonly written: readonly Facts[];
  /** Oldest first. */
  readonly events: readonly LedgerEvent[];
}

/** `exact`: for what runs, never for what is shown. */
export async function saidOfRules(ledger: Ledger, session: SessionId, exact: boolean): Promise<SaidOfRules> {
  const written: Facts[] = [await latestFacts(ledger, session)];
  const events: LedgerEvent[] = [...(await takenBackIn(ledger, session, exact))];
  const types: readonly EventType[] = ['approval.asked', 'approval.answered'];
  for (const { run } of await unfinishedRoots(ledger, session)) {
    const summary = await one(ledger, { session, run, types: ['task.summary'], exact });
    const state = isCut(summary) ? summary.payload.cut : undefined;
    if (state !== undefined) written.push({ facts: state.facts, factsAt: state.heard });
    events.push(...(await readAll(ledger, session, { root: run, types, exact, ...present({ after: state?.heard }) })));
  }
  return { written, events: inOrder(events) };
}

/** What a root run depends on: from its last cut on everything of its tree, from before it what no turn has made. */
async function eventsOf(
  ledger: Ledger,
  session: SessionId,
  root: RunId,
  newest: number,
): Promise<{ readonly cut: CutEvent | undefined; readonly events: readonly LedgerEvent[] }> {
  const kept = keptPast(ledger, root);
  // Much has happened since, so there may well be a later cut: then what came after that one is less to read. What was forgotten
  // may not be known from before.
  const isOld = kept === undefined || newest - kept.upTo > MUCH || (await ledger.hasForgotten(session));
  if (isOld) forgetPast(ledger, root);
  const known: KeptPast = isOld ? { cut: await newestCut(ledger, session, root), upTo: 0 } : kept;
  const after = known.events === undefined ? (known.cut?.position ?? 0) : known.upTo;
  const fresh = await readAll(ledger, session, { root, after });
  const summary = fresh.findLast((event) => event.run_id === root && event.event_type === 'task.summary');
  const later = isCut(summary) ? summary : undefined;
  // Condensed since without a cut, it goes through all of its past again.
  if (summary !== later && known.cut !== undefined) return { cut: undefined, events: await readAll(ledger, session, { root }) };
  const cut = later ?? known.cut;
  const read = fresh.filter(({ position }) => position > (later?.position ?? 0));
  const goesOn = later === undefined && known.events !== undefined;
  const earlier = goesOn || cut === undefined ? [] : [...(await before(ledger, session, root, cut)), cut];
  const events = [...(goesOn ? (known.events ?? []) : []), ...earlier, ...read];
  keepPast(ledger, root, { cut, events, upTo: events.at(-1)?.position ?? 0 }, [...earlier, ...read]);
  return { cut, events };
}

/** For a root run that is about to begin: nothing was said to it yet, and whatever it goes on with is read when it needs it. */
export async function pastBefore(ledger: Ledger, session: SessionId): Promise<Past> {
  const [newest] = await ledger.read({ session, newest: true, limit: 1 });
  if (newest === undefined) return NO_PAST;
  if ((await unfinishedRoots(ledger, session)).length > 0) return wholePast(await readAll(ledger, session));
  const [facts, takenBack] = await Promise.all([latestFacts(ledger, session), takenBackIn(ledger, session, true)]);
  return { ...NO_PAST, heard: newest.position, ...facts, takenBack };
}

/** Where whoever shows a root run begins to read: after `position`, with what was done up to there as sums. */
export interface Beginning {
  readonly started: EventOf<'run.started'>;
  readonly done: TreeDoings;
  readonly position: number;
}

/** `undefined` when it has to be read from its start. */
export async function beginningOf(ledger: Ledger, session: SessionId, root: RunId): Promise<Beginning | undefined> {
  const summary = await anyCut(ledger, session, root);
  if (summary?.payload.cut?.done === undefined) return undefined;
  const [started] = await ledger.read({ session, run: root, types: ['run.started'], limit: 1 });
  if (started?.event_type !== 'run.started') return undefined;
  return { started, done: summary.payload.cut.done, position: summary.position };
}

/** The events of these types in the trees of all roots that have not ended, each from where it was condensed last. */
export async function unfinished(ledger: Ledger, session: SessionId, types: readonly EventType[]): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for (const { run } of (await unfinishedRoots(ledger, session)).toReversed()) {
    const started: readonly EventType[] = ['run.started'];
    const from = (await anyCut(ledger, session, run))?.position;
    if (from !== undefined) events.push(...(await readAll(ledger, session, { run, types: started, exact: false })));
    const found = await readAll(ledger, session, {
      ...{ root: run, types, exact: false },
      ...present({ after: from }),
    });
    // Others have worked on it for long: the next one looks for a later cut.
    if (found.length > MUCH) forgetPast(ledger, run);
    events.push(...found);
  }
  return events;
}

const unfinishedRoots = (ledger: Ledger, session: SessionId): Promise<readonly RunRow[]> =>
  ledger.runs({ session, roots: true, states: UNFINISHED });

/** The latest root of an agent that has ended and was not taken back: where its conversation goes on. */
export async function latestStanding(ledger: Ledger, session: SessionId, agent: string): Promise<RunId | undefined> {
  let at = (await ledger.runs({ session, roots: true, agent, states: FINISHED, limit: 1 }))[0]?.run;
  while (at !== undefined && (await isWithdrawn(ledger, session, at))) {
    // Each goes on with an earlier one, so this comes to an end.
    const [started] = await ledger.read({ session, run: at, types: ['run.started'], limit: 1 });
    at = started?.event_type === 'run.started' ? (started.payload.continues as RunId | undefined) : undefined;
  }
  return at;
}

/** One that has gone on since counts again. */
async function isWithdrawn(ledger: Ledger, session: SessionId, run: RunId): Promise<boolean> {
  const last = await one(ledger, { session, run, types: ['run.withdrawn', 'run.reopened'] });
  return last?.event_type === 'run.withdrawn';
}

async function latestFacts(ledger: Ledger, session: SessionId): Promise<Facts> {
  const rows = await ledger.runs({ session, roots: true, states: FINISHED, limit: LATEST_ROOTS });
  const latest = rows.reduce<RunRow | undefined>(
    (found, row) => ((row.endedAt ?? 0) > (found?.endedAt ?? -1) ? row : found),
    undefined,
  );
  const none = { facts: NO_FACTS, factsAt: 0 };
  if (latest === undefined) return none;
  const ended = await one(ledger, { session, run: latest.run, types: ['run.ended'] });
  if (ended?.event_type !== 'run.ended') return none;
  return { facts: ended.payload.facts ?? NO_FACTS, factsAt: ended.position };
}

const isCut = (event: LedgerEvent | undefined): event is CutEvent =>
  event?.event_type === 'task.summary' && event.payload.cut !== undefined;

/** As good as the newest one for whoever looks for something that came after all of them. */
async function anyCut(ledger: Ledger, session: SessionId, run: RunId): Promise<CutEvent | undefined> {
  return keptPast(ledger, run)?.cut ?? (await newestCut(ledger, session, run));
}

async function newestCut(ledger: Ledger, session: SessionId, run: RunId): Promise<CutEvent | undefined> {
  const found = await one(ledger, { session, run, types: ['task.summary'], exact: true });
  if (!isCut(found)) return undefined;
  keepPast(ledger, run, { cut: found, upTo: found.position }, [found]);
  return found;
}

/** Of what came before a cut: what no turn has made, and what nobody had heard. Oldest first. */
async function before(ledger: Ledger, session: SessionId, root: RunId, { position, payload }: CutEvent): Promise<LedgerEvent[]> {
  const missed = unheardBefore(ledger, session, root, { after: payload.cut?.heard ?? 0, before: position });
  const [beside, unheard] = await Promise.all([besideTurns(ledger, session, root, position), missed]);
  return inOrder([...beside, ...unheard]);
}

async function besideTurns(ledger: Ledger, session: SessionId, run: RunId, position: number): Promise<LedgerEvent[]> {
  const found = await readAll(ledger, session, { run, types: BESIDE_TURNS });
  for (const type of EVIDENCE) found.push(...(await ledger.read({ session, run, types: [type], newest: true, limit: 1 })));
  return found.filter(
    (event) => event.position < position && !(event.event_type === 'run.signalled' && event.payload.signal !== 'cancel'),
  );
}

/** What came from outside while the summary was on its way: nobody had heard it when the past was cut off. */
async function unheardBefore(
  ledger: Ledger,
  session: SessionId,
  root: RunId,
  { after, before }: { readonly after: number; readonly before: number },
): Promise<LedgerEvent[]> {
  const found = await readAll(ledger, session, { root, types: inboundTypes, after });
  return found.filter((event) => event.position < before);
}

/** Each once, oldest first. */
function inOrder(events: readonly LedgerEvent[]): LedgerEvent[] {
  const once = new Map(events.map((event) => [event.position, event]));
  return [...once.values()].sort((left, right) => left.position - right.position);
}

/** The newest of its kind. */
async function one(ledger: Ledger, query: ReadQuery): Promise<LedgerEvent | undefined> {
  return (await ledger.read({ ...query, newest: true, limit: 1 }))[0];
}
