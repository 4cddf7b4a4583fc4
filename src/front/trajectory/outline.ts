/**
 * Which runs a document has, and which of them are one trajectory: a run and those that go on with its conversation, where they
 * stand below the same one. It is read before anything is written and holds a few words of each run, whatever was said in it.
 */
import type { EventId, RunId, SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { EventType, Payloads } from '../../events/catalogue.ts';
import type { EventOf } from '../../events/envelope.ts';
import { broadcastTypes } from '../../events/pattern-events.ts';
import { parentRun, roleInTree } from '../../events/run-origin.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { isBroadcast } from '../../projections/patterns/broadcast-text.ts';

export interface OutlineRun {
  readonly run: RunId;
  readonly agent: string;
  readonly parent: RunId | undefined;
  readonly role: string | undefined;
  readonly continues: RunId | undefined;
  readonly position: number;
  readonly timestamp: string;
  /** What it was started because of. */
  readonly cause: EventId | null;
  end: Pick<Payloads['run.ended'], 'status' | 'verification' | 'error'> | undefined;
}

/** One trajectory: its runs in order, and the trajectories below it. */
export interface OutlineNode {
  readonly runs: readonly [OutlineRun, ...OutlineRun[]];
  readonly below: readonly OutlineNode[];
}

export interface Outline {
  readonly session: SessionId;
  readonly nodes: readonly OutlineNode[];
  readonly started: Payloads['session.started'] | undefined;
  /** Events of before a fork end here; 0 where nothing was forked. */
  readonly copiedTo: number;
  /** Positions of events that count as if they were not there. */
  readonly undone: ReadonlySet<number>;
  /** Where that stands which requests of others refer to, by run and step. */
  readonly said: ReadonlyMap<string, number>;
}

const OUTLINE_TYPES = [
  ...(['session.started', 'run.started', 'run.ended', 'run.reopened', 'message.sent'] as const),
  ...broadcastTypes,
] as const satisfies readonly EventType[];

/** Of the whole session, or of one run and those below it. */
export async function readOutline(ledger: Pick<Ledger, 'read'>, session: SessionId, only: RunId | undefined): Promise<Outline> {
  const runs = new Map<RunId, OutlineRun>();
  const undone = new Set<number>();
  const said = new Map<string, number>();
  let started: Payloads['session.started'] | undefined;
  for await (const event of readEvents(ledger, { session, types: OUTLINE_TYPES })) {
    const { event_type: type, run_id, position } = event;
    if (type === 'session.started') started = event.payload;
    if (type === 'run.started') noteStart(runs, event, only);
    const known = runs.get(run_id);
    if (type === 'run.ended' && known !== undefined) known.end = ended(event.payload);
    if (type === 'run.reopened') for (const one of event.payload.undone) undone.add(one);
    if (isBroadcast(event) || type === 'message.sent') said.set(`${run_id} ${event.step}`, position);
  }
  return { session, nodes: nodesOf(runs), started, copiedTo: copiedTo(started), undone, said };
}

const ended = ({ status, verification, error }: Payloads['run.ended']): OutlineRun['end'] => ({
  ...{ status, verification },
  ...present({ error }),
});

function noteStart(runs: Map<RunId, OutlineRun>, event: EventOf<'run.started'>, only: RunId | undefined): void {
  const { run_id: run, payload, position, timestamp, parent_event_id: cause } = event;
  const parent = parentRun(payload) as RunId | undefined;
  const isWanted = only === undefined || run === only || (parent !== undefined && runs.has(parent));
  // One that came to nothing and was started again is the same run.
  if (!isWanted || runs.has(run)) return;
  const continues = payload.continues as RunId | undefined;
  const { agent } = payload;
  const role = roleInTree(payload);
  runs.set(run, { run, agent, parent, role, continues, position, timestamp, cause, end: undefined });
}

/** `ses_….40`: the last event that was taken over stands at the same place here. */
function copiedTo(started: Payloads['session.started'] | undefined): number {
  const event = started?.forked?.event;
  return event === undefined ? 0 : Number(event.slice(event.lastIndexOf('.') + 1));
}

function nodesOf(runs: ReadonlyMap<RunId, OutlineRun>): readonly OutlineNode[] {
  const all = [...runs.values()];
  const children = Map.groupBy(all, ({ parent }) => (parent !== undefined && runs.has(parent) ? parent : undefined));
  const below = (above: readonly (RunId | undefined)[]): readonly OutlineNode[] => {
    const found = above.flatMap((run) => children.get(run) ?? []).toSorted((left, right) => left.position - right.position);
    return chains(found).map((chain) => ({ runs: chain, below: below(chain.map(({ run }) => run)) }));
  };
  return below([undefined]);
}

/** Runs that go on with each other's conversation, one after the other. Two that go on with the same part there. */
function chains(runs: readonly OutlineRun[]): readonly [OutlineRun, ...OutlineRun[]][] {
  const found: [OutlineRun, ...OutlineRun[]][] = [];
  for (const run of runs) {
    const before = run.continues === undefined ? undefined : found.find((chain) => chain.at(-1)?.run === run.continues);
    if (before === undefined) found.push([run]);
    else before.push(run);
  }
  return found;
}
