/** What the endpoint for front-ends that speak AG-UI is made of. */
import type { ActingNeeds } from '../../front/acts.ts';
import type { ChatNeeds } from '../../front/chat/needs.ts';

export interface AgUiNeeds {
  readonly chat: ChatNeeds;
  readonly acting: ActingNeeds;
  /** Trouble that is not the caller's. */
  onError(error: Error): void;
}
