/** What of an event that a pattern records is a decision. The rest is said in words of agents, or made of time. */
import { isJsonObject, type Json } from '../../base/json.ts';
import { type PatternEventType, patternEvents } from '../../events/pattern-events.ts';

const DECISIONS: Readonly<Record<PatternEventType, readonly string[]>> = {
  'handoff.made': ['to', 'include'],
  'router.chose': ['agent'],
  'advisor.reported': ['advisor', 'finalAgent', 'status'],
  'team.broadcast': ['cycle', 'type', 'memberId', 'final'],
  'member.exited': ['memberId', 'cycle'],
  'group.planned': ['iteration', 'assignments', 'unknown', 'accepted', 'direct'],
  'group.evaluated': ['iteration', 'score', 'evaluator', 'goalMet'],
  'group.stalled': ['iteration', 'stops'],
  'group.ended': ['outcome', 'reason', 'iterations'],
  'dispatch.chose': ['agentId', 'confidence', 'additionalAgents', 'decision', 'round', 'leftOut'],
  'dispatch.responded': ['agentId', 'success', 'status', 'needsInput'],
  'task.snapshot': [],
  'task.package': ['executor', 'verify'],
  'task.policy': ['trigger', 'action', 'executor', 'to'],
  'task.judged': ['verdict', 'by'],
  'task.merged': ['files'],
};

/** Words of agents inside of decisions. */
const SAID: readonly string[] = ['task', 'instruction'];

export const isDecision = (type: string): type is PatternEventType => type in patternEvents;

export function decisionIn(type: PatternEventType, payload: Json): Json {
  if (!isJsonObject(payload)) return null;
  const fields = DECISIONS[type].filter((name) => payload[name] !== undefined);
  return Object.fromEntries(fields.map((name) => [name, withoutWords(payload[name])]));
}

function withoutWords(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map((one: Json) => withoutWords(one));
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !SAID.includes(name)));
}
