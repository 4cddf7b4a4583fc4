/**
 * What a scenario of a pattern is: agents, a model that answers by a function, and what must come of it. Scenarios are data;
 * they are played by hand (test/support/patterns/steps-twin.ts), on the embedded engine, and cut at every append.
 */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { Clock } from '../../../src/base/clock.ts';
import type { EventType, Payloads, Verification } from '../../../src/events/catalogue.ts';
import { textOf } from '../../../src/events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { agent, calls, turnOf } from '../world.ts';

export interface Scenario {
  readonly name: string;
  readonly pattern:
    | 'handoff'
    | 'router'
    | 'advisors'
    | 'team'
    | 'sub-agents'
    | 'clarifications'
    | 'compositions'
    | 'groups'
    | 'dispatch'
    | 'architect'
    | 'verification'
    | 'remote agents'
    | 'executors';
  /** The first one is asked. */
  readonly agents: readonly AgentDefinition[];
  readonly prompt: string;
  /** Said afterwards in the same session; what is expected is then the answer to this. */
  readonly afterwards?: string;
  /** Where waiting is part of the play: a clock that makes it short. */
  readonly clock?: Clock;
  /**
   * With a clock of its own: it ends so at any pace, also in real time. What others expect of their clock, that time passes only
   * while nothing happens, is not so where a server works beside it.
   */
  readonly anyPace?: true;
  /** What the user says when asked. */
  readonly answer?: (question: string) => string;
  /** The same answer to the same request, also in another life. */
  brain(request: ModelRequest): ModelOutcome | Promise<ModelOutcome>;
  readonly expect: {
    readonly status?: RunResult['status'];
    readonly body?: string;
    readonly finalAgent: string;
    readonly error?: RegExp;
    readonly verification?: Verification['state'];
  };
  /** What else must be true of a play that nothing disturbed. Throws when it is not. */
  check?(played: ScenarioRun): void;
  /** Why it cannot be played by hand. */
  readonly engineOnly?: string;
  /** Why it need not end as it would have when it is cut: rows without it do. */
  readonly uncut?: string;
  /** The one of its pattern that is cut at every single append; the others at a sample. */
  readonly everyCut?: boolean;
}

export type ScenarioEvent = {
  [Type in EventType]: {
    readonly type: Type;
    readonly run: string;
    readonly agent: string;
    readonly step: string;
    readonly payload: Payloads[Type];
  };
}[EventType];

export type ScenarioEventOf<Type extends EventType> = Extract<ScenarioEvent, { type: Type }>;

/** What happened in a scenario, whoever played it. */
export interface ScenarioRun {
  readonly result: RunResult;
  /** Every model call, in the order they were made. */
  readonly asked: readonly ModelRequest[];
  readonly events: readonly ScenarioEvent[];
}

export const eventsOf = <Type extends EventType>(played: Pick<ScenarioRun, 'events'>, type: Type): ScenarioEventOf<Type>[] =>
  played.events.filter((event): event is ScenarioEventOf<Type> => event.type === type);

/** What an agent was asked, call by call. */
export const askedOf = (played: ScenarioRun, name: string): readonly ModelRequest[] =>
  played.asked.filter((request) => request.agent === name);

/** Everything that was said to the model in a request: the user's side and the results of tools. */
export function told(request: ModelRequest | undefined): string {
  const texts = (request?.messages ?? []).map((message) => {
    if (message.role === 'tool') return message.content.map((part) => textOf(part.content)).join('\n');
    return message.role === 'user' ? textOf(message.content) : '';
  });
  return texts.join('\n\n');
}

/** What stands before an answer that claims nothing. */
export const UNCHECKED_LINE = 'Verification by the runtime: unchecked: nothing was claimed and nothing demanded.';

export const occurrences = (text: string, part: string): number => text.split(part).length - 1;

export const toolsOf = (request: ModelRequest | undefined): string[] => (request?.tools ?? []).map((tool) => tool.name);

type Play = (request: ModelRequest, turn: number) => ModelOutcome | Promise<ModelOutcome>;

/** A model that answers as each agent's play says. `turn` counts the whole conversation, earlier cycles included. */
export const byAgent =
  (plays: Readonly<Record<string, Play>>) =>
  (request: ModelRequest): ModelOutcome | Promise<ModelOutcome> =>
    plays[request.agent ?? '']?.(request, turnOf(request)) ?? fails(`nobody plays ${request.agent}`);

export const fails = (message: string): ModelOutcome => ({ kind: 'failed', error: { kind: 'refused', message } });

/** A call that only ends when it is stopped. */
export const never = (request: ModelRequest): Promise<ModelOutcome> =>
  new Promise((resolve) => {
    const stop = (): void => resolve({ kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } });
    if (request.signal.aborted) stop();
    else request.signal.addEventListener('abort', stop, { once: true });
  });

export const broadcasts = (message: string, final = false): ModelOutcome =>
  calls({ name: 'team_broadcast', input: { message, ...(final ? { final } : {}) }, id: 'say' });

/** An agent without tools unless said. */
export const actor = (name: string, changes: Partial<AgentDefinition> = {}): AgentDefinition =>
  agent({ name, source: `agents/${name}.md`, prompt: `You are ${name}.`, tools: [], ...changes });
