/**
 * The broadcast channels of a session: what was said, in the order it was said, and who has heard what. Heard means
 * that a recorded model request of the reader contains it. All of it is a fold of events.
 */
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { type Listener, listenerOf } from '../../events/run-origin.ts';
import { type BroadcastReference, foreign } from '../record/said-by-others.ts';

export interface Broadcast {
  readonly run: string;
  readonly step: string;
  readonly payload: Payloads['team.broadcast'];
}

export interface Broadcasts {
  apply(event: LedgerEvent): void;
  publish(broadcast: Broadcast): void;
  find(reference: BroadcastReference): Broadcast | undefined;
  /** What the reader has not heard yet and did not say itself. */
  unheard(reader: Listener): Broadcast[];
  heard(reader: Listener, references: readonly BroadcastReference[]): void;
}

export function createBroadcasts(): Broadcasts {
  const said: Broadcast[] = [];
  const byKey = new Map<string, Broadcast>();
  const heardBy = new Map<string, Set<string>>();
  const listeners = new Map<string, Listener>();
  /** Broadcasts that one reader was, or will be, told of by a notice in their place. */
  const noticed = new Set<string>();

  /** For each reader, how far nothing is left to be heard: looking again costs what is new. */
  const settledUpTo = new Map<string, number>();

  const key = ({ run, step }: BroadcastReference): string => `${run} ${step}`;
  const heardOf = (reader: Listener): Set<string> => {
    const name = `${reader.channel} ${reader.name}`;
    const known = heardBy.get(name) ?? new Set();
    heardBy.set(name, known);
    return known;
  };
  const publish = (broadcast: Broadcast): void => {
    if (byKey.has(key(broadcast))) return;
    said.push(broadcast);
    byKey.set(key(broadcast), broadcast);
    const { replaces, team } = broadcast.payload;
    if (replaces !== undefined) noticed.add(`${team} ${replaces.reader} ${key(replaces)}`);
  };
  const heard = (reader: Listener, references: readonly BroadcastReference[]): void => {
    for (const reference of references) heardOf(reader).add(key(reference));
  };
  /** Not for this reader, or heard: that stays so. */
  const isSettled = (broadcast: Broadcast, reader: Listener): boolean => {
    const { team, memberId, type, replaces } = broadcast.payload;
    return (
      team !== reader.channel ||
      (memberId === reader.name && type === 'update') ||
      (replaces !== undefined && replaces.reader !== reader.name) ||
      noticed.has(`${reader.channel} ${reader.name} ${key(broadcast)}`) ||
      heardOf(reader).has(key(broadcast))
    );
  };
  return {
    publish,
    heard,
    find: (reference) => byKey.get(key(reference)),
    unheard(reader) {
      const name = `${reader.channel} ${reader.name}`;
      let start = settledUpTo.get(name) ?? 0;
      while (start < said.length && isSettled(said[start] as Broadcast, reader)) start += 1;
      settledUpTo.set(name, start);
      return said.slice(start).filter((broadcast) => !isSettled(broadcast, reader));
    },
    apply(event) {
      const listener = event.event_type === 'run.started' ? listenerOf(event.payload) : undefined;
      if (listener !== undefined) listeners.set(event.run_id, listener);
      else if (event.event_type === 'team.broadcast')
        publish({ run: event.run_id, step: event.step ?? '', payload: event.payload });
      else if (event.event_type === 'model.request') {
        const reader = listeners.get(event.run_id);
        if (reader !== undefined) heard(reader, foreign(event.payload));
      }
    },
  };
}
