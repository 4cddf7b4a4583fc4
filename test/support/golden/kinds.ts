/** Of which kinds a recorded session is, told from its events alone: of whatever release they are. */
import { recordedDefinition } from '../../../src/engine/record/agent-setup.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';

/** Everything that a session can be. What is new gets a name here, and sessions in the golden ledger. */
export const sessionKinds = [
  'alone',
  ...(['handoff', 'router', 'advisors', 'team', 'dispatch', 'architect'] as const),
  ...(['group: broadcast', 'group: sequential', 'group: orchestrator', 'group: reflect', 'group that is kept'] as const),
  ...(['sub-agents', 'clarifications', 'assistants', 'a client’s'] as const),
  ...(['executor', 'built-in executor', 'agent elsewhere'] as const),
  ...(['several prompts', 'fork', 'went on after an end', 'condensed'] as const),
  ...(['a person answered', 'permission given', 'commands demanded', 'cancelled', 'cancelled below', 'out of budget'] as const),
] as const;
export type SessionKind = (typeof sessionKinds)[number];

export function kindsOf(events: readonly LedgerEvent[]): readonly SessionKind[] {
  const kinds = new Set(events.flatMap(kindsIn));
  const roots = new Set(events.flatMap((event) => (event.event_type === 'run.started' && isRoot(event) ? [event.run_id] : [])));
  if (roots.size > 1) kinds.add('several prompts');
  if (events.some((event) => isCancel(event) && !roots.has(event.run_id))) kinds.add('cancelled below');
  const isAlone = events.filter(({ event_type: type }) => type === 'run.started').length === 1;
  if (isAlone) kinds.add('alone');
  return sessionKinds.filter((kind) => kinds.has(kind));
}

type Started = Extract<LedgerEvent, { event_type: 'run.started' }>;

const isRoot = ({ payload: { origin } }: Started): boolean => !('parent' in origin);

const isCancel = (event: LedgerEvent): boolean => event.event_type === 'run.signalled' && event.payload.signal === 'cancel';

function kindsIn(event: LedgerEvent): readonly SessionKind[] {
  switch (event.event_type) {
    case 'session.started':
      return event.payload.forked === undefined ? [] : ['fork'];
    case 'session.config':
      return kindsOfAgent(recordedDefinition(event.payload));
    case 'run.started':
      return ORIGINS[event.payload.origin.kind] ?? [];
    case 'run.reopened':
      return event.payload.forked === undefined ? ['went on after an end'] : [];
    case 'run.signalled':
      return isCancel(event) ? ['cancelled'] : [];
    case 'run.ended':
      return event.payload.exhausted === undefined ? [] : ['out of budget'];
    case 'approval.answered':
      return [event.payload.answer.kind === 'text' ? 'a person answered' : 'permission given'];
    case 'evidence.checked':
      return event.payload.demanded === undefined ? [] : ['commands demanded'];
    case 'task.summary':
      return ['condensed'];
    default:
      return [];
  }
}

const ORIGINS: Readonly<Partial<Record<Started['payload']['origin']['kind'], readonly SessionKind[]>>> = {
  call: ['sub-agents'],
  clarification: ['clarifications'],
  assistant: ['assistants'],
  client: ['a client’s'],
  group: ['group that is kept'],
};

function kindsOfAgent(agent: ReturnType<typeof recordedDefinition>): readonly SessionKind[] {
  const { handoff, router, advisors = [], team, dispatch, architect, group, executor, remote } = agent;
  const found: readonly (readonly [SessionKind, boolean])[] = [
    ['handoff', handoff !== undefined],
    ['router', router !== undefined],
    ['advisors', advisors.length > 0],
    ['team', team !== undefined],
    ['dispatch', dispatch !== undefined],
    ['architect', architect !== undefined],
    ['executor', executor !== undefined],
    ['built-in executor', executor?.name === 'builtin'],
    ['agent elsewhere', remote !== undefined],
  ];
  const kinds = found.flatMap(([kind, is]) => (is ? [kind] : []));
  return group === undefined ? kinds : [...kinds, `group: ${group.mode}`];
}
