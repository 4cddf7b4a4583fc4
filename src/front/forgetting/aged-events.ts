/**
 * Events of some types may be kept for a shorter time than their session: what tools gave, say, and not what was said. Each is
 * forgotten by itself, so that the rest can be read and the chain still verifies; by the word of the settings, and nobody else's.
 */
import { codeOf } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { ForgetPart, ForgottenOutcome, StandIn } from '../../ledger/forgetting/port.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { standInFor } from '../../ledger/rules/stand-in.ts';
import type { ForgetPlaces } from './forget.ts';
import { clearAway } from './leftovers.ts';

/** Of a session that stays, the types whose time is over. */
export interface AgedTypes {
  readonly session: SessionId;
  readonly types: readonly EventType[];
}

export interface AgedEvents {
  readonly session: SessionId;
  readonly type: EventType;
  readonly events: number;
}

export interface CollectedEvents {
  readonly events: readonly AgedEvents[];
  readonly payloads: number;
  readonly bytes: number;
  /** What could not be cleared away now: it is tried again the next time. */
  readonly left: readonly string[];
}

const BY = 'troupe ledger gc, as retention.events says';

export async function collectEvents(
  { ledger, home }: Pick<ForgetPlaces, 'ledger' | 'home'>,
  aged: readonly AgedTypes[],
  { now, dryRun }: { readonly now: number; readonly dryRun: boolean },
): Promise<CollectedEvents> {
  const sums = { events: [] as AgedEvents[], payloads: 0, bytes: 0 };
  const left = new Set<string>();
  for await (const batch of batches(ledger, aged)) {
    const done = await forgetThose(ledger, batch, { now, dryRun });
    sums.payloads += done.payloads;
    sums.bytes += done.bytes;
    sums.events.push(...done.parts.flatMap(countsOf));
    for (const why of done.left) left.add(why);
  }
  if (sums.events.length > 0 && !dryRun) await clearAway(home, []);
  return { ...sums, events: summedUp(sums.events), left: [...left] };
}

interface AgedPart {
  readonly part: ForgetPart & { readonly events: readonly StandIn[] };
  readonly types: readonly EventType[];
}

const countsOf = ({ part: { session }, types }: AgedPart): readonly AgedEvents[] =>
  [...Map.groupBy(types, (type) => type)].map(([type, those]) => ({ session, type, events: those.length }));

/** Of a session with very many there are several parts. */
function summedUp(counts: readonly AgedEvents[]): readonly AgedEvents[] {
  const those = Map.groupBy(counts, ({ session, type }) => `${session} ${type}`);
  return [...those.values()].flatMap((same) =>
    same.slice(0, 1).map((first) => ({ ...first, events: same.reduce((sum, { events }) => sum + events, 0) })),
  );
}

/** A bounded number of events at a time. */
async function* batches(ledger: Ledger, aged: readonly AgedTypes[]): AsyncGenerator<readonly AgedPart[], void> {
  let batch: AgedPart[] = [];
  let size = 0;
  for (const { session, types } of aged) {
    const { upTo, events } = await agedIn(ledger, session, types);
    for (let from = 0; from < events.length; from += limits.forgetEvents) {
      const some = events.slice(from, from + limits.forgetEvents);
      if (size + some.length > limits.forgetEvents) {
        yield batch;
        [batch, size] = [[], 0];
      }
      const part = { session, events: some.map(({ stand }) => stand), byRule: { upTo } };
      batch.push({ part, types: some.map(({ type }) => type) });
      size += some.length;
    }
  }
  if (batch.length > 0) yield batch;
}

interface Aged {
  /** The last event of the session when it was looked at. */
  readonly upTo: number;
  readonly events: readonly { readonly type: EventType; readonly stand: StandIn }[];
}

async function agedIn(ledger: Ledger, session: SessionId, types: readonly EventType[]): Promise<Aged> {
  const events: Aged['events'][number][] = [];
  let upTo = 0;
  try {
    const [last] = await ledger.read({ session, newest: true, limit: 1 });
    upTo = last?.position ?? 0;
    for await (const { event_type: type, position, payload, forgotten } of readEvents(ledger, { session, types })) {
      const stand = forgotten === undefined ? standInFor(type, payload) : undefined;
      if (stand !== undefined) events.push({ type, stand: { position, payload: stand } });
    }
  } catch (error) {
    // Collected when it had fewer events than now: what came since goes with the session.
    if (codeOf(error) !== 'ledger_collected') throw error;
  }
  return { upTo, events };
}

/** A session that somebody has pinned, held or gone on with meanwhile stays; the others go all the same. */
async function forgetThose(
  ledger: Ledger,
  batch: readonly AgedPart[],
  { now, dryRun }: { readonly now: number; readonly dryRun: boolean },
): Promise<Extract<ForgottenOutcome, { kind: 'forgotten' }> & { readonly parts: readonly AgedPart[] }> {
  for (let parts = batch; ; ) {
    const outcome = await ledger.forget({ parts: parts.map(({ part }) => part), by: BY, at: now, dryRun });
    if (outcome.kind === 'forgotten') return { ...outcome, parts };
    parts = parts.filter(({ part }) => part.session !== outcome.session);
  }
}
