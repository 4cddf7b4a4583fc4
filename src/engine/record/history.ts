/**
 * What was said in the runs that a run goes on with, back to where it was condensed last. Only those runs are read, and of the
 * others what they said to them: the cost grows with what a model is sent, not with the session.
 */

import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Message } from '../../events/messages.ts';
import { broadcastTypes } from '../../events/pattern-events.ts';
import type { Ledger } from '../../ledger/port.ts';
import { messageTokens } from '../../models/tokens.ts';
import { createTranscripts } from '../../projections/transcript.ts';
import { readAll, sealedError } from './read-all.ts';
import { foreign } from './said-by-others.ts';

const SPOKEN: readonly EventType[] = [
  'run.started',
  'model.request',
  'model.response',
  'tool.result',
  'task.summary',
  'context.noted',
  'run.reopened',
  'run.ended',
];

const SAID: readonly EventType[] = [...broadcastTypes, 'message.sent'];
/** Of a run that is not long this is all of it. */
const NEWEST = 100;

/**
 * A run that has ended says nothing more, so what was said up to its end need not be read twice: the next one that goes on
 * with it reads what this one added. The messages are the same objects in all of them.
 */
interface Kept {
  readonly conversations: Map<string, { readonly messages: readonly Message[]; readonly tokens: number }>;
  tokens: number;
}
const keptOf = new WeakMap<Ledger, Kept>();

/** Of what was forgotten nothing may be known from before, and nothing that stands in its place is sent to a model. */
export async function conversationOf(ledger: Ledger, session: SessionId, run: string): Promise<readonly Message[]> {
  const isWhole = !(await ledger.hasForgotten(session));
  const kept = keptOf.get(ledger) ?? { conversations: new Map(), tokens: 0 };
  keptOf.set(ledger, kept);
  const spoken: LedgerEvent[] = [];
  const transcripts = createTranscripts();
  const passed = new Set<string>();
  // In a ledger that is not as it should be, runs may go on with each other.
  for (let at: string | undefined = run; at !== undefined && !passed.has(at); ) {
    passed.add(at);
    const known = isWhole ? kept.conversations.get(at) : undefined;
    if (known !== undefined) {
      transcripts.seed(at, known.messages);
      break;
    }
    const own = await spokenIn(ledger, session, at as RunId);
    spoken.push(...own.events);
    at = own.continues;
  }
  const said = [...(await saidByOthers(ledger, session, spoken)), ...spoken];
  const gone = said.find((event) => event.forgotten !== undefined);
  if (gone !== undefined) throw sealedError(`What was said before (${gone.event_id})`, gone.inexact ?? '');
  for (const event of said) transcripts.apply(event);
  const messages = transcripts.closed(run);
  if (spoken.some((event) => event.run_id === run && event.event_type === 'run.ended')) keep(kept, run, messages);
  return messages;
}

/** The ones that were used last, as many as fit. */
function keep(kept: Kept, run: string, messages: readonly Message[]): void {
  const tokens = messages.reduce((sum, message) => sum + messageTokens(message), 0);
  // Two may have read it at the same time.
  kept.tokens -= kept.conversations.get(run)?.tokens ?? 0;
  kept.conversations.delete(run);
  kept.conversations.set(run, { messages, tokens });
  kept.tokens += tokens;
  for (const [oldest, { tokens: gone }] of kept.conversations) {
    if (kept.conversations.size <= limits.conversationsKept && kept.tokens <= limits.conversationTokensKept) return;
    kept.conversations.delete(oldest);
    kept.tokens -= gone;
  }
}

/** What was said in one run since it was condensed last; what came before is in there then, and no earlier run is needed. */
async function spokenIn(
  ledger: Ledger,
  session: SessionId,
  run: RunId,
): Promise<{ readonly events: LedgerEvent[]; readonly continues: string | undefined }> {
  const newest = await ledger.read({ session, run, types: SPOKEN, newest: true, limit: NEWEST, exact: true });
  const events = newest.length < NEWEST ? newest.toReversed() : await sinceSummary(ledger, session, run);
  const summary = events.findLastIndex((event) => event.event_type === 'task.summary');
  const started = events.findLast((event) => event.event_type === 'run.started');
  if (summary !== -1)
    return { events: [...(started === undefined ? [] : [started]), ...events.slice(summary)], continues: undefined };
  return { events, continues: started?.event_type === 'run.started' ? started.payload.continues : undefined };
}

async function sinceSummary(ledger: Ledger, session: SessionId, run: RunId): Promise<LedgerEvent[]> {
  const [summary] = await ledger.read({ session, run, types: ['task.summary'], newest: true, limit: 1 });
  if (summary === undefined) return await readAll(ledger, session, { run, types: SPOKEN });
  const started = await ledger.read({ session, run, types: ['run.started'], newest: true, limit: 1, exact: true });
  return [...started, ...(await readAll(ledger, session, { run, types: SPOKEN, after: summary.position - 1 }))];
}

/** Only those whom a request refers to are read. */
async function saidByOthers(ledger: Ledger, session: SessionId, spoken: readonly LedgerEvent[]): Promise<LedgerEvent[]> {
  const runs = new Set<string>();
  for (const event of spoken)
    if (event.event_type === 'model.request') for (const { run } of foreign(event.payload)) runs.add(run);
  const said: LedgerEvent[] = [];
  for (const run of runs) said.push(...(await readAll(ledger, session, { run: run as RunId, types: SAID })));
  return said;
}
