/**
 * How far a collector was told, in the ledger itself: whichever process or machine goes on, it goes on from there. It stands in a
 * session of its own, which no run works in and nobody collects.
 */
import type { Clock } from '../base/clock.ts';
import { type EventId, type RunId, runIdFrom, type SessionId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import type { FeedPlace, Fence, Ledger, NewEvent } from '../ledger/port.ts';
import type { TelemetrySettings } from './settings.ts';

export interface Cursor {
  /** Everything up to here was told; `undefined` stands for the beginning of the ledger. */
  readonly place: FeedPlace | undefined;
  readonly spans: number;
  readonly refused: number;
  /** When something was told last. */
  readonly at: string;
  /** Why spans were refused last. */
  readonly failed: string | undefined;
  readonly event: EventId;
}

/** What the work of telling this address is called. */
export const claimOf = ({ url }: Pick<TelemetrySettings, 'url'>): readonly string[] => ['telemetry', url.href];

const runOf = (settings: Pick<TelemetrySettings, 'url'>): RunId => runIdFrom(JSON.stringify(claimOf(settings)));
const sessionOf = (run: RunId): SessionId => run.replace(/^run_/, 'ses_') as SessionId;

const CONFIG = 'telemetry';

export async function readCursor(
  ledger: Pick<Ledger, 'read'>,
  settings: Pick<TelemetrySettings, 'url'>,
): Promise<Cursor | undefined> {
  const [event] = await ledger.read({ session: sessionOf(runOf(settings)), types: ['push.told'], newest: true, limit: 1 });
  if (event?.event_type !== 'push.told') return undefined;
  const { place, spans = 0, refused = 0, failed } = event.payload;
  return { place, spans, refused, failed, at: event.timestamp, event: event.event_id };
}

/** The first time: what was before is not told, unless somebody asks for it (`backfill`). */
export async function beginCursor(
  { ledger, clock }: { readonly ledger: Pick<Ledger, 'append' | 'pin' | 'read'>; readonly clock: Clock },
  settings: Pick<TelemetrySettings, 'url'>,
  fence: Fence,
  place: FeedPlace | undefined,
): Promise<Cursor | undefined> {
  const { run } = fence;
  const session = sessionOf(run);
  const common = { run, actor: 'system', at: clock.now() } as const;
  const started: NewEvent = {
    ...{ ...common, type: 'session.started', cause: null },
    payload: { title: `telemetry to ${settings.url.host}`, workspace: '' },
  };
  const payload = { config: CONFIG, position: 0, ...present({ place }) };
  const told: NewEvent = { ...common, type: 'push.told', cause: started, payload };
  const outcome = await ledger.append({ session, fence, events: [started, told] });
  if (outcome.kind !== 'appended') return undefined;
  await ledger.pin(session, true);
  return await readCursor(ledger, settings);
}

/** `undefined`: somebody else has the work now. */
export async function moveCursor(
  { ledger, clock }: { readonly ledger: Pick<Ledger, 'append'>; readonly clock: Clock },
  fence: Fence,
  cursor: Cursor,
  told: Pick<Cursor, 'place' | 'spans' | 'refused' | 'failed'>,
): Promise<Cursor | undefined> {
  const { run } = fence;
  const { place, spans, refused, failed } = told;
  const payload = { config: CONFIG, position: 0, spans, refused, ...present({ place, failed }) };
  const event: NewEvent = { type: 'push.told', run, actor: 'system', cause: cursor.event, at: clock.now(), payload };
  const outcome = await ledger.append({ session: sessionOf(run), fence, events: [event] });
  const [stored] = outcome.kind === 'appended' ? outcome.events : [];
  return stored && { ...told, at: stored.timestamp, event: stored.event_id };
}
