/** Full-text search over all sessions that somebody may see, newest first. */
import { codeOf } from '../../base/errors.ts';
import { eventId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger } from '../../ledger/port.ts';
import { createSight, type Seer } from '../sight.ts';
import { type FoundPlace, type SessionIndex, wordsOf } from './search-index.ts';
import { searchableText } from './searchable-text.ts';

export interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  /** `next` of the page before. */
  readonly before?: number | undefined;
}

type Reading = Pick<Ledger, 'read' | 'runs'>;

export async function searchSessions(index: SessionIndex, ledger: Reading, seer: Seer, { query, limit, before }: SearchRequest) {
  const words = wordsOf(query);
  if (words.length === 0) return { found: [], complete: true, next: null };
  const complete = (await index.follow()) === 'complete';
  const sees = createSight(ledger, seer);
  const found: ReturnType<typeof foundValue>[] = [];
  let from = before ?? Number.MAX_SAFE_INTEGER;
  // What others have is passed over, so more may have to be looked at than is told.
  for (let looked = 0; looked < limits.searchLooked && found.length < limit; ) {
    const page = index.find(query, from, Math.min(limit, limits.searchLooked - looked));
    looked += page.length;
    for (const place of page) {
      if (found.length === limit) break;
      from = place.id;
      if (sees !== undefined && !(await sees({ session: place.session, type: 'run.ended' }))) continue;
      const event = await eventAt(index, ledger, place);
      if (event !== undefined) found.push(foundValue(event, words));
    }
    if (page.length === 0) return { found, complete, next: null };
  }
  return { found, complete, next: from };
}

async function eventAt(
  index: SessionIndex,
  ledger: Reading,
  { session, position }: FoundPlace,
): Promise<LedgerEvent | undefined> {
  try {
    return (await ledger.read({ session, after: position - 1, limit: 1 }))[0];
  } catch (error) {
    if (codeOf(error) !== 'ledger_collected') throw error;
    index.forget(session);
    return undefined;
  }
}

function foundValue(event: LedgerEvent, words: readonly string[]) {
  const { session_id: session, position, run_id: run, event_type: type, timestamp: at, actor } = event;
  return {
    event: eventId(session, position),
    session,
    position,
    run,
    type,
    at,
    actor,
    text: around(searchableText(event), words),
  };
}

/** A few words on both sides of the first that was looked for. */
function around(text: string, words: readonly string[]): string {
  const plain = text.replaceAll(/\s+/g, ' ');
  const small = plain.toLowerCase();
  const at = Math.max(
    0,
    Math.min(...words.map((word) => small.indexOf(word.toLowerCase())).filter((place) => place >= 0), plain.length),
  );
  const start = Math.max(0, (at === plain.length ? 0 : at) - limits.searchSnippetCharacters / 3);
  const end = start + limits.searchSnippetCharacters;
  return `${start > 0 ? '…' : ''}${plain.slice(start, end)}${end < plain.length ? '…' : ''}`;
}
