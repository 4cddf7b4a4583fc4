/** Lets another agent answer in this one's place. In a team it takes over the seat. */
import type { UserMessage } from '../events/messages.ts';
import { succeeded } from '../events/succeeded.ts';
import type { AgentRun } from './agent-run.ts';
import type { RunResult, StartOptions } from './steps.ts';

export interface Delegation {
  /** The key of the step, the child's role, and its name in a failure. */
  readonly stage: string;
  readonly agent: string;
  readonly input: UserMessage;
  readonly reason: string;
  /** Nothing follows: only the last one may take the seat. */
  readonly isLast: boolean;
}

export async function delegate(run: AgentRun, { stage, agent, input, reason, isLast }: Delegation): Promise<RunResult> {
  const { seat, maxTurns } = run;
  const options: StartOptions =
    isLast && seat !== undefined
      ? { kind: 'seat', role: stage, reason, seat, maxTurns }
      : { kind: 'pattern', role: stage, reason };
  const [result] = await run.steps.settled([await run.steps.start(stage, agent, input, options)]);
  return namedStage(result as RunResult, stage, agent);
}

function namedStage(result: RunResult, stage: string, agent: string): RunResult {
  if (succeeded(result) || result.error === undefined || result.error.message.startsWith('At ')) return result;
  return { ...result, error: { ...result.error, message: `At ${stage} to ${agent}: ${result.error.message}` } };
}
