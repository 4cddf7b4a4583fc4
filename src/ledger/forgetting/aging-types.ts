/** The types of events that may be kept for a shorter time than the session they are of. */
import { type EventType, eventTypes } from '../../events/catalogue.ts';

/** What a session is, and what has a time of its own (`artifacts.keep`). */
const OF_THE_SESSION: ReadonlySet<EventType> = new Set<EventType>([
  ...(['session.started', 'session.imported', 'transcript.imported', 'environment.recorded'] as const),
  ...(['artifact.stored', 'artifact.part', 'artifact.pinned', 'artifact.manifest'] as const),
]);

export const agingTypes: readonly EventType[] = eventTypes.filter((type) => !OF_THE_SESSION.has(type));
