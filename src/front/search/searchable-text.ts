/** The words of an event that somebody would look for: what people, agents and tools said. */
import { limits } from '../../base/limits.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';

const TYPES: ReadonlySet<EventType> = new Set<EventType>([
  ...(['run.started', 'run.ended', 'model.response', 'tool.result', 'message.sent', 'prompt.queued'] as const),
  ...(['approval.asked', 'approval.answered', 'task.clarify', 'task.error', 'task.summary', 'team.broadcast'] as const),
]);
/** Fields that hold no words. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'type',
  'role',
  'kind',
  'id',
  'run',
  'parent',
  'shown',
  'digest',
  'data',
  'mediaType',
]);

export function searchableText(event: LedgerEvent): string {
  if (!TYPES.has(event.event_type)) return '';
  const words: string[] = [];
  let left: number = limits.searchTextCharacters;
  const collect = (value: unknown): void => {
    if (left <= 0) return;
    if (typeof value === 'string') {
      words.push(value.slice(0, left));
      left -= value.length + 1;
    } else if (Array.isArray(value)) value.forEach(collect);
    else if (value !== null && typeof value === 'object')
      for (const [name, inner] of Object.entries(value)) if (!LEFT_OUT.has(name)) collect(inner);
  };
  collect(event.payload);
  return words.join('\n');
}
