/** The prompts of a session that wait their turn, oldest first: queued, not dropped, and without a run yet. */
import type { Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';

export type QueuedPrompt = Payloads['prompt.queued'] & { readonly queuedAt: string };

/** By their ids, in order. */
export type PromptQueue = Map<string, QueuedPrompt>;

/** What has to be read to know the queue. */
export const queueTypes = ['prompt.queued', 'prompt.dropped', 'run.started'] as const;

export const initialQueue = (): PromptQueue => new Map();

/** Updates and returns the accumulator it was given. */
export function foldQueue(waiting: PromptQueue, event: LedgerEvent): PromptQueue {
  if (event.event_type === 'prompt.queued') waiting.set(event.payload.prompt, { ...event.payload, queuedAt: event.timestamp });
  else if (event.event_type === 'prompt.dropped') waiting.delete(event.payload.prompt);
  else if (event.event_type === 'run.started') waiting.delete(event.run_id);
  return waiting;
}

export function waitingPrompts(events: readonly LedgerEvent[]): readonly QueuedPrompt[] {
  return [...events.reduce(foldQueue, initialQueue()).values()];
}
