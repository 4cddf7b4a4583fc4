/**
 * A session and the console in one HTML file. Events stand in it line by line as they are read (so secrets are redacted and
 * nothing is sealed), each with its hash; `console/file` shows them and walks the chain. Whatever is in them stays text: no `<`
 * is left in what is written, and the page's policy runs one script and asks nobody for anything.
 */
import { createHash } from 'node:crypto';
import { TroupeError } from '../../base/errors.ts';
import type { PayloadRef, RunId, SessionId } from '../../base/ids.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { CHAIN_START, fieldsOfEnvelope, type LedgerEvent } from '../../events/envelope.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { chainHash, payloadRef } from '../../ledger/rules/chain.ts';
import { SEALED } from '../../ledger/rules/read-events.ts';
import { belongsTo } from '../standing.ts';

/** What the page is made of: `scripts/build-console.ts` builds it. */
export interface FileApp {
  readonly script: string;
  readonly style: string;
}

export interface FileWanted {
  readonly session: SessionId;
  /** Only this run and those below it; of the others the file has the envelopes, without which the chain has no beginning. */
  readonly run?: RunId | undefined;
  readonly agent: string;
  readonly now: number;
  readonly version: string;
}

type FileLedger = Pick<Ledger, 'read' | 'payload' | 'verify'>;

export async function* sessionFile(ledger: FileLedger, wanted: FileWanted, app: FileApp): AsyncGenerator<string, void> {
  const report = await ledger.verify(wanted.session);
  if (report.kind === 'broken' || report.kind === 'damaged')
    throw new TroupeError('ledger_corrupt', `The session is not as it was written: ${report.why}`, {
      fix: '`troupe ledger verify` says more; `troupe export --format jsonl` gives it as it is.',
    });
  let bytes = 0;
  const bounded = (text: string): string => {
    bytes += Buffer.byteLength(text);
    if (bytes <= limits.exportFileBytes) return text;
    throw new TroupeError('export_too_large', `As one file this is more than ${limits.exportFileBytes} bytes`, {
      fix: 'Export one run of the session, or all of it with --format jsonl. The limit (`exportFileBytes`) is fixed.',
    });
  };
  yield bounded(pageHead(wanted, app));
  const state = { chain: CHAIN_START, events: 0, attached: new Set<PayloadRef>() };
  const belongs = wanted.run === undefined ? () => true : belongsTo(wanted.run);
  for await (const event of readEvents(ledger, { session: wanted.session })) {
    state.chain = chainHash(state.chain, fieldsOfEnvelope(event));
    state.events += 1;
    const isIn = belongs(event);
    if (isIn && event.attachment_ref !== null) state.attached.add(event.attachment_ref);
    yield bounded(await lineOf(ledger, event, state.chain, isIn));
  }
  yield bounded(`</script>\n${dataBlock('troupe-attachments')}`);
  for (const ref of state.attached) yield bounded(await attachmentLine(ledger, ref));
  const { session, run = null, agent, version } = wanted;
  const facts = {
    ...{ format: 1, session, run, agent, version, exportedAt: new Date(wanted.now).toISOString() },
    ...{ events: state.events, head: state.chain },
  };
  yield bounded(`</script>\n${dataBlock('troupe-file')}${embedded(facts)}</script>\n`);
  yield bounded(`<script type="module">${app.script}</script></body></html>\n`);
}

const dataBlock = (id: string): string => `<script type="application/json" id="${id}">\n`;

/** JSON in which no markup can begin. */
const embedded = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

async function lineOf(ledger: FileLedger, { payload, ...event }: LedgerEvent, chain: string, isIn: boolean): Promise<string> {
  if (!isIn) return `${embedded({ event, chain })}\n`;
  const own = payloadRef(JSON.stringify(payload));
  const redacted = own === event.payload_ref || !(await isSealed(ledger, event.payload_ref)) ? undefined : own;
  return `${embedded({ event, chain, payload, ...present({ redacted }) })}\n`;
}

/** Whether what is stored is more than what is read: then its name is of something that nobody outside is given. */
async function isSealed(ledger: FileLedger, ref: PayloadRef): Promise<boolean> {
  const stored = await ledger.payload(ref);
  const read = stored === undefined ? undefined : parseJson(Buffer.from(stored).toString());
  return read?.ok === true && isJsonObject(read.value) && SEALED in read.value;
}

async function attachmentLine(ledger: FileLedger, ref: PayloadRef): Promise<string> {
  const bytes = await ledger.payload(ref);
  if (bytes === undefined || bytes.length > limits.exportAttachmentBytes) return '';
  return `${ref} ${Buffer.from(bytes).toString('base64')}\n`;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function pageHead({ agent, session }: FileWanted, { script, style }: FileApp): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta name="color-scheme" content="light dark"><title>${escaped(`${agent} · ${session} · Troupe`)}</title>`,
    `<style>${style}</style></head><body><div id="root"></div>`,
    '<noscript>This file shows a session of Troupe with a script of its own: allow it, or look at the lines below.</noscript>',
    dataBlock('troupe-events'),
  ].join('\n');
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => SIGNS[sign] ?? '');
