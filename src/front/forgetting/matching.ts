/**
 * Every event that holds a text: in its payload as it was appended, secrets included, or in what is attached to it. A text that
 * stands in JSON within JSON is found too; one that was cut in two, or stored in another form, is not.
 */
import { codeOf } from '../../base/errors.ts';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger, ReadQuery } from '../../ledger/port.ts';

type Reading = Pick<Ledger, 'read' | 'feed' | 'payload'>;

/** By session, in order. */
export async function positionsWith(
  ledger: Reading,
  text: string,
  only: ReadonlySet<SessionId> | undefined,
): Promise<ReadonlyMap<SessionId, readonly number[]>> {
  const forms = formsOf(text);
  const found = new Map<SessionId, number[]>();
  const known = new Map<PayloadRef, boolean>();
  for await (const [session, after, until] of stretches(ledger)) {
    if (only !== undefined && !only.has(session)) continue;
    for (const event of await readable(ledger, { session, after, exact: true }, until))
      if (await holds(ledger, event, forms, known)) found.set(session, [...(found.get(session) ?? []), event.position]);
  }
  return found;
}

/** As it is, and as it stands in JSON, once and twice. */
export function formsOf(text: string): readonly string[] {
  const quoted = (one: string): string => JSON.stringify(one).slice(1, -1);
  return [...new Set([text, quoted(text), quoted(quoted(text))])];
}

export const holdsAny = (text: string, forms: readonly string[]): boolean => forms.some((form) => text.includes(form));

async function holds(
  ledger: Reading,
  { payload, attachment_ref: ref }: LedgerEvent,
  forms: readonly string[],
  known: Map<PayloadRef, boolean>,
): Promise<boolean> {
  if (holdsAny(JSON.stringify(payload), forms)) return true;
  if (ref === null) return false;
  const before = known.get(ref);
  if (before !== undefined) return before;
  const bytes = Buffer.from((await ledger.payload(ref)) ?? []);
  const isThere = forms.some((form) => bytes.includes(form));
  known.set(ref, isThere);
  return isThere;
}

/** Of the order of all events, what follows each other in one session: from behind a position up to another. */
async function* stretches(ledger: Reading): AsyncGenerator<readonly [SessionId, number, number]> {
  for (let after: string | undefined; ; ) {
    const { entries } = await ledger.feed({ after, limit: limits.readPageEvents });
    const ends = new Map<SessionId, [number, number]>();
    for (const { session, position } of entries) {
      const [from] = ends.get(session) ?? [position - 1];
      ends.set(session, [from, position]);
    }
    for (const [session, [from, until]] of ends) yield [session, from, until];
    after = entries.at(-1)?.place;
    if (after === undefined || entries.length < limits.readPageEvents) return;
  }
}

/** What was collected or forgotten is passed over. */
async function readable(ledger: Reading, query: ReadQuery & { after: number }, until: number): Promise<readonly LedgerEvent[]> {
  try {
    return await ledger.read({ ...query, limit: until - query.after });
  } catch (error) {
    if (codeOf(error) !== 'ledger_collected') throw error;
    if (until - query.after <= 1) return [];
    const middle = Math.floor((query.after + until) / 2);
    return [...(await readable(ledger, query, middle)), ...(await readable(ledger, { ...query, after: middle }, until))];
  }
}
