/**
 * What was said in the runs that a run goes on with. Only those runs are read, and of the others what they said to their
 * team: the cost grows with the conversation, not with the session.
 */
import type { RunId, SessionId } from '../base/ids.ts';
import type { EventType } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Message } from '../events/messages.ts';
import type { Ledger } from '../ledger/port.ts';
import { createTranscripts } from '../projections/transcript.ts';
import { foreign } from './channel.ts';
import { readAll } from './read-all.ts';

const SPOKEN: readonly EventType[] = [
  'run.started',
  'model.request',
  'model.response',
  'tool.result',
  'task.summary',
  'context.noted',
];

export async function conversationOf(ledger: Ledger, session: SessionId, run: string): Promise<readonly Message[]> {
  const spoken: LedgerEvent[] = [];
  for (let at: string | undefined = run; at !== undefined; ) {
    const own: LedgerEvent[] = await readAll(ledger, session, { run: at as RunId, types: SPOKEN });
    spoken.push(...own);
    const started = own.find((event) => event.event_type === 'run.started');
    at = started?.event_type === 'run.started' ? started.payload.continues : undefined;
  }
  const heard = spoken.some((event) => event.event_type === 'model.request' && foreign(event.payload).length > 0);
  const others = heard ? await readAll(ledger, session, { types: ['team.broadcast', 'message.sent'] }) : [];
  const transcripts = createTranscripts();
  for (const event of [...others, ...spoken]) transcripts.apply(event);
  return transcripts.closed(run);
}
