/** Processes with threads, in a real ledger file, without engines that drive them: what the message service is measured on. */

import type { Caller } from '../src/assistants/port.ts';
import { createMessageService, type MessageService } from '../src/assistants/threads/message-service.ts';
import { systemClock } from '../src/base/clock.ts';
import { createIds, type EventId, type RunId, type SessionId, threadOf } from '../src/base/ids.ts';
import { systemRandom } from '../src/base/random.ts';
import type { Payloads } from '../src/events/catalogue.ts';
import { userText } from '../src/events/messages.ts';
import type { Fence, Ledger } from '../src/ledger/port.ts';
import { openSqliteLedger } from '../src/ledger/sqlite/store.ts';

/** A parent and one of its children, who write to each other in the child's thread. */
export interface Pair {
  readonly parent: Caller;
  readonly child: Caller;
  readonly process: RunId;
  readonly thread: string;
}

export interface Families {
  readonly service: MessageService;
  readonly pairs: readonly Pair[];
  close(): Promise<void>;
}

export const PARENT = 'lead';
export const CHILD = 'helper';

/** As many sessions as it takes; each has a parent with `children` children. */
export async function openFamilies(path: string, sessions: number, children: number): Promise<Families> {
  const ids = createIds(systemClock, systemRandom);
  const ledger = openSqliteLedger({ path, clock: systemClock, ids });
  const pairs: Pair[] = [];
  for (let index = 0; index < sessions; index += 1) {
    const session = ids.session();
    const root = ids.run();
    const lease = await ledger.acquire(session, root);
    if (lease.kind !== 'acquired') throw new Error(`no lease: ${lease.kind}`);
    const first = await start(ledger, session, lease.fence, root, { agent: PARENT, origin: { kind: 'person' }, depth: 0 }, null);
    for (let child = 0; child < children; child += 1) {
      const run = ids.run();
      const origin = { kind: 'assistant', parent: root, by: PARENT } as const;
      await start(ledger, session, lease.fence, run, { agent: CHILD, origin, depth: 1 }, first);
      const callers = { parent: { kind: 'run', run: root }, child: { kind: 'run', run } } as const;
      pairs.push({ ...callers, process: run, thread: threadOf(run) });
    }
  }
  return { service: createMessageService({ ledger, clock: systemClock, ids }), pairs, close: () => ledger.close() };
}

async function start(
  ledger: Ledger,
  session: SessionId,
  fence: Fence,
  run: RunId,
  about: Omit<Payloads['run.started'], 'input'>,
  cause: EventId | null,
): Promise<EventId> {
  const payload = { input: userText('Wait for messages.'), ...about };
  const event = { type: 'run.started', run, actor: 'system', cause, at: systemClock.now(), payload } as const;
  const outcome = await ledger.append({ session, fence, events: [event] });
  if (outcome.kind !== 'appended' || outcome.events[0] === undefined) throw new Error(`not started: ${outcome.kind}`);
  return outcome.events[0].event_id;
}
