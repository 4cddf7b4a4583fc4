/**
 * Who is at work at a place of a fork and cannot be taken up there, because their past is not in the ledger. Where nothing of
 * them is in the fork's folder, they begin anew: a task in a worktree of its own, whose patch is not captured yet, and an agent
 * that lives elsewhere. Where the place is one of their own events, or they have changed files that are the fork's, there is no
 * place; then the nearest are named.
 */
import { hasOwnModels } from '../../agents/definition/executor.ts';
import type { RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { parentRun, taskTermsOf } from '../../events/run-origin.ts';
import { recordedDefinition } from '../record/agent-setup.ts';

/** Positions that are undone because somebody begins anew, by the run that goes on without them. */
export type Anew = ReadonlyMap<RunId, readonly number[]>;

/** A run that is at work from one event to another. */
interface AtWork {
  readonly run: RunId;
  readonly agent: string;
  /** Whose events its start is among: those of the run above it, where it is started anew. */
  readonly of: RunId;
  /** The first event that is not there where it begins anew. */
  readonly from: number;
  /** From one event to another, more than once where it went on after its end. */
  readonly stretches: readonly (readonly [from: number, until: number])[];
  /** It and all runs below it. */
  readonly tree: ReadonlySet<RunId>;
  readonly beginsAnew: boolean;
  readonly says: string;
}

export interface ForkSpot {
  readonly root: RunId;
  /** The run that was named. */
  readonly run: RunId;
  /** The first event of the root that can be one. */
  readonly begin: number;
  readonly position: number;
}

/** What is undone at the place because it begins anew; or why there is none. */
export function anewAt(events: readonly LedgerEvent[], spot: ForkSpot): Result<Anew, Failure> {
  const tree = treeIn(events, spot.root, events.length);
  const own = events.filter(({ run_id }) => tree.has(run_id));
  const apart = own.find((event) => event.event_type === 'run.started' && hasFolders(event));
  if (apart !== undefined)
    return fail(
      noPlace('Members of the group work in folders of their own, which cannot be had as they were', 'fork no run of this group'),
    );
  const all = atWorkIn(own);
  const there = coveredBy(all, spot.position);
  const closed = there.find((one) => isClosed(one, spot, events[spot.position - 1]));
  if (closed !== undefined) return fail(inTheMiddle(own, all, closed, spot));
  const anew = new Map<RunId, readonly number[]>();
  for (const { of, from, tree: below } of there) {
    const undone = own.filter(({ run_id, position }) => below.has(run_id) && position >= from && position <= spot.position);
    anew.set(of, [...(anew.get(of) ?? []), ...undone.map(({ position }) => position)]);
  }
  return ok(anew);
}

export const noPlace = (message: string, fix?: string): Failure => ({
  code: 'fork_place',
  message: `${message}.`,
  ...present({ fix }),
});

/** A run and those below it that had begun at a position. */
export function treeIn(events: readonly LedgerEvent[], run: RunId, position: number): ReadonlySet<RunId> {
  const tree = new Set<RunId>([run]);
  for (const event of events) {
    if (event.position > position) break;
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (parent !== undefined && tree.has(parent as RunId)) tree.add(event.run_id);
  }
  return tree;
}

const hasFolders = ({ payload: { origin } }: EventOf<'run.started'>): boolean =>
  origin.kind === 'group' && origin.workspaces !== undefined;

function atWorkIn(own: readonly LedgerEvent[]): readonly AtWork[] {
  const byRun = Map.groupBy(own, ({ run_id }) => run_id);
  return [...byRun].flatMap(([run, events]): AtWork[] => {
    const started = events.find((event) => event.event_type === 'run.started');
    if (started?.event_type !== 'run.started') return [];
    const about = { run, agent: started.payload.agent, tree: treeIn(own, run, Number.POSITIVE_INFINITY) };
    const parent = parentRun(started.payload) as RunId | undefined;
    if (parent !== undefined && taskTermsOf(started.payload)?.place.kind === 'worktree') {
      const says = 'works in a worktree of its own, which cannot be had as it was';
      const from = started.position;
      return [{ ...about, of: parent, from, stretches: stretchesOf(events, from), beginsAnew: true, says }];
    }
    const setup = events.find((event) => event.event_type === 'session.config');
    const definition = setup?.event_type === 'session.config' ? recordedDefinition(setup.payload) : undefined;
    const from = events.find((event) => event.event_type === 'model.request')?.position;
    if (definition === undefined || from === undefined || !hasOwnModels(definition)) return [];
    const says = 'keeps its conversation elsewhere, where it cannot be taken back';
    return [{ ...about, of: run, from, stretches: stretchesOf(events, from), beginsAnew: definition.remote !== undefined, says }];
  });
}

function stretchesOf(events: readonly LedgerEvent[], first: number): AtWork['stretches'] {
  const found: [number, number][] = [];
  let from: number | undefined = first;
  for (const { event_type: type, position } of events) {
    if (position > first) from ??= position;
    if (type !== 'run.ended' || from === undefined) continue;
    found.push([from, position]);
    from = undefined;
  }
  return from === undefined ? found : [...found, [from, Number.POSITIVE_INFINITY]];
}

/** Without those below somebody who begins anew: they go with it. */
function coveredBy(all: readonly AtWork[], position: number): readonly AtWork[] {
  const there = all.filter(({ stretches }) => stretches.some(([from, until]) => from <= position && position < until));
  return there.filter((one) => !there.some((other) => other !== one && other.beginsAnew && other.tree.has(one.run)));
}

/** What would be left of a place that is its own is nothing. */
const isClosed = (one: AtWork, { run }: Pick<ForkSpot, 'run'>, at: LedgerEvent | undefined): boolean =>
  !one.beginsAnew || one.tree.has(run) || (at !== undefined && one.tree.has(at.run_id));

function inTheMiddle(own: readonly LedgerEvent[], all: readonly AtWork[], closed: AtWork, spot: ForkSpot): Failure {
  const isPlace = (event: LedgerEvent): boolean =>
    event.position >= spot.begin && !coveredBy(all, event.position).some((one) => isClosed(one, spot, event));
  const before = own.findLast((event) => event.position < spot.position && isPlace(event))?.position;
  const after = own.find((event) => event.position > spot.position && isPlace(event))?.position;
  const named = [
    ...(before === undefined ? [] : [`${before}, before it`]),
    ...(after === undefined ? [] : [`${after}, behind it`]),
  ];
  const nearest =
    named.length === 0 ? 'fork another run: there is none in this one' : `the nearest places are ${named.join(', and ')}`;
  return noPlace(`${closed.agent} is at work there: it ${closed.says}`, nearest);
}
