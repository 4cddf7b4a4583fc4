/**
 * A bundle's sessions in a ledger. The file is read twice: once to see that all of it is as it should be, which stores nothing,
 * and once to store. Payloads go first, named by their hash; then all sessions become visible at once, or none does. Each ends
 * with an event that says where it came from, and so does nothing more.
 */
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import type { PayloadRef, RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { EventType, Payloads } from '../events/catalogue.ts';
import { type ChainedFields, SCHEMA_VERSION } from '../events/envelope.ts';
import type { CopiedPayload, CopiedRun, CopyStore, WholeSession } from '../ledger/copy/store.ts';
import { chainHash, payloadRef } from '../ledger/rules/chain.ts';
import { deriveSession } from '../ledger/rules/derived.ts';
import type { ChainedEvent } from '../ledger/rules/stored-event.ts';
import type { BundledSession } from './format.ts';
import { type BundledEvent, type BundleSink, type ReadBundle, readBundle } from './read.ts';
import { badBundle } from './refusals.ts';

export interface BundleImport {
  /** What the file is called, for whoever asks later. */
  readonly file: string;
  readonly clock: Clock;
  /** It must be signed with this one. */
  readonly key?: KeyObject | undefined;
  /** Looks, and stores nothing. */
  readonly check: boolean;
}

export interface ImportedSession {
  readonly session: SessionId;
  readonly events: number;
  readonly sealed: number;
  readonly gone: number;
  /** It is here: as one that was imported before, or as the very session that the bundle was made of. */
  readonly here?: 'imported' | 'original' | undefined;
}

export interface ImportReport {
  readonly troupe: string;
  readonly bundle: string;
  readonly signedBy: string | null;
  readonly sessions: readonly ImportedSession[];
  readonly agents: readonly string[];
  /** Whether anything was stored. */
  readonly stored: boolean;
}

/** Begins at the first byte each time. */
export type OpenChunks = () => AsyncIterable<Uint8Array>;

export async function importBundle(open: OpenChunks, to: CopyStore, options: BundleImport): Promise<ImportReport> {
  const seen = await readBundle(open(), options.key, NOWHERE);
  const { manifest, sha256, signedBy } = seen;
  const here = new Map<string, ImportedSession['here']>();
  for (const said of manifest.sessions) here.set(said.session, await standing(to, said));
  const wanted = manifest.sessions.filter(({ session }) => here.get(session) === undefined);
  if (!options.check && wanted.length > 0) await store(open, to, { ...options, seen, wanted });
  return {
    ...{ troupe: manifest.troupe, bundle: sha256, signedBy: signedBy ?? null },
    sessions: manifest.sessions.map(({ session, events, sealed, gone }) => ({
      ...{ session: session as SessionId, events, sealed, gone: gone.length },
      ...present({ here: here.get(session) }),
    })),
    agents: manifest.agents.map(({ agent }) => agent),
    stored: !options.check && wanted.length > 0,
  };
}

const NOWHERE: BundleSink = { payload: async () => undefined, events: async () => undefined };

/** Whether the session is here already; one of the same id that is another is refused. */
async function standing(to: CopyStore, said: BundledSession): Promise<ImportedSession['here']> {
  const session = said.session as SessionId;
  const row = await to.session(session);
  if (row === undefined) return undefined;
  const [first] = await to.events(session, 0, 1);
  const [opening] = first === undefined ? [] : await to.sizes([first.fields.payload]);
  if (opening?.gone === true) throw differs(session, 'was collected or forgotten: what is gone does not come back');
  const [at] = row.head < said.events ? [] : await to.events(session, said.events - 1, 1);
  const [last] = await to.events(session, row.head - 1, 1);
  const wasImported = last?.fields.type === 'session.imported';
  if (wasImported && row.head > said.events) {
    if (at?.chain === said.chain) return 'imported';
  } else if (at?.chain === said.source) return 'original';
  if (wasImported && row.head <= said.events)
    throw differs(session, 'came in a bundle with fewer events: if it has grown since, what was imported stays as it was then');
  throw differs(session, 'holds other events than the one in the bundle');
}

const differs = (session: string, why: string): TroupeError =>
  new TroupeError('import_differs', `${session} is in this ledger already, and it ${why}`, {
    fix: 'Nothing was stored. Import the bundle into another project: troupe -C FOLDER import FILE',
  });

interface Storing extends BundleImport {
  readonly seen: ReadBundle;
  readonly wanted: readonly BundledSession[];
}

async function store(open: OpenChunks, to: CopyStore, storing: Storing): Promise<void> {
  const wanted = new Map(storing.wanted.map((said) => [said.session, { said, events: [] as BundledEvent[] }]));
  const payloads = payloadWriter(to);
  const read = await readBundle(open(), storing.key, {
    payload: payloads.add,
    events: async (session, events) => void wanted.get(session)?.events.push(...events),
  });
  if (read.sha256 !== storing.seen.sha256) throw badBundle('the file was changed while it was read');
  const whole: WholeSession[] = [];
  for (const { said, events } of wanted.values()) whole.push(await wholeSession(said, events, payloads, storing));
  await payloads.flush();
  const { there } = await to.writeWhole(whole);
  if (there !== undefined) throw differs(there, 'is not one that the bundle could have brought');
}

interface PayloadWriter {
  add(ref: PayloadRef, body: Uint8Array | undefined): Promise<void>;
  flush(): Promise<void>;
}

/** A bounded number of bytes at a time; what is there stays. */
function payloadWriter(to: CopyStore): PayloadWriter {
  let batch: CopiedPayload[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await to.writePayloads(batch);
    batch = [];
    bytes = 0;
  };
  return {
    async add(ref, body) {
      const size = body?.length ?? 0;
      batch.push({ ref, bytes: size, gone: body === undefined, body: body === undefined ? undefined : Buffer.from(body) });
      bytes += size;
      if (bytes >= limits.appendBatchBytes || batch.length >= limits.appendBatchEvents) await flush();
    },
    flush,
  };
}

async function wholeSession(
  said: BundledSession,
  events: readonly BundledEvent[],
  payloads: PayloadWriter,
  storing: Storing,
): Promise<WholeSession> {
  const session = said.session as SessionId;
  const derived = deriveSession(session, UNCOUNTED);
  for (const { fields, facts } of events) derived.apply(fields, facts);
  const all: ChainedEvent[] = events.map(({ fields, chain }) => ({ fields, chain }));
  const add = async <Type extends EventType>(type: Type, run: RunId, payload: Payloads[Type]): Promise<void> => {
    const event = await following(all, { type, run, payload, at: storing.clock.now() }, payloads);
    derived.apply(event.fields, payload);
    all.push(event);
  };
  for (const { run, startedAt, endedAt } of derived.rows().runs)
    if (startedAt !== null && endedAt === null) await add('run.paused', run, { reason: 'imported' });
  const first = events[0]?.fields.run;
  if (first === undefined) throw badBundle(`${session} has no events`);
  await add('session.imported', first, originOf(said, storing));
  for (const ref of said.gone) await payloads.add(ref as PayloadRef, undefined);
  const { sealed, inbound, runs } = derived.rows();
  const [head, chain] = [all.length, all.at(-1)?.chain ?? said.chain];
  const seal = all[sealed - 1]?.chain ?? chain;
  const collected = said.gone.length > 0 ? head : 0;
  return {
    session: { session, head, chain, sealed, seal, inbound, collected, pinned: false },
    runs: runs.map((row): CopiedRun => ({ ...row, root: row.root ?? row.run })),
    events: all,
  };
}

/** What was spent and said elsewhere is not counted here. */
const UNCOUNTED = { apply: () => undefined };

const FILE_CHARACTERS = 200;

function originOf(said: BundledSession, { seen, file, key }: Storing): Payloads['session.imported'] {
  const { manifest, sha256, signedBy } = seen;
  const { events, chain, source, sealed } = said;
  return {
    ...{ events, chain, source, sealed, file: file.slice(0, FILE_CHARACTERS), bundle: sha256, troupe: manifest.troupe },
    ...present({ signedBy, known: signedBy !== undefined && key !== undefined ? true : undefined }),
  };
}

interface Following {
  readonly type: EventType;
  readonly run: RunId;
  readonly payload: unknown;
  readonly at: number;
}

/** The next event of a session, as the ledger would have written it. */
async function following(
  before: readonly ChainedEvent[],
  { type, run, payload, at }: Following,
  payloads: PayloadWriter,
): Promise<ChainedEvent> {
  const last = before.at(-1);
  if (last === undefined) throw badBundle('a session has no events');
  const body = JSON.stringify(payload);
  const ref = payloadRef(body);
  await payloads.add(ref, Buffer.from(body));
  const fields: ChainedFields = {
    ...{ session: last.fields.session, position: last.fields.position + 1, run, parent: last.fields.position, at },
    ...{ actor: 'system', tool: null, type, step: null, payload: ref, attachment: null, version: SCHEMA_VERSION },
  };
  return { fields, chain: chainHash(last.chain, fields) };
}
