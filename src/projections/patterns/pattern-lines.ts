/** How the events of patterns show: as readable lines, as notes in the tree, and as what stands side by side. */
import { unreachable } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { type PatternEventType, patternEvents } from '../../events/pattern-events.ts';
import { firstLine } from '../readable.ts';

export type RecordedByPattern = { [Type in PatternEventType]: EventOf<Type> }[PatternEventType];

const TEXT_CHARACTERS = 160;

export const isPatternEvent = (event: LedgerEvent): event is RecordedByPattern => event.event_type in patternEvents;

export function patternLine(event: RecordedByPattern): ['detail' | 'info' | 'warn', string] {
  switch (event.event_type) {
    case 'handoff.made':
      return ['info', `hands over to ${event.payload.to}`];
    case 'router.chose': {
      const { agent, message } = event.payload;
      return ['info', `routes to ${agent}${message === undefined ? '' : `: ${firstLine(message, TEXT_CHARACTERS)}`}`];
    }
    case 'advisor.reported': {
      const { advisor, finalAgent, status } = event.payload;
      const who = advisor === finalAgent ? advisor : `${advisor} (through ${finalAgent})`;
      return [status === 'completed' ? 'info' : 'warn', `advice of ${who}: ${status}`];
    }
    case 'team.broadcast': {
      const { type, memberId, cycle, message } = event.payload;
      return [type === 'failure' ? 'warn' : 'info', `cycle ${cycle}, ${memberId} says: ${firstLine(message, TEXT_CHARACTERS)}`];
    }
    case 'member.exited':
      return ['info', `${event.payload.memberId} leaves the team: ${event.payload.reason}`];
    case 'group.planned': {
      const { iteration, assignments, unknown } = event.payload;
      const to = assignments.map(({ worker }) => worker).join(', ') || 'nobody';
      const stray = unknown.length === 0 ? '' : `; unknown: ${unknown.join(', ')}`;
      return [assignments.length === 0 ? 'warn' : 'info', `iteration ${iteration}: assigns to ${to}${stray}`];
    }
    case 'group.evaluated': {
      const { iteration, score, trend, goalMet, rationale } = event.payload;
      const verdict = goalMet ? 'goal met' : firstLine(rationale, TEXT_CHARACTERS);
      return ['info', `iteration ${iteration}: scored ${score} (${trend}): ${verdict}`];
    }
    case 'group.stalled':
      return ['warn', `iteration ${event.payload.iteration}: says the same as before (${event.payload.consecutive} in a row)`];
    case 'group.ended':
      return [event.payload.outcome === 'met' ? 'info' : 'warn', event.payload.summary];
    case 'dispatch.chose':
      return [event.payload.decision === 'route' ? 'info' : 'warn', choiceLine(event.payload)];
    case 'dispatch.responded': {
      const { agentId, success, content, errorMessage, attempts, needsInput } = event.payload;
      const how = success ? (needsInput === true ? 'asks' : 'answered') : 'failed';
      const often = attempts === 1 ? '' : ` (attempt ${attempts})`;
      return [success ? 'info' : 'warn', `${agentId} ${how}${often}: ${firstLine(errorMessage ?? content, TEXT_CHARACTERS)}`];
    }
    case 'task.snapshot':
      return ['detail', `keeps what is known for ${event.payload.task}: ${counted(event.payload.events.length, 'event')}`];
    case 'task.package': {
      const { task, executor, attempt, verify, planned } = event.payload;
      const again = attempt === 1 ? '' : `, attempt ${attempt}`;
      const does = planned === true ? 'would hand' : 'hands';
      return ['info', `${does} ${task} to ${executor}${again}${verify.length === 0 ? '' : `; must pass: ${verify.join(', ')}`}`];
    }
    case 'task.policy': {
      const { task, trigger, action, to, why, error } = event.payload;
      const then = action === 'downgrade_executor' && to !== undefined ? `it goes to ${to}` : POLICY[action];
      const what = trigger === 'repeated_error' && error?.count === 1 ? TRIGGERS.error : TRIGGERS[trigger];
      // That it was given up is told where it is judged.
      const level = action === 'cancel_and_report' ? 'detail' : 'warn';
      return [level, `${task} ${what}, so ${then}: ${firstLine(why, TEXT_CHARACTERS)}`];
    }
    case 'task.judged': {
      const { task, verdict, why } = event.payload;
      return [
        verdict === 'accepted' ? 'info' : 'warn',
        `${task} ${verdict.replaceAll('_', ' ')}: ${firstLine(why, TEXT_CHARACTERS)}`,
      ];
    }
    case 'task.merged': {
      const { tasks, files, conflicts } = event.payload;
      if (conflicts.length === 0) return ['info', `puts ${tasks.join(', ')} together: ${counted(files, 'file')}`];
      return ['warn', `${tasks.join(', ')} do not fit together in ${conflicts.map(({ path }) => path).join(', ')}`];
    }
    default:
      return unreachable(event);
  }
}

function choiceLine({ agentId, additionalAgents = [], confidence, ...chose }: EventOf<'dispatch.chose'>['payload']): string {
  const { decision, proposed, reasoning, leftOut = [], recalled } = chose;
  const why = reasoning === undefined ? '' : `: ${firstLine(reasoning, TEXT_CHARACTERS)}`;
  const sure = `confidence ${confidence}${recalled === true ? ', as before' : ''}`;
  if (decision === 'fallback') return `falls back to ${agentId}${why}`;
  if (decision === 'clarification') return `is not sure about ${proposed ?? 'anybody'} (${sure})${why}`;
  const stray = leftOut.length === 0 ? '' : `; left out: ${leftOut.join(', ')}`;
  return `sends it to ${[agentId, ...additionalAgents].join(', ')} (${sure})${stray}${why}`;
}

/** What happened to a task, in words. */
const TRIGGERS: Readonly<Record<EventOf<'task.policy'>['payload']['trigger'], string>> = {
  error: 'failed',
  repeated_error: 'failed in the same way again',
  timeout: 'took too long',
  memory: 'used too much memory',
  cli_calls: 'ran too many commands',
  cost: 'cost too much',
  stalled: 'got nowhere',
};

const POLICY: Readonly<Record<EventOf<'task.policy'>['payload']['action'], string>> = {
  retry: 'it is tried again',
  downgrade_executor: 'it goes to another executor',
  shrink_scope: 'it has to be made smaller',
  cancel_and_report: 'it is given up',
};

/** What a run says to the children that it starts next in a role, to all or to each; `undefined` where it says nothing. */
export interface NotesForNext {
  readonly role: string;
  readonly text: string | null;
  /** In the place of the text, for these agents. */
  readonly each?: readonly { readonly agent: string; readonly text: string }[];
}

export function noteForNext(event: LedgerEvent): NotesForNext | undefined {
  if (event.event_type === 'router.chose') return { role: 'router', text: event.payload.message ?? null };
  if (event.event_type !== 'dispatch.chose') return undefined;
  const { agentInstructions = [], confidence, decision, reasoning } = event.payload;
  const text = decision === 'route' ? `confidence ${confidence}` : (reasoning ?? decision);
  const each = agentInstructions.map(({ agentId, instruction }) => ({ agent: agentId, text: `${text}: ${instruction}` }));
  return { role: 'dispatched', text, each };
}

/** How many files the work changes that was put together with this. */
export const filesMerged = (event: LedgerEvent): number | undefined =>
  event.event_type === 'task.merged' ? event.payload.files : undefined;

/** Whether the work goes on from all events of this kind in a run, and not from the last of them. */
export const standsBesideOthers = (event: LedgerEvent): boolean =>
  event.event_type === 'advisor.reported' || event.event_type === 'dispatch.responded';
