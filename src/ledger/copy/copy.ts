/**
 * Copies a ledger into another one, of whatever kind. It goes session by session and page by page, and begins where an
 * earlier copy stopped: what is there is compared by its hash, not written again. Every envelope is checked against the
 * chain on the way; the caller verifies the result with its payloads.
 */
import { TroupeError } from '../../base/errors.ts';
import { eventId, type PayloadRef, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { CHAIN_START } from '../../events/envelope.ts';
import { chainHash } from '../rules/chain.ts';
import type { ChainedEvent } from '../rules/stored-event.ts';
import type { CopiedPayload, CopiedSession, CopyStore, PayloadSize } from './store.ts';

export interface CopyReport {
  readonly sessions: number;
  /** Events that were not there yet. */
  readonly events: number;
  readonly payloads: number;
  readonly counters: number;
}

export interface CopyOptions {
  /** Copies sessions too that somebody works on at this moment, up to where they are. */
  readonly force: boolean;
  readonly onSession?: (session: SessionId, number: number) => void;
}

export async function copyLedger(from: CopyStore, to: CopyStore, options: CopyOptions): Promise<CopyReport> {
  const report = { sessions: 0, events: 0, payloads: 0, counters: 0 };
  for await (const session of sessionsOf(from)) {
    if (!options.force) for (const store of [from, to]) await refuseLive(store, session);
    const copied = await copySession(from, to, session);
    const keeping = await from.keeping(session);
    if (keeping.holds.length + keeping.forgotten.length > 0) await to.writeKeeping(session, keeping);
    report.sessions += 1;
    report.events += copied.events;
    report.payloads += copied.payloads;
    options.onSession?.(session, report.sessions);
  }
  let name = '';
  for (;;) {
    const counters = await from.countersAfter(name);
    const last = counters.at(-1);
    if (last === undefined) return report;
    await to.writeCounters(counters);
    report.counters += counters.length;
    name = last.name;
  }
}

async function* sessionsOf(store: CopyStore): AsyncGenerator<SessionId> {
  let page = await store.sessionsAfter(undefined);
  while (page.length > 0) {
    yield* page;
    page = await store.sessionsAfter(page.at(-1));
  }
}

async function refuseLive(store: CopyStore, session: SessionId): Promise<void> {
  const owner = await store.liveOwner(session);
  if (owner === undefined) return;
  throw new TroupeError('copy_busy', `Process ${owner.pid} on ${owner.host} works on ${session} in ${store.shown}`, {
    fix: 'Wait until it is done or pause it, or copy what is there so far with --force.',
  });
}

async function copySession(from: CopyStore, to: CopyStore, name: SessionId): Promise<{ events: number; payloads: number }> {
  const source = await from.session(name);
  if (source === undefined) return { events: 0, payloads: 0 };
  const target = await to.session(name);
  await refuseOther(from, to, source, target);
  const runs = await from.runs(name);
  const copied = { events: 0, payloads: 0 };
  let position = target?.head ?? 0;
  let chain = target?.chain ?? CHAIN_START;
  while (position < source.head) {
    const events = await from.events(name, position, Math.min(limits.copyPageEvents, source.head - position));
    chain = checkChain(name, position, chain, events);
    copied.payloads += await copyPayloads(from, to, events);
    position += events.length;
    await to.writeEvents(position === source.head ? source : unfinished(source, position, chain), runs, events);
    copied.events += events.length;
  }
  // The index, the seal and the pin may have changed without new events, or a copy may have stopped before them.
  if (copied.events === 0) await to.writeEvents(source, runs, []);
  return copied;
}

/** In the middle of a copy the end is not there yet: the chain holds so far, and verify says that no end is sealed. */
function unfinished(source: CopiedSession, head: number, chain: string): CopiedSession {
  return { ...source, sealed: head, seal: chain, head, chain, inbound: 0, collected: 0 };
}

/** What is in the target must be the beginning of what is in the source. */
async function refuseOther(
  from: CopyStore,
  to: CopyStore,
  source: CopiedSession,
  target: CopiedSession | undefined,
): Promise<void> {
  if (target === undefined || target.head === 0) return;
  const refuse = (why: string): TroupeError =>
    new TroupeError('copy_differs', `${source.session} in ${to.shown} is not a copy of the one in ${from.shown}: ${why}`, {
      fix: 'Copy into a ledger that has not gone on by itself.',
    });
  if (target.head > source.head) throw refuse(`it has ${target.head} events, the source ${source.head}`);
  const [same] = await from.events(source.session, target.head - 1, 1);
  if (same?.chain !== target.chain) throw refuse(`their hashes differ at or before event ${target.head}`);
}

/** Returns the hash of the last event. */
function checkChain(session: SessionId, after: number, before: string, events: readonly ChainedEvent[]): string {
  const broken = (position: number, why: string): TroupeError =>
    new TroupeError('copy_broken', `The source is broken at ${eventId(session, position)}: ${why}`, {
      fix: 'Run `troupe ledger verify` there, and restore it from a backup.',
    });
  if (events.length === 0) throw broken(after + 1, 'it is missing');
  let chain = before;
  for (const [index, event] of events.entries()) {
    const position = after + 1 + index;
    if (event.fields.position !== position) throw broken(position, 'it is missing');
    if (chainHash(chain, event.fields) !== event.chain) throw broken(position, 'its envelope was changed');
    chain = event.chain;
  }
  return chain;
}

/** Only what the target does not have, a bounded number of bytes at a time. */
async function copyPayloads(from: CopyStore, to: CopyStore, events: readonly ChainedEvent[]): Promise<number> {
  const refs = [
    ...new Set(events.flatMap(({ fields }) => [fields.payload, ...(fields.attachment === null ? [] : [fields.attachment])])),
  ];
  const there = new Map((await to.sizes(refs)).map((size) => [size.ref, size]));
  const wanted = (await from.sizes(refs)).filter((size) => isWanted(size, there.get(size.ref)));
  let batch: CopiedPayload[] = [];
  let bytes = 0;
  for (const size of wanted) {
    batch.push({ ...size, body: size.gone ? undefined : await bodyOf(from, size.ref) });
    bytes += size.bytes;
    if (bytes < limits.appendBatchBytes) continue;
    await to.writePayloads(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) await to.writePayloads(batch);
  return wanted.length;
}

const isWanted = (source: PayloadSize, target: PayloadSize | undefined): boolean =>
  target === undefined || (target.gone && !source.gone);

async function bodyOf(from: CopyStore, ref: PayloadRef): Promise<Uint8Array> {
  const body = await from.body(ref);
  if (body !== undefined) return body;
  throw new TroupeError('copy_broken', `A payload is missing in ${from.shown}: ${ref}`, {
    fix: 'Run `troupe ledger verify` there, and restore it from a backup.',
  });
}
