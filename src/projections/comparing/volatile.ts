/**
 * What of an event may differ between two plays of the same work: the time it took and when it was, and what is made of chance.
 * Everything else is the same, or the plays differ. Ids of events and their causes are places in one ledger, and no part of a
 * payload. docs/replay.md says why each is here.
 */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { EventType } from '../../events/catalogue.ts';
import { broadcastTypes } from '../../events/pattern-events.ts';

/** Fields of payloads, by the type of the event. */
export const volatileFields: Readonly<Partial<Record<EventType, readonly string[]>>> = {
  'run.ended': ['facts'],
  // It names the run in commands.
  'task.error': ['fix'],
  // Made of the references and the text, which stand beside it; those of a fork have other ids.
  'task.snapshot': ['hash'],
  'message.sent': ['fence'],
  'model.response': ['durationMs'],
  'tool.result': ['durationMs'],
  ...Object.fromEntries(broadcastTypes.map((type) => [type, ['timestamp']])),
};

/** Events that say how the work was carried, and not what was done: in which process, in how many lives, who is still there. */
export const volatileTypes: readonly EventType[] = [
  ...(['run.resumed', 'run.paused', 'run.signalled', 'run.reopened', 'process.started', 'process.ended'] as const),
  'agent.dismissed',
];

/** The payload without what may differ. */
export function lasting(type: EventType, payload: Json): Json {
  const fields = volatileFields[type];
  if (fields === undefined || !isJsonObject(payload)) return payload;
  const left = Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)));
  return type === 'run.ended' && isJsonObject(left['error']) ? { ...left, error: withoutFix(left['error']) } : left;
}

/** What it advises to call names the run. */
const withoutFix = ({ fix: _fix, ...error }: JsonObject): JsonObject => error;
