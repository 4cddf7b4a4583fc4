/**
 * Reads a bundle from its first byte to its last and believes nothing: each checksum, each payload by its name, each event
 * against its schema, both hash chains, the manifest, the signature. What it hands on as it goes must be kept aside until it
 * returns: only then is the bundle known to be whole.
 */
import { createHash, type KeyObject } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import { eventId, type PayloadRef, type RunId, type SessionId } from '../base/ids.ts';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { type EventType, type Payloads, payloadSchemas } from '../events/catalogue.ts';
import { CHAIN_START, fieldsOfEnvelope } from '../events/envelope.ts';
import { chainHash, payloadRef } from '../ledger/rules/chain.ts';
import type { ChainedEvent } from '../ledger/rules/stored-event.ts';
import {
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  type BundledSession,
  type BundleManifest,
  type EventLine,
  entryNames,
  entryOf,
  firstSchema,
  manifestSchema,
  mostBytes,
  parsedLine,
} from './format.ts';
import { badBundle, largeBundle, newerBundle } from './refusals.ts';
import { checkSignature } from './sign.ts';
import { quotedName, readTar } from './tar.ts';
import { through } from './through.ts';

/** An event as it is stored, and of what it carries as much as the index of runs follows from. */
export interface BundledEvent extends ChainedEvent {
  readonly facts: unknown;
}

/** Takes what is read, in order: payloads come before the first event that names them. */
export interface BundleSink {
  payload(ref: PayloadRef, body: Uint8Array): Promise<void>;
  events(session: SessionId, events: readonly BundledEvent[]): Promise<void>;
}

export interface ReadBundle {
  readonly manifest: BundleManifest;
  /** The name of the key that signed it. */
  readonly signedBy: string | undefined;
  /** Of all of it, unpacked. */
  readonly sha256: string;
}

export const isPacked = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** Whether a file that begins like this may be a bundle: any other tar is told what is wrong with it. */
export const isBundle = (unpacked: Uint8Array): boolean =>
  Buffer.from(unpacked).toString('latin1', TAR_AT, TAR_AT + TAR.length) === TAR;

const TAR_AT = 257;
const TAR = 'ustar';

/** The bytes of the tar, whether they were packed or not. */
export async function* unpacked(chunks: AsyncIterable<Uint8Array>, packed: boolean): AsyncGenerator<Uint8Array, void> {
  if (!packed) return yield* chunks;
  try {
    yield* through(chunks, createGunzip());
  } catch (error) {
    if (error instanceof Error && 'errno' in error) throw badBundle('it cannot be unpacked: it was cut off or is damaged');
    throw error;
  }
}

export async function readBundle(
  chunks: AsyncIterable<Uint8Array>,
  key: KeyObject | undefined,
  sink: BundleSink,
): Promise<ReadBundle> {
  const whole = createHash('sha256');
  const state: Reading = {
    ...{ sums: [], sessions: new Map(), runs: new Map(), payloads: new Map(), named: new Set(), missing: new Set() },
    ...{ ahead: new Map(), aheadBytes: 0, events: 0, first: false, list: undefined, manifest: undefined, signature: undefined },
  };
  for await (const { name, body } of readTar(hashed(chunks, whole), mostBytes)) await takeEntry(state, name, body, sink);
  const manifest = checkedManifest(state);
  const signedBy = checkSignature(state.manifest ?? Buffer.alloc(0), state.signature, key);
  return { manifest, signedBy, sha256: whole.digest('hex') };
}

interface ReadSession {
  chain: string;
  source: string;
  events: number;
  pages: number;
  sealed: number;
  readonly runs: Set<RunId>;
}

interface Reading {
  readonly sums: string[];
  readonly sessions: Map<SessionId, ReadSession>;
  /** Which session a run is of. */
  readonly runs: Map<RunId, SessionId>;
  /** Entries that were there; of those that were the payload of an event, of which type, and what follows from it. */
  readonly payloads: Map<PayloadRef, { readonly type: string; readonly facts: unknown } | undefined>;
  /** Bodies of entries since the last page. */
  readonly ahead: Map<PayloadRef, Buffer>;
  aheadBytes: number;
  readonly named: Set<PayloadRef>;
  /** Named by an event, and not there. */
  readonly missing: Set<PayloadRef>;
  events: number;
  first: boolean;
  list: Buffer | undefined;
  manifest: Buffer | undefined;
  signature: Buffer | undefined;
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  whole: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    whole.update(chunk);
    yield chunk;
  }
}

async function takeEntry(state: Reading, name: string, body: Buffer, sink: BundleSink): Promise<void> {
  const entry = entryOf(name);
  if (!state.first) checkFirst(entry.kind === 'first' ? body : undefined);
  state.first = true;
  const isTail = entry.kind === 'checksums' || entry.kind === 'manifest' || entry.kind === 'signature';
  if (state.list !== undefined && !isTail) throw badBundle(`${name} stands behind the checksums`);
  if (!isTail) state.sums.push(`${createHash('sha256').update(body).digest('hex')}  ${name}`);
  switch (entry.kind) {
    case 'checksums':
      state.list = Buffer.from(body);
      return;
    case 'manifest':
      state.manifest = Buffer.from(body);
      return;
    case 'signature':
      state.signature = Buffer.from(body);
      return;
    case 'payload':
      if (payloadRef(body) !== entry.ref) throw badBundle(`${name} was changed: its bytes do not have this checksum`);
      goAhead(state, entry.ref, body);
      return await sink.payload(entry.ref, body);
    case 'page':
      return await takePage(state, entry, body, sink);
    default:
  }
}

function goAhead(state: Reading, ref: PayloadRef, body: Buffer): void {
  state.payloads.set(ref, undefined);
  state.ahead.set(ref, body);
  state.aheadBytes += body.length;
  if (state.aheadBytes <= limits.bundleAheadBytes) return;
  const what = `${state.aheadBytes} bytes stand before the events that they are of`;
  throw largeBundle(what, 'bundleAheadBytes', limits.bundleAheadBytes);
}

function checkFirst(body: Buffer | undefined): void {
  const parsed = body === undefined ? undefined : parseJson(body.toString());
  const first = firstSchema.safeParse(parsed?.ok === true ? parsed.value : undefined);
  if (!first.success) throw badBundle(`it does not begin with ${entryNames.first}, which says ${BUNDLE_FORMAT}`);
  refuseNewer(first.data.version);
}

function refuseNewer(version: number): void {
  if (version !== BUNDLE_VERSION)
    throw newerBundle(`it has version ${version} of the format, and this one reads ${BUNDLE_VERSION}`);
}

async function takePage(
  state: Reading,
  { session, page }: { readonly session: SessionId; readonly page: number },
  body: Buffer,
  sink: BundleSink,
): Promise<void> {
  const known = state.sessions.get(session) ?? newSession(state, session);
  known.pages += 1;
  if (page !== known.pages) throw badBundle(`page ${known.pages} of ${session} is missing`);
  const text = body.toString();
  if (!text.endsWith('\n')) throw badBundle(`page ${page} of ${session} was cut off`);
  const events: BundledEvent[] = [];
  for (const line of text.slice(0, -1).split('\n')) {
    const parsed = parseJson(line);
    const place = eventId(session, known.events + 1);
    if (!parsed.ok) throw badBundle(`${place} is no JSON`);
    events.push(await takeEvent(state, known, session, parsedLine(parsed.value, place), sink));
  }
  state.ahead.clear();
  state.aheadBytes = 0;
  await sink.events(session, events);
}

function newSession(state: Reading, session: SessionId): ReadSession {
  const known = { chain: CHAIN_START, source: CHAIN_START, events: 0, pages: 0, sealed: 0, runs: new Set<RunId>() };
  state.sessions.set(session, known);
  if (state.sessions.size > limits.bundleSessions)
    throw largeBundle(`it has more than ${limits.bundleSessions} sessions`, 'bundleSessions', limits.bundleSessions);
  return known;
}

async function takeEvent(
  state: Reading,
  known: ReadSession,
  session: SessionId,
  { chain, source_ref, payload, ...event }: EventLine,
  sink: BundleSink,
): Promise<BundledEvent> {
  const position = known.events + 1;
  const place = eventId(session, position);
  const broken = (why: string) => badBundle(`the chain is broken at ${place}: ${why}`);
  if (event.event_id !== place || event.position !== position || event.session_id !== session) throw broken('it is missing');
  const { parent_event_id: parent, run_id: run, payload_ref: ref, attachment_ref: attached } = event;
  const fields = fieldsOfEnvelope(event);
  const cause = fields.parent;
  if (parent !== (cause === null ? null : eventId(session, cause))) throw broken('its cause is in another session');
  if ((cause === null) !== (position === 1) || (cause !== null && !(cause >= 1 && cause < position)))
    throw broken('its cause does not come before it');
  if (new Date(fields.at).toISOString() !== event.timestamp) throw broken('its time is not written as it should be');
  if (chainHash(known.chain, fields) !== chain) throw broken('its envelope was changed');
  known.source = chainHash(known.source, { ...fields, ...present({ payload: source_ref as PayloadRef | undefined }) });
  [known.chain, known.events] = [chain, position];
  if (source_ref !== undefined) known.sealed += 1;
  state.events += 1;
  if (state.events > limits.bundleEvents)
    throw largeBundle(`it has more than ${limits.bundleEvents} events`, 'bundleEvents', limits.bundleEvents);
  if ((state.runs.get(run) ?? session) !== session) throw badBundle(`${run} is in two sessions`);
  state.runs.set(run, session);
  known.runs.add(run);
  state.named.add(ref);
  if (attached !== null) name(state, attached);
  if (payload === undefined) return { fields, chain, facts: factsApart(state, event.event_type, ref, broken) };
  const text = JSON.stringify(payload);
  if (payloadRef(text) !== ref) throw broken('its payload was changed: the bytes do not match their hash');
  const facts = factsOf(event.event_type, payload, broken);
  await sink.payload(ref, Buffer.from(text));
  return { fields, chain, facts };
}

/** Of a payload that is an entry of its own. */
function factsApart(state: Reading, type: EventType, ref: PayloadRef, broken: (why: string) => Error): unknown {
  name(state, ref);
  const before = state.payloads.get(ref);
  if (before?.type === type) return before.facts;
  const body = state.ahead.get(ref);
  if (body === undefined) {
    throw broken(state.payloads.has(ref) ? 'its payload does not stand before it' : `its payload ${ref} is missing`);
  }
  const parsed = parseJson(body.toString());
  if (!parsed.ok) throw broken('its payload is no JSON');
  const facts = factsOf(type, parsed.value, broken);
  state.payloads.set(ref, { type, facts });
  return facts;
}

function name(state: Reading, ref: PayloadRef): void {
  state.named.add(ref);
  if (!state.payloads.has(ref)) state.missing.add(ref);
}

/** Checks a payload by the rules of the ledger, and keeps of it what the index of runs follows from. */
function factsOf(type: EventType, payload: unknown, broken: (why: string) => Error): unknown {
  const checked = payloadSchemas[type].safeParse(payload);
  if (!checked.success) throw broken(`its payload does not fit the schema of ${type}`);
  if (type === 'run.started') {
    const { agent, origin } = checked.data as Payloads['run.started'];
    return { agent, origin };
  }
  return type === 'run.ended' ? { status: (checked.data as Payloads['run.ended']).status } : {};
}

function checkedManifest(state: Reading): BundleManifest {
  const { list, manifest: body } = state;
  if (list === undefined || body === undefined) throw badBundle('its manifest or its checksums are missing: it was cut off');
  const parsed = parseJson(body.toString());
  const value = parsed.ok ? parsed.value : undefined;
  const checked = manifestSchema.safeParse(value);
  if (!checked.success) throw badBundle(`its manifest is damaged: ${checked.error.issues[0]?.message ?? ''}`);
  const manifest = checked.data;
  refuseNewer(manifest.version);
  if (createHash('sha256').update(list).digest('hex') !== manifest.checksums)
    throw badBundle('the list of checksums was changed');
  const wrong = `${state.sums.join('\n')}\n` === list.toString() ? undefined : firstWrong(state.sums, list.toString());
  if (wrong !== undefined) throw badBundle(wrong);
  if (state.sums.length !== manifest.entries) throw badBundle('it has other entries than its manifest says');
  const gone = new Set(manifest.sessions.flatMap((session) => session.gone));
  for (const ref of state.missing) if (!gone.has(ref as string)) throw badBundle(`payload ${ref} is missing`);
  for (const ref of state.payloads.keys()) if (!state.named.has(ref)) throw badBundle(`no event names payload ${ref}`);
  if (manifest.sessions.length !== state.sessions.size) throw badBundle('it has other sessions than its manifest says');
  for (const session of manifest.sessions) checkSession(session, state.sessions.get(session.session as SessionId));
  return manifest;
}

function firstWrong(sums: readonly string[], list: string): string {
  const lines = list.split('\n');
  const at = sums.findIndex((line, index) => line !== lines[index]);
  const entry = (at === -1 ? lines[sums.length] : sums[at])?.slice(66) ?? '';
  return `${quotedName(entry)} does not have the checksum that is listed`;
}

function checkSession(said: BundledSession, read: ReadSession | undefined): void {
  const wrong = (what: string) => badBundle(`${said.session} has ${what} than the manifest says: it was cut off or changed`);
  if (read === undefined) throw badBundle(`${said.session} is missing`);
  if (read.events !== said.events) throw wrong('another number of events');
  if (read.chain !== said.chain) throw wrong('another chain');
  if (read.source !== said.source || read.sealed !== said.sealed) throw wrong('another chain where it came from');
  if (read.runs.size !== said.runs) throw wrong('other runs');
}
