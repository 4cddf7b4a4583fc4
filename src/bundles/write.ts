/**
 * Sessions as one file: every event with its payload, what belongs to them, and the checksum of everything. It is read page by
 * page and written as it is read, and holds nothing of the time or the machine it was made on: the same sessions are the same
 * bytes. What is sealed stays where it is; in its place stands a mark, and the chain is walked anew from there.
 */
import { createHash, type KeyObject } from 'node:crypto';
import { TroupeError } from '../base/errors.ts';
import type { PayloadRef, SessionId } from '../base/ids.ts';
import { isJsonObject, type Json, parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { CHAIN_START, fieldsOfEnvelope, type LedgerEvent } from '../events/envelope.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import { chainHash, payloadRef } from '../ledger/rules/chain.ts';
import { SEALED } from '../ledger/rules/read-events.ts';
import { LEFT_OUT } from '../ledger/seals/seal.ts';
import {
  agentEntry,
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  type BundledSession,
  type BundleManifest,
  entryNames,
  pageEntry,
  payloadEntry,
} from './format.ts';
import { signatureOf } from './sign.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

type BundledLedger = Pick<Ledger, 'read' | 'payload' | 'verify'>;

/** The file of an agent, as it is now. */
export interface BundledAgent {
  readonly agent: string;
  readonly text: string;
}

export interface BundleWanted {
  /** In this order. */
  readonly sessions: readonly SessionId[];
  readonly agents: readonly BundledAgent[];
  readonly version: string;
  readonly key?: KeyObject | undefined;
}

/** The file in pieces, none larger than a payload or a page. */
export async function* writeBundle(ledger: BundledLedger, wanted: BundleWanted): AsyncGenerator<Uint8Array, void> {
  for (const session of wanted.sessions) await refuseBroken(ledger, session);
  const sums: string[] = [];
  const entry = (name: string, text: string | Uint8Array): readonly Uint8Array[] => {
    const body = typeof text === 'string' ? Buffer.from(text) : text;
    sums.push(`${createHash('sha256').update(body).digest('hex')}  ${name}`);
    return [tarHeader(name, body.length), body, tarPadding(body.length)];
  };
  const head = { format: BUNDLE_FORMAT, version: BUNDLE_VERSION, troupe: wanted.version } as const;
  yield* entry(entryNames.first, `${JSON.stringify(head)}\n`);
  const written = new Set<PayloadRef>();
  const sessions: BundledSession[] = [];
  for (const session of wanted.sessions) sessions.push(yield* sessionEntries(ledger, session, written, entry));
  const agents = new Map(wanted.agents.map(({ agent, text }) => [agentEntry(agent), { agent, text }]));
  for (const [name, { text }] of agents) yield* entry(name, text);
  const entries = sums.length;
  const list = Buffer.from(`${sums.join('\n')}\n`);
  const [checksums = ''] = [createHash('sha256').update(list).digest('hex')];
  yield* entry(entryNames.checksums, list);
  const manifest: BundleManifest = {
    ...head,
    sessions,
    agents: [...agents].map(([name, { agent }]) => ({ agent, entry: name })),
    ...{ entries, checksums },
  };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  yield* entry(entryNames.manifest, text);
  if (wanted.key !== undefined) yield* entry(entryNames.signature, signatureOf(text, wanted.key));
  yield tarEnd();
}

async function refuseBroken(ledger: BundledLedger, session: SessionId): Promise<void> {
  const report = await ledger.verify(session);
  if (report.kind !== 'broken' && report.kind !== 'damaged') return;
  throw new TroupeError('ledger_corrupt', `The session is not as it was written: ${report.why}`, {
    fix: '`troupe ledger verify` says more; `troupe export --format jsonl` gives it as it is.',
  });
}

type Entry = (name: string, body: string | Uint8Array) => readonly Uint8Array[];

async function* sessionEntries(
  ledger: BundledLedger,
  session: SessionId,
  written: Set<PayloadRef>,
  entry: Entry,
): AsyncGenerator<Uint8Array, BundledSession> {
  const runs = new Set<string>();
  const gone = new Set<PayloadRef>();
  const state = { chain: CHAIN_START, source: CHAIN_START, events: 0, sealed: 0, page: 0 };
  let lines: string[] = [];
  let characters = 0;
  const page = (): readonly Uint8Array[] => {
    if (lines.length === 0) return [];
    const text = `${lines.join('\n')}\n`;
    [lines, characters] = [[], 0];
    state.page += 1;
    return entry(pageEntry(session, state.page), text);
  };
  for await (const event of readEvents(ledger, { session })) {
    const fields = fieldsOfEnvelope(event);
    const body = await bodyOf(ledger, event);
    state.source = chainHash(state.source, fields);
    state.chain = chainHash(state.chain, { ...fields, payload: body.ref });
    state.events += 1;
    if (body.ref !== event.payload_ref) state.sealed += 1;
    runs.add(event.run_id);
    const inline = isInline(body.text);
    // Whoever reads holds what stands before a page until that has come.
    let apart = 0;
    if (!inline && !written.has(body.ref)) {
      written.add(body.ref);
      apart += body.text.length;
      yield* entry(payloadEntry(body.ref), body.text);
    }
    const attached = event.attachment_ref;
    if (attached !== null && !written.has(attached) && !gone.has(attached)) {
      const bytes = await ledger.payload(attached);
      if (bytes === undefined) gone.add(attached);
      else {
        written.add(attached);
        apart += bytes.length;
        yield* entry(payloadEntry(attached), bytes);
      }
    }
    const line = lineOf(event, state.chain, body, inline);
    lines.push(line);
    characters += line.length + apart;
    if (lines.length >= limits.bundlePageEvents || characters >= limits.bundlePageBytes) yield* page();
  }
  yield* page();
  const { chain, source, events, sealed } = state;
  return { session, events, runs: runs.size, chain, source, sealed, gone: [...gone] };
}

interface Body {
  readonly ref: PayloadRef;
  readonly text: string;
}

const notWhole = (event: string): TroupeError =>
  new TroupeError('ledger_collected', `What ${event} said was collected or forgotten, so the session is not whole any more`, {
    fix: 'What is left of it: `troupe export --format jsonl`.',
  });

/** What may leave of a payload, and what that is called. */
async function bodyOf(ledger: BundledLedger, event: LedgerEvent): Promise<Body> {
  const text = JSON.stringify(event.payload);
  if (payloadRef(text) === event.payload_ref) return { ref: event.payload_ref, text };
  const bytes = await ledger.payload(event.payload_ref);
  if (bytes === undefined) throw notWhole(event.event_id);
  const stored = Buffer.from(bytes).toString();
  const parsed = parseJson(stored);
  if (!parsed.ok || !isJsonObject(parsed.value) || !(SEALED in parsed.value)) return { ref: event.payload_ref, text: stored };
  const left = JSON.stringify({ ...parsed.value, [SEALED]: LEFT_OUT });
  return { ref: payloadRef(left), text: left };
}

/** Whether it can stand in its line, and is the same text when it was read from there. */
function isInline(text: string): boolean {
  if (Buffer.byteLength(text) > limits.payloadInlineBytes) return false;
  const parsed = parseJson(text);
  return parsed.ok && JSON.stringify(parsed.value) === text;
}

function lineOf({ payload: _, inexact: __, ...event }: LedgerEvent, chain: string, { ref, text }: Body, inline: boolean): string {
  const source = ref === event.payload_ref ? undefined : event.payload_ref;
  const parsed = inline ? parseJson(text) : undefined;
  const payload: Json | undefined = parsed?.ok === true ? parsed.value : undefined;
  return JSON.stringify({ ...event, payload_ref: ref, chain, ...present({ source_ref: source, payload }) });
}
