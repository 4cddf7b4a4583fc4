/**
 * A session that no run works in: what is kept for the whole ledger, such as groups. Its one lease serialises those who write,
 * in all processes: whoever holds it reads what is there and decides, so two who want the same cannot both get it.
 */
import { type Clock, sleep } from '../base/clock.ts';
import type { EventId, RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { EventType, Payloads } from '../events/catalogue.ts';
import type { Actor } from '../events/envelope.ts';
import type { Fence, Ledger, NewEvent } from './port.ts';

export interface KeptSession {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly session: SessionId;
  /** Stands for whoever writes. */
  readonly writer: RunId;
  readonly title: string;
  /** The project's folder. */
  readonly root: string;
  readonly actor: Actor;
}

export type KeptChange = { [Type in EventType]: { readonly type: Type; readonly payload: Payloads[Type] } }[EventType];

const RETRY_MS = 20;

/** `busy`: others have been at it for all of the time that one waits. */
export async function asOnlyWriter<Value>(
  kept: KeptSession,
  work: (fence: Fence) => Promise<Value>,
): Promise<Result<Value, 'busy'>> {
  const fence = await takeTurn(kept);
  if (fence === undefined) return fail('busy');
  try {
    return ok(await work(fence));
  } finally {
    await kept.ledger.release(fence).catch(() => undefined);
  }
}

async function takeTurn({ ledger, clock, session, writer }: KeptSession): Promise<Fence | undefined> {
  const until = clock.elapsed() + limits.organisationWaitMs;
  for (let delay = RETRY_MS; ; delay = Math.min(delay * 2, limits.leaseRenewMs / 10)) {
    const lease = await ledger.acquire(session, writer);
    if (lease.kind === 'acquired') return lease.fence;
    if (clock.elapsed() > until) return undefined;
    await sleep(clock, delay);
  }
}

/** Says whether it was written: another may have taken the turn over. */
export async function writeKept(kept: KeptSession, fence: Fence, changes: readonly KeptChange[]): Promise<boolean> {
  if (changes.length === 0) return true;
  const { ledger, clock, session, writer, title, root, actor } = kept;
  const at = clock.now();
  const [first] = await ledger.read({ session, limit: 1 });
  const payload = { title, workspace: root };
  const opening: NewEvent = { type: 'session.started', run: writer, actor: 'system', cause: null, payload, at };
  const cause: EventId | NewEvent = first?.event_id ?? opening;
  const events = changes.map((change): NewEvent => ({ ...change, run: writer, actor, cause, at }) as NewEvent);
  const all = first === undefined ? [opening, ...events] : events;
  const outcome = await ledger.append({ session, fence, events: all, sync: 'power' });
  // Collecting old sessions must never take it away.
  if (first === undefined) await ledger.pin(session, true);
  return outcome.kind === 'appended';
}
