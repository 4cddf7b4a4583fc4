/**
 * When the budget of a run, or of one above it, has nothing left, the run ends there: with what it has, and without asking
 * anybody else. A budget that only somebody below has is that one's failure and nobody else's.
 */
import type { AgentRun } from './agent-run.ts';
import type { RunResult } from './steps.ts';
import { UNCHECKED } from './verification.ts';

type RanOut = Pick<RunResult, 'exhausted' | 'error' | 'status'>;

/** The first of these that ended because this run has nothing left to spend. */
export function ranOut<One extends Pick<RunResult, 'exhausted'>>(
  { scopes }: Pick<AgentRun, 'scopes'>,
  ended: readonly One[],
): One | undefined {
  return ended.find(({ exhausted }) => exhausted !== undefined && scopes.has(exhausted));
}

/** The run's end, with what others have said until then. */
export function endedEmpty(
  run: AgentRun,
  { exhausted, error, status }: RanOut,
  said: readonly { readonly who: string; readonly text: string }[],
): RunResult {
  const message = error?.message ?? status;
  const body = [message, ...said.map(({ who, text }) => `### ${who}\n\n${text}`)].join('\n\n');
  return {
    status: 'budget_exhausted',
    report: { format: 'text', body, synthetic: true },
    finalAgent: run.agent.name,
    finalRun: run.run,
    turns: 0,
    error: { code: 'budget_exhausted', message },
    exhausted,
    verification: UNCHECKED,
  };
}
