/** What a pattern is given, and the small things that all of them need. */
import type { AgentDefinition } from '../agents/definition.ts';
import type { RunId } from '../base/ids.ts';
import type { Result } from '../base/result.ts';
import type { UserMessage } from '../events/messages.ts';
import type { Ending, Exit, SessionResult } from '../session/port.ts';
import type { RunResult, Seat, Steps } from './steps.ts';

export interface AgentRun {
  readonly agent: AgentDefinition;
  readonly run: RunId;
  readonly input: UserMessage;
  /** The run's place in a team, if it has one. */
  readonly seat: Seat | undefined;
  /** Goes on with the conversation of an earlier run in the same pattern: a later cycle, or a clarification. */
  readonly goesOn: boolean;
  /** Tightens the agent's own limit of turns. */
  readonly maxTurns: number | undefined;
  /** Only the agent's own session is wanted: as a planner without tools, or as an evaluator. */
  readonly part: 'planner' | 'evaluator' | undefined;
  readonly steps: Steps;
  /** What a file that the agent names for context holds, cut to size and recorded; `undefined` when it names none. */
  context(kind: 'shared' | 'routing', file: string | undefined): Promise<string | undefined>;
  /** A word that changes when something was achieved that the runtime saw: a file change, another test result. */
  progress(): Promise<string>;
  /** The agent's own session: turns until it ends. */
  session(request: SessionRequest): Promise<SessionResult>;
}

export interface SessionRequest {
  readonly input: UserMessage;
  /** Further tools that end the session. */
  readonly exits?: readonly Exit[];
  /** Hears, before each turn, what was broadcast to this seat. */
  readonly seat?: Seat;
  /** Whether the agent may also end with a report. */
  readonly reports: boolean;
  /** What an answer without tool calls amounts to; the report unless said. */
  readonly plain?: (text: string) => Result<Ending, string>;
}

/** What the core came to: its result, and the destination if it chose one. */
export interface Answered {
  readonly result: RunResult;
  readonly route?: { readonly agent: string; readonly message?: string } | undefined;
}

export function resultOf(run: Pick<AgentRun, 'agent' | 'run'>, session: SessionResult): RunResult {
  const { status, report, claims, error, turns } = session;
  return { status, report, finalAgent: run.agent.name, finalRun: run.run, turns, claims, error };
}

export const succeeded = (result: RunResult): boolean =>
  result.status === 'completed' || result.status === 'completed_unverified';
