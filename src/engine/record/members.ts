/**
 * The members of a session's groups, and the latest run of each: what it goes on with when it is asked again. A name belongs
 * to its group: a group inside a group has members of its own, also when they are called the same.
 */

import type { RunId } from '../../base/ids.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { isSubAgent, memberOfGroup, parentRun } from '../../events/run-origin.ts';
import type { SessionFacts } from './past.ts';

export interface Members {
  apply(event: LedgerEvent): void;
  began(run: RunId, started: Payloads['run.started']): void;
  ended(run: RunId): void;
  /** The latest run of a member that `parent` asks; without a parent, of a member of the session's own group. */
  latest(member: string, parent?: RunId): RunId | undefined;
  /** What later roots of the session go by. */
  state(): SessionFacts['members'];
  restore(members: SessionFacts['members']): void;
}

export function createMembers(): Members {
  const latest = new Map<string, RunId>();
  /** Whose run it is: the way from the session's own group down to it. */
  const places = new Map<string, { readonly path: string; readonly member: boolean; readonly lasts: boolean }>();
  /** Those that nobody outside of one call can ask. */
  const passing = new Set<string>();
  const below = (parent: string | undefined, name: string): string => {
    const above = parent === undefined ? '' : (places.get(parent)?.path ?? parent);
    return above === '' ? name : JSON.stringify([above, name]);
  };
  const members: Members = {
    began(run, started) {
      const member = memberOfGroup(started);
      const parent = parentRun(started);
      const called = isSubAgent(started);
      // A sub-agent is somebody new each time it is called.
      const name = member ?? (parent === undefined ? '' : called ? run : started.agent);
      const lasts = !called && (parent === undefined || places.get(parent)?.lasts !== false);
      places.set(run, { path: name === '' ? '' : below(parent, name), member: member !== undefined, lasts });
    },
    ended(run) {
      const place = places.get(run);
      if (place?.member !== true) return;
      latest.set(place.path, run);
      if (!place.lasts) passing.add(place.path);
    },
    latest: (member, parent) => latest.get(below(parent, member)),
    state: () => [...latest].flatMap(([path, run]) => (passing.has(path) ? [] : [{ path, run }])),
    restore(known) {
      for (const { path, run } of known) latest.set(path, run as RunId);
    },
    apply(event) {
      if (event.event_type === 'run.started') members.began(event.run_id as RunId, event.payload);
      if (event.event_type === 'run.ended') members.ended(event.run_id as RunId);
    },
  };
  return members;
}
