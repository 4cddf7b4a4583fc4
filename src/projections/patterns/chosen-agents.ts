/** Whom a run chose for its request, where its pattern chooses, how sure it was, and what those who were chosen answered. */
import { present } from '../../base/present.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';

/** A choice with what it rests on; the names of the fields are those that others read. */
export type AgentChoice = {
  readonly agentId: string;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly reasoning?: string | undefined;
  readonly additionalAgents?: readonly string[] | undefined;
  /** What each of them was told to do. */
  readonly agentInstructions?: readonly { readonly agentId: string; readonly instruction: string }[] | undefined;
};

/** What became of one that was chosen. */
export type DispatchedAnswer = {
  readonly agentId: string;
  readonly content: string;
  readonly success: boolean;
  /** Only where it failed. */
  readonly errorMessage?: string | undefined;
  readonly executionTimeMs: number;
};

/** While it has a question to the user, that is what it answered; what it says afterwards takes its place. */
export type DispatchedSoFar = DispatchedAnswer & { readonly needsInput?: boolean | undefined };

/** One answer of each. The time before its question was answered was its own as well. */
export function withDispatched(answers: readonly DispatchedSoFar[], event: LedgerEvent, shown: (content: string) => string) {
  const answer = agentAnswer(event);
  if (answer === undefined) return undefined;
  const before = answers.findLast(({ agentId, needsInput }) => needsInput === true && agentId === answer.agentId);
  const executionTimeMs = answer.executionTimeMs + (before?.executionTimeMs ?? 0);
  const now: DispatchedSoFar = { ...answer, content: shown(answer.content), executionTimeMs };
  return before === undefined ? [...answers, now] : answers.map((one) => (one === before ? now : one));
}

export interface ChosenAgents {
  readonly agents: readonly string[];
  /** Where it is known how sure the choice was. */
  readonly choice?: AgentChoice | undefined;
}

/** Failures for which the agent's own file has the words: what went wrong inside is for its owner. */
export const endsInOwnWords: ReadonlySet<string> = new Set(['all_agents_failed', 'no_fallback']);

/** The events in which somebody is chosen, or has answered. */
export const choosingTypes = ['router.chose', 'dispatch.chose', 'dispatch.responded'] as const satisfies readonly EventType[];

export function chosenAgents(event: LedgerEvent): ChosenAgents | undefined {
  if (event.event_type === 'router.chose') return { agents: [event.payload.agent] };
  if (event.event_type !== 'dispatch.chose') return undefined;
  const { agentId, confidence, reasoning, additionalAgents, agentInstructions } = event.payload;
  const choice = { agentId, confidence, ...present({ reasoning, additionalAgents, agentInstructions }) };
  return { agents: [agentId, ...(additionalAgents ?? [])], choice };
}

function agentAnswer(event: LedgerEvent): DispatchedSoFar | undefined {
  if (event.event_type !== 'dispatch.responded') return undefined;
  const { agentId, content, success, errorMessage, executionTimeMs, needsInput } = event.payload;
  return { agentId, content, success, ...present({ errorMessage: errorMessage ?? undefined, needsInput }), executionTimeMs };
}

/** As others read it. */
export const answerOnly = ({ needsInput: _needsInput, ...answer }: DispatchedSoFar): DispatchedAnswer => answer;
