/**
 * What each run did when, as stretches of time: asking a model, running a tool, waiting for a person, waiting for a quota or an
 * outage. Made from the events, with the same names as the terminal has; a run without any of them is idle or waits for its
 * children.
 */
import type { LedgerEvent } from '../../src/events/envelope.ts';
import type { RunTree } from '../../src/projections/run-tree.ts';

export type LaneKind = 'model' | 'tool' | 'human' | 'quota';

export interface Stretch {
  readonly kind: LaneKind;
  readonly from: number;
  /** `undefined`: it goes on. */
  readonly to: number | undefined;
  readonly position: number;
}

export type LanesOfRuns = ReadonlyMap<string, readonly Stretch[]>;

/** Ends what was begun under this name and returns it. */
type Open = Map<string, Stretch>;

export function lanesOf(events: readonly LedgerEvent[], count: number): LanesOfRuns {
  const lanes = new Map<string, Stretch[]>();
  const open = new Map<string, Open>();
  const begin = (event: LedgerEvent, kind: LaneKind, name: string): void => {
    const of = open.get(event.run_id) ?? new Map<string, Stretch>();
    open.set(event.run_id, of.set(name, { kind, from: Date.parse(event.timestamp), to: undefined, position: event.position }));
  };
  const end = (event: LedgerEvent, name: string): void => {
    const of = open.get(event.run_id);
    const begun = of?.get(name);
    if (begun === undefined) return;
    of?.delete(name);
    const lane = lanes.get(event.run_id) ?? [];
    lane.push({ ...begun, to: Date.parse(event.timestamp) });
    lanes.set(event.run_id, lane);
  };
  const marks: Marks = { begin, end, open: (run) => [...(open.get(run)?.keys() ?? [])] };
  for (const event of events.slice(0, count)) step(event, marks);
  for (const [run, of] of open) lanes.set(run, [...(lanes.get(run) ?? []), ...of.values()]);
  return lanes;
}

interface Marks {
  begin(event: LedgerEvent, kind: LaneKind, name: string): void;
  end(event: LedgerEvent, name: string): void;
  /** What is under way in a run. */
  open(run: string): readonly string[];
}

function step(event: LedgerEvent, { begin, end, open }: Marks): void {
  switch (event.event_type) {
    case 'model.request':
      end(event, 'quota');
      begin(event, 'model', 'model');
      break;
    case 'model.response':
      end(event, 'model');
      break;
    case 'model.failed':
      end(event, 'model');
      if (!event.payload.final) begin(event, 'quota', 'quota');
      break;
    case 'tool.call':
      begin(event, 'tool', `tool ${event.payload.id}`);
      break;
    case 'tool.result':
      end(event, `tool ${event.payload.id}`);
      break;
    case 'approval.asked':
    case 'task.clarify':
      begin(event, 'human', `wait ${event.payload.wait}`);
      break;
    case 'approval.answered':
      end(event, `wait ${event.payload.wait}`);
      break;
    case 'run.parked':
      begin(event, 'quota', 'quota');
      break;
    case 'run.ended':
      for (const name of open(event.run_id)) end(event, name);
      break;
    case 'run.resumed':
    case 'run.paused':
      // What was under way in the process that left it is not any more; a question stays one.
      for (const name of open(event.run_id)) if (!name.startsWith('wait ')) end(event, name);
      break;
    default:
  }
}

export interface PathPiece {
  readonly run: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Whom everybody above waited for, piece by piece, from the start of a root to its end: at each moment the child that ends last
 * among those at work, and the run itself where it has none.
 */
export function criticalPath(tree: RunTree, root: string, until: number): readonly PathPiece[] {
  const pieces: PathPiece[] = [];
  const walk = (run: string, from: number, to: number): void => {
    const node = tree.runs.get(run as never);
    if (node === undefined || to <= from) return;
    let end = to;
    const children = node.children
      .flatMap((child) => tree.runs.get(child) ?? [])
      .map((child) => ({ run: child.run as string, from: child.startedAt, to: Math.min(child.endedAt ?? until, to) }))
      .filter((child) => child.from < to && child.to > from)
      .sort((left, right) => right.to - left.to);
    for (const child of children) {
      if (child.from >= end) continue;
      const stop = Math.min(child.to, end);
      if (stop < end) pieces.push({ run, from: stop, to: end });
      walk(child.run, Math.max(child.from, from), stop);
      end = Math.max(child.from, from);
    }
    if (end > from) pieces.push({ run, from, to: end });
  };
  const node = tree.runs.get(root as never);
  if (node !== undefined) walk(root, node.startedAt, node.endedAt ?? until);
  return pieces.sort((left, right) => left.from - right.from);
}

/** Where nobody works for longer than this, the time is folded. */
const GAP_MS = 5_000;

export interface TimeScale {
  /** 0 to 1. */
  readonly at: (time: number) => number;
  readonly folded: readonly { readonly from: number; readonly to: number }[];
}

/** Time as it is drawn: stretches in which nothing goes on, or a person is waited for, take no more room than a short one. */
export function scaleOf(lanes: LanesOfRuns, from: number, to: number): TimeScale {
  const busy = [...lanes.values()]
    .flat()
    .filter(({ kind }) => kind === 'model' || kind === 'tool')
    .map((one) => ({ from: one.from, to: one.to ?? to }))
    .sort((left, right) => left.from - right.from);
  const folded: { from: number; to: number }[] = [];
  let end = from;
  for (const one of [...busy, { from: to, to }]) {
    if (one.from - end > GAP_MS) folded.push({ from: end, to: one.from });
    end = Math.max(end, one.to);
  }
  const lost = (time: number): number =>
    folded.reduce((sum, gap) => sum + Math.max(0, (Math.min(time, gap.to) - gap.from) * (1 - GAP_MS / (gap.to - gap.from))), 0);
  const all = Math.max(1, to - from - lost(to));
  return { folded, at: (time) => Math.min(1, Math.max(0, (time - from - lost(time)) / all)) };
}
