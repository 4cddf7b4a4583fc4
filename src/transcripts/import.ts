/**
 * Writes what a transcript holds into the ledger, as a session that is there to be read. Its id follows from the transcript, so
 * the same one is taken over once; an import that was cut off goes on where it stopped, because the same transcript gives the
 * same events.
 */

import type { Clock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import { forkedRunId, type RunId, runIdFrom, type SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { ImportSource } from '../events/going-on.ts';
import { nothingLeft, readEvents } from '../ledger/pages.ts';
import type { Ledger, NewEvent } from '../ledger/port.ts';
import type { Prices } from '../models/port.ts';
import type { Transcript } from './items.ts';
import { createRecorder, type RecordedEvent } from './recorder.ts';

export interface ImportNeeds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly prices: Pick<Prices, 'cost' | 'version'>;
  /** For a transcript that does not name its folder. */
  readonly workspace: string;
}

export interface Imported {
  readonly session: SessionId;
  readonly source: ImportSource;
  /** `there already`: the same transcript was taken over before; `completed`: an import of it that was cut off is whole now. */
  readonly outcome: 'imported' | 'completed' | 'there already';
  readonly counts: Payloads['transcript.imported'];
  readonly events: number;
}

export async function importTranscript(needs: ImportNeeds, transcript: Transcript): Promise<Imported> {
  const { ledger, clock } = needs;
  const { head, path, bytes, sha256, items } = transcript;
  const session = sessionOf(transcript);
  const [begun] = await ledger.read({ session, limit: 1 });
  const whole = begun === undefined ? undefined : await endOf(ledger, session);
  const there = begun?.event_type === 'session.started' ? begun.payload.imported : undefined;
  if (whole !== undefined && there !== undefined)
    return { session, source: there, outcome: 'there already', counts: whole.counts, events: whole.events };
  const earlier = there === undefined ? await earlierOf(ledger, transcript) : there.earlier;
  const source: ImportSource = {
    ...{ program: head.program, id: head.id, path, bytes, sha256 },
    ...present({ version: head.version, earlier }),
  };
  const counted = await countedIn(ledger, earlier);
  const isCounted = (key: string, step: string) => earlier !== undefined && counted.has(`${forkedRunId(earlier, key)} ${step}`);
  const recorder = createRecorder({ ...needs, session, source, head, isCounted });
  const writer = createWriter(ledger, session, begun === undefined ? 0 : await lastOf(ledger, session));
  for await (const item of items()) await writer.add(recorder.take(item));
  await writer.add(recorder.end(clock.now()));
  const events = await writer.close();
  return { session, source, outcome: begun === undefined ? 'imported' : 'completed', counts: { ...recorder.counts }, events };
}

/** The same for the same words of the same conversation. */
export const sessionOf = ({ head, sha256 }: Pick<Transcript, 'head' | 'sha256'>): SessionId =>
  runIdFrom(JSON.stringify(['transcript', head.program, head.id, sha256])).replace(/^run_/, 'ses_') as SessionId;

async function endOf(ledger: Ledger, session: SessionId) {
  const [end] = await ledger.read({ session, types: ['transcript.imported'], newest: true, limit: 1 });
  return end?.event_type === 'transcript.imported' ? { counts: end.payload, events: end.position } : undefined;
}

const lastOf = async (ledger: Ledger, session: SessionId): Promise<number> =>
  (await ledger.read({ session, newest: true, limit: 1 }))[0]?.position ?? 0;

/** The latest session that was made of this conversation when there was less of it. */
async function earlierOf(ledger: Ledger, { head }: Transcript): Promise<SessionId | undefined> {
  const sessions = new Set(
    (await ledger.runs({ roots: true, agent: head.program, limit: limits.runLookup })).map(({ session }) => session),
  );
  let latest: { readonly session: SessionId; readonly at: number } | undefined;
  for (const session of sessions) {
    const [first] = await ledger.read({ session, limit: 1 }).catch(nothingLeft);
    const from = first?.event_type === 'session.started' ? first.payload.imported : undefined;
    if (from === undefined || from.program !== head.program || from.id !== head.id) continue;
    const [end] = await ledger.read({ session, types: ['transcript.imported'], newest: true, limit: 1 });
    const at = end === undefined ? Number.NaN : Date.parse(end.timestamp);
    if (latest === undefined ? at >= 0 : at >= latest.at) latest = { session, at };
  }
  return latest?.session;
}

/** Answers that an earlier session has, and what it had of others before it: each costs what it cost once. */
async function countedIn(ledger: Ledger, earlier: string | undefined): Promise<ReadonlySet<string>> {
  const counted = new Set<string>();
  if (earlier === undefined) return counted;
  for await (const { run_id, step } of readEvents(ledger, { session: earlier as SessionId, types: ['model.response'] }))
    counted.add(`${run_id} ${step}`);
  return counted;
}

interface Writer {
  add(events: readonly RecordedEvent[]): Promise<void>;
  /** How many events the session has. */
  close(): Promise<number>;
}

/** One root run after the other has the session; what is there already is passed over. */
function createWriter(ledger: Ledger, session: SessionId, head: number): Writer {
  let batch: NewEvent[] = [];
  let [characters, position] = [0, 0];
  let root: RunId | undefined;
  const flush = async (isLast: boolean): Promise<void> => {
    const events = batch;
    batch = [];
    characters = 0;
    if (root !== undefined && events.length > 0) await write(ledger, session, root, events, isLast);
  };
  return {
    async add(events) {
      for (const recorded of events) {
        position = recorded.position;
        if (position <= head) continue;
        if (root !== undefined && root !== recorded.root) await flush(true);
        root = recorded.root;
        batch.push(recorded.event);
        characters += sizeOf(recorded.event);
        if (batch.length >= limits.transcriptBatchEvents || characters >= limits.transcriptBatchCharacters) await flush(false);
      }
    },
    async close() {
      await flush(true);
      return position;
    },
  };
}

const sizeOf = ({ payload, attachment }: NewEvent): number => JSON.stringify(payload).length + (attachment?.length ?? 0);

async function write(
  ledger: Ledger,
  session: SessionId,
  run: RunId,
  events: readonly NewEvent[],
  isLast: boolean,
): Promise<void> {
  const lease = await ledger.acquire(session, run);
  if (lease.kind !== 'acquired') throw busy(session);
  const { fence } = lease;
  try {
    const written = await ledger.append({ session, fence, events, release: true, ...(isLast ? { sync: 'power' } : {}) });
    if (written.kind !== 'appended') throw busy(session);
  } catch (error) {
    await ledger.release(fence).catch(() => undefined);
    throw error;
  }
}

const busy = (session: SessionId): TroupeError =>
  new TroupeError('import_busy', `Another process is importing ${session} at this moment.`, { fix: 'Wait until it is done.' });
