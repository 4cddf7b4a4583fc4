/**
 * The events that a replay shows, in their order. Found by run or by type, and from a position on without looking at what is
 * before it: a record is read thousands of times, and may have hundreds of thousands of events.
 */
import type { RunId } from '../base/ids.ts';
import { type EventType, inboundTypes } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { ReadQuery } from '../ledger/port.ts';

export interface ShownEvents {
  /** At its place; one that is there already stays as it is. */
  add(event: LedgerEvent): void;
  /** `tree`: the runs that `root` of the query stands for, when they are not only that run itself. */
  read(query: ReadQuery, tree: ReadonlySet<RunId> | undefined): LedgerEvent[];
  /** The position of the last event that came from outside. */
  lastInbound(): number;
}

const DEFAULT_LIMIT = 1_000;
const INBOUND: ReadonlySet<EventType> = new Set(inboundTypes);

/** `events`: oldest first. */
export function createShownEvents(events: readonly LedgerEvent[]): ShownEvents {
  const all: LedgerEvent[] = [];
  const ofRun = new Map<string, LedgerEvent[]>();
  const ofType = new Map<string, LedgerEvent[]>();
  let inbound = 0;
  const add = (event: LedgerEvent): void => {
    const { run_id: run, event_type: type, position } = event;
    if (!insert(all, event)) return;
    insert(listOf(ofRun, run), event);
    insert(listOf(ofType, type), event);
    if (INBOUND.has(type)) inbound = Math.max(inbound, position);
  };
  for (const event of events) add(event);

  const places = ({ run, root, types }: ReadQuery, tree: ReadonlySet<RunId> | undefined): readonly LedgerEvent[] => {
    const only = run ?? (tree === undefined ? root : undefined);
    if (only !== undefined) return ofRun.get(only) ?? [];
    const [type] = types ?? [];
    return type !== undefined && types?.length === 1 ? (ofType.get(type) ?? []) : all;
  };
  return {
    add,
    read(query, tree) {
      const { run, root, types, after = 0, newest = false, limit = DEFAULT_LIMIT } = query;
      const wanted = types === undefined ? undefined : new Set<EventType>(types);
      const isWanted = (event: LedgerEvent): boolean =>
        (run === undefined || event.run_id === run) &&
        (root === undefined || (tree?.has(event.run_id) ?? event.run_id === root)) &&
        (wanted === undefined || wanted.has(event.event_type));
      const list = places(query, tree);
      const begin = placeBehind(list, after);
      const found: LedgerEvent[] = [];
      for (let at = begin; at < list.length && found.length < limit; at += 1) {
        const event = list[newest ? begin + list.length - 1 - at : at];
        if (event !== undefined && isWanted(event)) found.push(event);
      }
      return found;
    },
    lastInbound: () => inbound,
  };
}

function listOf(lists: Map<string, LedgerEvent[]>, name: string): LedgerEvent[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

/** False when there is one at its position. */
function insert(list: LedgerEvent[], event: LedgerEvent): boolean {
  const at = placeBehind(list, event.position);
  if (at > 0 && list[at - 1]?.position === event.position) return false;
  list.splice(at, 0, event);
  return true;
}

/** Where the first event behind the position stands. */
function placeBehind(list: readonly LedgerEvent[], position: number): number {
  const last = list.at(-1);
  if (last === undefined || last.position <= position) return list.length;
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.position ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
