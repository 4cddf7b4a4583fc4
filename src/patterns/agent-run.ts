/** What a pattern is given, and the small things that all of them need. */
import type { AgentDefinition, GivenContext } from '../agents/definition/definition.ts';
import type { RunId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { Claim, Payloads, Verification } from '../events/catalogue.ts';
import { type UserMessage, userText } from '../events/messages.ts';
import type { PatternEventType } from '../events/pattern-events.ts';
import {
  closedExits,
  type LoopAs,
  loopOnlyAs,
  memberOfGroup,
  parentRun,
  type Seat,
  teamSeat,
  turnsAllowed,
  turnsBefore,
} from '../events/run-origin.ts';
import type { Ending, Exit, LoopResult } from '../loop/port.ts';
import type { RunResult, Steps } from './steps.ts';
import type { TaskSupport } from './task-support.ts';
import { withVerification } from './verification.ts';

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
  /** Turns that it took in earlier runs and that count here. */
  readonly turnsBefore: number;
  /** Only the agent's own loop is wanted, and as what. */
  readonly loopOnly: LoopAs | undefined;
  /** Ways to end its loop that are not open to it this time. */
  readonly closed: readonly string[];
  /** The budgets that this run counts against: its own, those of the runs above it, the project's. */
  readonly scopes: ReadonlySet<string>;
  readonly steps: Steps;
  /** For patterns that hand tasks over. */
  readonly tasks: TaskSupport;
  /** What the agent gives its group as context, from a file or as text: cut to size, recorded; `undefined` when it gives none. */
  context(kind: 'shared' | 'routing', source: GivenContext | undefined): Promise<string | undefined>;
  /** What the files of these agents say about them, in the same order. */
  about(agents: readonly string[]): Promise<About[]>;
  /** What their files say that they can do, in the same order. */
  skills(agents: readonly string[]): Promise<Skills[]>;
  /**
   * What lately a run of the same agent recorded that is accepted, in this session or another; of the newest runs only. Nothing
   * when it cannot be found out: it is only a short cut.
   */
  recall<Type extends PatternEventType>(
    type: Type,
    accepts: (payload: Payloads[Type]) => boolean,
  ): Promise<Payloads[Type] | undefined>;
  /**
   * Why an agent that was chosen would have no model to ask, it or whoever it is sure to need: so that whoever chose it is told,
   * and it is not started. That is recorded under the key and holds for the run. One that was begun before, which an event of the
   * type `begun` tells, is gone on with.
   */
  asksNobody(key: string, agent: string, begun: PatternEventType): Promise<string | undefined>;
  /** What was achieved that the runtime saw, and how often the work was paused. */
  progress(): Promise<Progress>;
  /** What these claims are worth now, when everything that this group did has been done. */
  checkAgain(claims: readonly Claim[]): Promise<Verification>;
  /** The agent's own loop: turns until it ends. */
  loop(request: LoopRequest): Promise<CheckedResult>;
}

/** What is wanted of the agent, by how its run came to be. */
export function wantedBy(
  started: Payloads['run.started'],
): Pick<AgentRun, 'input' | 'seat' | 'goesOn' | 'maxTurns' | 'turnsBefore' | 'loopOnly' | 'closed'> {
  const { input, continues } = started;
  return {
    input: input.role === 'user' ? input : userText(''),
    seat: teamSeat(started),
    // A group's member keeps its conversation but gets a new task: its patterns apply again.
    goesOn: parentRun(started) !== undefined && continues !== undefined && memberOfGroup(started) === undefined,
    maxTurns: turnsAllowed(started),
    turnsBefore: turnsBefore(started),
    loopOnly: loopOnlyAs(started),
    closed: closedExits(started),
  };
}

/** What others are told about an agent. */
export type About = {
  readonly description?: string;
  readonly model?: string;
  /** Its own limit of turns, if its file names one. */
  readonly maxTurns?: number;
};

/** What somebody can do, for whoever has to choose. */
export type Skills = {
  readonly description?: string;
  readonly tags?: string[];
  readonly examples?: string[];
};

export type Progress = {
  /** The same word means that the files that were changed hold the same. */
  readonly files: string;
  /** The same word means that the tests that were run ended the same way. */
  readonly tests: string;
  readonly pauses: number;
};

/** How the loop ended, and what its claims were found to be worth. */
export type CheckedResult = LoopResult & Pick<RunResult, 'verification'>;

export interface LoopRequest {
  readonly input: UserMessage;
  /** Further tools that end the loop. */
  readonly exits?: readonly Exit[];
  /** Hears, before each turn, what was broadcast to it. */
  readonly hears?: boolean;
  /** Turns that it took in earlier runs and that count here. */
  readonly turnsBefore?: number;
  /** Whether the agent may also end with a report. */
  readonly reports: boolean;
  /** What an answer without tool calls amounts to; the report unless said. */
  readonly plain?: (text: string) => Result<Ending, string>;
  /** The form that an answer without tool calls is to have: a JSON Schema, which goes to the model with every turn. */
  readonly answerSchema?: Json;
}

/** What a run came to so far: its result, and the tool that ended its loop if a pattern had offered one. */
export interface Answered {
  readonly result: RunResult;
  readonly exit?: LoopResult['exit'];
}

export function resultOf(run: Pick<AgentRun, 'agent' | 'run'>, checked: CheckedResult): RunResult {
  const { status, report, error, exhausted, turns, verification } = checked;
  // As the ledger has it: nothing claimed is nothing recorded.
  const claims = checked.claims.length === 0 ? undefined : checked.claims;
  const result = { status, report, finalAgent: run.agent.name, finalRun: run.run, turns, claims, error, exhausted, verification };
  return withVerification(result, verification);
}

/** Whether the run itself was cancelled, and not only one of those below it. */
export async function wasStopped(run: AgentRun, key: string, results: readonly Pick<RunResult, 'status'>[]): Promise<boolean> {
  if (!results.some(({ status }) => status === 'cancelled')) return false;
  return await run.steps.step(`${key}/stopped`, async ({ signal }) => signal.aborted);
}
