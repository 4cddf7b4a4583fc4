/** What is said of a transcript that was taken over. */
import { counted } from '../../base/wording.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { firstLine, readableBytes } from '../readable.ts';

type TranscriptEvent = EventOf<'transcript.record'> | EventOf<'transcript.imported'>;

const RAW_CHARACTERS = 80;

export const isTranscriptEvent = (event: LedgerEvent): event is TranscriptEvent =>
  event.event_type === 'transcript.record' || event.event_type === 'transcript.imported';

export function transcriptLine(event: TranscriptEvent): readonly ['detail' | 'info', string] {
  if (event.event_type === 'transcript.record') {
    const { kind, raw, bytes } = event.payload;
    return ['detail', `record ${kind}, ${readableBytes(bytes)}: ${firstLine(raw, RAW_CHARACTERS)}`];
  }
  const { runs, answers, results, records } = event.payload;
  const parts = [counted(runs, 'run'), counted(answers, 'answer'), counted(results, 'result'), counted(records, 'record')];
  return ['info', `transcript taken over: ${parts.join(', ')}`];
}
