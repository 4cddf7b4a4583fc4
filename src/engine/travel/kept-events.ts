/** What is kept of places, as events: contents are attached, and texts that hold a secret are sealed with the event. */
import { isUtf8 } from 'node:buffer';
import { TroupeError } from '../../base/errors.ts';
import type { PayloadRef } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { KeptPoint, TravellingFile } from '../options.ts';
import { sealedError } from '../record/read-all.ts';

export interface KeptRecord {
  readonly payload: Payloads['workspace.kept'];
  readonly attachment?: Uint8Array | undefined;
}

type RecordedFile = Payloads['workspace.kept']['files'][number];

/** Secrets are looked for in every file: what is attached is stored as it is. */
export function keptRecord(
  task: string | undefined,
  { by, point, files }: KeptPoint,
  redact: (text: string) => string,
): KeptRecord {
  const recorded: RecordedFile[] = [];
  const attached: Uint8Array[] = [];
  const without: string[] = [];
  for (const { path, mode, content, back } of files) {
    const about = { path, ...present({ mode, back }) };
    const [text, isSecret] = content === undefined ? ['', false] : secretIn(content, redact);
    if (content === undefined) recorded.push(about);
    else if (isSecret && (text === undefined || content.length > limits.artifactExactBytes)) without.push(path);
    else if (isSecret) recorded.push({ ...about, ...present({ text }) });
    else {
      recorded.push({ ...about, bytes: content.length });
      attached.push(content);
    }
  }
  const payload = { by, point, files: recorded, ...present({ task }), ...(without.length === 0 ? {} : { without }) };
  return { payload, ...(attached.length === 0 ? {} : { attachment: Buffer.concat(attached) }) };
}

/** The text, where it is one, and whether there is a secret in it. */
function secretIn(content: Uint8Array, redact: (text: string) => string): [string | undefined, boolean] {
  const isText = isUtf8(content) && !content.includes(0);
  const seen = Buffer.from(content).toString(isText ? 'utf8' : 'latin1');
  return [isText ? seen : undefined, redact(seen) !== seen];
}

export async function keptPoint(ledger: Pick<Ledger, 'payload'>, event: EventOf<'workspace.kept'>): Promise<KeptPoint> {
  const { by, point, files } = event.payload;
  if (event.inexact !== undefined) throw sealedError('What was kept of a place', event.inexact);
  const attached = await attachmentOf(ledger, event);
  let at = 0;
  const read = files.map(({ path, mode, bytes, text, back }): TravellingFile => {
    if (bytes === undefined)
      return { path, ...present({ mode, back, content: text === undefined ? undefined : Buffer.from(text) }) };
    at += bytes;
    return { path, ...present({ mode }), content: attached.subarray(at - bytes, at) };
  });
  return { by, point, files: read };
}

/** The bytes that an event has with it. */
export async function attachmentOf(ledger: Pick<Ledger, 'payload'>, event: LedgerEvent): Promise<Uint8Array> {
  if (event.attachment_ref === null) return new Uint8Array();
  const bytes = await ledger.payload(event.attachment_ref as PayloadRef);
  if (bytes !== undefined) return bytes;
  throw new TroupeError('ledger_collected', `What was kept with ${event.event_id} was removed by \`troupe ledger gc\`.`);
}
