/** What an executor may use up for one run: what its task says and what the agent's file says, whichever is less. */
import type { ExecutorUse } from '../../agents/definition/executor.ts';
import { present } from '../../base/present.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { DrivenRun } from '../record/driven-run.ts';

export interface ExecutorTerms {
  readonly mode: 'full' | 'read-only';
  readonly maxCliCalls?: number | undefined;
  readonly maxDurationMs?: number | undefined;
  readonly maxMemoryMib?: number | undefined;
  readonly maxUsd?: number | undefined;
}

export function executorTerms(use: ExecutorUse, started: DrivenRun['started']): ExecutorTerms {
  const task = taskTermsOf(started);
  const limits = task?.limits;
  return {
    mode: use.mode === 'read-only' || task?.mode === 'read-only' ? 'read-only' : 'full',
    ...present({
      maxCliCalls: least(use.maxCliCalls, limits?.maxCliCalls),
      maxDurationMs: least(use.maxDuration, limits?.maxDurationMs),
      maxMemoryMib: least(use.maxMemory, limits?.maxMemoryMb),
      maxUsd: least(use.maxUsd, limits?.maxUsd),
    }),
  };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
