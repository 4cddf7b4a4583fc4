/** What the endpoint for clients of OpenAI is made of. */
import type { ChatNeeds } from '../../front/chat/needs.ts';

export interface OpenAiNeeds {
  readonly chat: ChatNeeds;
  /** Trouble that is not the caller's. */
  onError(error: Error): void;
}
