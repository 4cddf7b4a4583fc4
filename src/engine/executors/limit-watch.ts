/**
 * Hard stops: an executor that has used up its time, its memory, its commands or its money is stopped at once, and why is
 * written down at that moment.
 */
import { durationText } from '../../agents/definition/duration.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { Failure } from '../../events/catalogue.ts';
import { type ExecutorRecorder, recorded } from './recorder.ts';

export type LimitCategory = 'timeout' | 'memory' | 'cli_calls' | 'cost';

export interface LimitReached extends Failure {
  readonly code: 'executor_limit';
  readonly category: LimitCategory;
  readonly fix: string;
}

export interface LimitWatch {
  /** Aborted when one of them is reached. */
  readonly signal: AbortSignal;
  reached(): LimitReached | undefined;
  /** Whether it may have us run one more command; it is stopped where not. */
  mayRun(): boolean;
  /** Something was reported. */
  look(): void;
  /** What it says that the prompt has cost so far. */
  spent(usd: number): void;
  over(): void;
}

export function createLimitWatch(recorder: ExecutorRecorder, step: string, pid: number | undefined, budget?: number): LimitWatch {
  const { tree, node, terms, standing } = recorder;
  const stop = new AbortController();
  let found: LimitReached | undefined;
  const reach = (category: LimitCategory): void => {
    if (found !== undefined) return;
    found = limitReached(recorder, category);
    tree.writer.enqueue([recorded(recorder, 'task.error', found, { step })]);
    stop.abort();
  };
  const { maxDurationMs, maxMemoryMib, maxCliCalls } = terms;
  const ends: (() => void)[] = [];
  if (maxDurationMs !== undefined) {
    if (maxDurationMs <= tree.activeSoFar(node.run)) reach('timeout');
    else ends.push(tree.whenWorkedFor(node.run, maxDurationMs, () => reach('timeout')));
  }
  const { executorMemory } = tree;
  if (maxMemoryMib !== undefined && pid !== undefined && executorMemory !== undefined) {
    const sample = async (): Promise<void> => {
      const used = await executorMemory(pid);
      if (stop.signal.aborted || isOver) return;
      if (used !== undefined && used > maxMemoryMib) reach('memory');
      else ends.push(tree.clock.after(limits.executorMemoryEveryMs, () => void sample()));
    };
    ends.push(tree.clock.after(limits.executorMemoryEveryMs, () => void sample()));
  }
  let isOver = false;
  let begun = standing.ran();
  return {
    signal: stop.signal,
    reached: () => found,
    mayRun() {
      if (maxCliCalls === undefined || begun < maxCliCalls) {
        begun += 1;
        return true;
      }
      reach('cli_calls');
      return false;
    },
    look() {
      if (maxCliCalls !== undefined && standing.commands() > maxCliCalls) reach('cli_calls');
    },
    spent(usd) {
      if (budget !== undefined && usd > budget) reach('cost');
    },
    over() {
      isOver = true;
      for (const end of ends) end();
    },
  };
}

/** By the name under which a person set it. */
export function limitReached({ terms, use }: Pick<ExecutorRecorder, 'terms' | 'use'>, category: LimitCategory): LimitReached {
  const { maxCliCalls = 0, maxDurationMs = 0, maxMemoryMib = 0, maxUsd = 0 } = terms;
  const words: Readonly<Record<LimitCategory, readonly [string, string]>> = {
    timeout: [`was not done within ${durationText(maxDurationMs)}`, 'maxDuration'],
    memory: [`used more than ${maxMemoryMib} MiB of memory`, 'maxMemory'],
    cli_calls: [`wanted to run more than ${counted(maxCliCalls, 'command')}`, 'maxCliCalls'],
    cost: [`cost more than ${maxUsd} dollars`, 'maxUsd'],
  };
  const [what, key] = words[category];
  return {
    code: 'executor_limit',
    category,
    message: `${use.name} ${what} (${key}) and was stopped.`,
    fix: `Give it a smaller task, or raise ${key} of the task or under executor in the agent's file.`,
  };
}
