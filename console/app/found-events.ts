/**
 * What was said in any session, as `GET /search` finds it: asked for a moment after the last letter. An index that is not through
 * yet is asked again, and what it has found so far is shown meanwhile.
 */
import { useEffect, useState } from 'react';
import { get, type Refusal } from '../api/client.ts';
import type { SearchFound } from '../api/types.ts';

export type FoundEvents =
  | { readonly state: 'nothing asked' | 'asked' }
  | { readonly state: 'there'; readonly found: SearchFound['found']; readonly complete: boolean }
  | { readonly state: 'refused'; readonly refusal: Refusal };

const SETTLE_MS = 200;
const SHOWN = 12;
/** One letter is in everything. */
const LEAST_CHARACTERS = 2;
const MOST_CHARACTERS = 1_000;

export function useFoundEvents(text: string): FoundEvents {
  const words = text.trim();
  const isAsked = words.length >= LEAST_CHARACTERS && words.length <= MOST_CHARACTERS;
  const [answer, setAnswer] = useState<{ readonly words: string; readonly events: FoundEvents }>();
  useEffect(() => {
    if (!isAsked) return;
    const stopping = new AbortController();
    const timer = setTimeout(() => {
      void search(words, stopping.signal, (events) => setAnswer({ words, events }));
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [words, isAsked]);
  if (!isAsked) return { state: 'nothing asked' };
  return answer?.words === words ? answer.events : { state: 'asked' };
}

async function search(query: string, signal: AbortSignal, tell: (events: FoundEvents) => void): Promise<void> {
  for (let isComplete = false; !isComplete; ) {
    const asked = await get<SearchFound>('/search', { query, limit: SHOWN }, signal);
    if (signal.aborted) return;
    if (!asked.ok) return tell({ state: 'refused', refusal: asked.error });
    isComplete = asked.value.complete;
    tell({ state: 'there', ...asked.value });
  }
}
