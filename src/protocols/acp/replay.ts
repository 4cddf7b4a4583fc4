/** What was said and done in a session, for a client that loads it: the newest of it, from where somebody began to speak. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { textOf } from '../../events/messages.ts';
import { parentRun } from '../../events/run-origin.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { createUpdates, messageChunk, type Updates } from '../acp-wire/updates.ts';

const SHOWN: readonly EventType[] = ['run.started', 'model.response', 'tool.call', 'tool.result', 'run.ended'];

export async function replay(
  ledger: Pick<Ledger, 'read'>,
  session: SessionId,
  workspace: string,
  tell: (update: SessionUpdate) => void,
): Promise<void> {
  const takenBack = new Set<string>();
  for await (const { run_id: run } of readEvents(ledger, { session, types: ['run.withdrawn'] })) takenBack.add(run);
  const [newest] = await ledger.read({ session, newest: true, limit: 1 });
  const after = Math.max(0, (newest?.position ?? 0) - limits.acpReplayEvents);
  let shown: Updates | undefined;
  let root = '';
  let said = '';
  for await (const event of readEvents(ledger, { session, after, types: SHOWN })) {
    if (isRootStart(event)) {
      root = event.run_id;
      said = '';
      shown = takenBack.has(root) ? undefined : createUpdates(event.run_id, workspace);
      if (shown !== undefined) for (const update of spoken(event)) tell(update);
    }
    if (shown === undefined) continue;
    if (event.run_id === root && event.event_type === 'model.response') {
      const text = textOf(event.payload.message.content.filter((part) => part.type === 'text'));
      if (text.trim() !== '') tell(messageChunk(text, `${root}/turn/${event.payload.turn}`));
      if (text.trim() !== '') said = text;
    }
    for (const update of shown.of(event)) tell(update);
    if (event.run_id === root && event.event_type === 'run.ended') {
      const { body } = event.payload.report;
      if (body.trim() !== said.trim()) tell(messageChunk(body, `${root}/report`));
    }
  }
}

const isRootStart = (event: LedgerEvent): event is EventOf<'run.started'> =>
  event.event_type === 'run.started' && parentRun(event.payload) === undefined;

function spoken({ run_id: run, payload }: EventOf<'run.started'>): readonly SessionUpdate[] {
  const { input } = payload;
  if (input.role !== 'user') return [];
  return input.content.map((part) => ({
    ...{ sessionUpdate: 'user_message_chunk', messageId: `${run}/input` },
    content:
      part.type === 'text' ? { type: 'text', text: part.text } : { type: 'image', mimeType: part.mediaType, data: part.data },
  }));
}
