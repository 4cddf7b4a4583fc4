/** What happens when a task fails: tried again, given to somebody else, made smaller, or given up. Every step is recorded. */

import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import { counted } from '../../base/wording.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { RunResult } from '../steps.ts';
import type { CollectedWork } from '../task-support.ts';
import { errorShape } from './error-shape.ts';
import type { ArchitectSettings } from './settings.ts';

type Policy = Payloads['task.policy'];

/** What went wrong with an attempt. */
export interface Failed {
  readonly trigger: Exclude<Policy['trigger'], 'repeated_error'>;
  readonly message: string;
  readonly shape: string;
  /** The executor came to its end, and its task is not achieved: only whoever handed it over can say how to go on. */
  readonly unmet?: boolean;
  /** The same executor would fail again in the same way: it is not there. */
  readonly hopeless?: boolean;
}

const HARD: Readonly<Record<string, Failed['trigger']>> = {
  timed_out: 'timeout',
  timeout: 'timeout',
  memory: 'memory',
  cli_calls: 'cli_calls',
  cost: 'cost',
  stalled: 'stalled',
};

/** It is not known, not installed, or cannot be started. */
const UNAVAILABLE = 'executor_unavailable';

export function failedBy(result: RunResult, collected: CollectedWork, stalled: string | undefined): Failed | undefined {
  // Who was done all the same before it could be stopped is judged by what it did.
  if (stalled !== undefined && !succeeded(result)) return { trigger: 'stalled', message: stalled, shape: 'stalled' };
  if (!succeeded(result)) {
    const { error, status } = result;
    const message = error?.message ?? status;
    const trigger = HARD[error?.category ?? ''] ?? HARD[error?.code ?? ''] ?? 'error';
    const hopeless = error?.code === UNAVAILABLE ? { hopeless: true } : {};
    return { trigger, message, shape: `${error?.code ?? status}: ${errorShape(message)}`, ...hopeless };
  }
  const missed = collected.ran.filter(({ passed }) => !passed);
  if (missed.length === 0) return undefined;
  const message = missed.map(({ command, why }) => `\`${command}\`: ${why ?? 'it failed'}`).join('; ');
  const shape = missed.map(({ command, why, output }) => `${command}: ${errorShape(`${why ?? ''} ${telling(output ?? '')}`)}`);
  return { trigger: 'error', message, shape: shape.join('; '), unmet: true };
}

/** The lines of an output that say what is wrong; all of it when none does. */
function telling(output: string): string {
  const lines = output.split('\n').filter((line) => /error|fail|not ok|expected|assert|exception|cannot|undefined/i.test(line));
  return startOf(lines.length === 0 ? output : lines.join('\n'), limits.taskLineCharacters);
}

/** How often each error came, with the executor that has the task now. */
export type Errors = ReadonlyMap<string, number>;

export type Step =
  | { readonly kind: 'tell'; readonly errors: Errors }
  | {
      readonly kind: 'retry' | 'downgrade' | 'shrink' | 'cancel';
      readonly errors: Errors;
      readonly policy: Omit<Policy, 'task' | 'attempt'>;
    };

interface At {
  readonly executor: string;
  readonly next: string | undefined;
  readonly errors: Errors;
  readonly attempt: number;
}

export function nextStep(settings: ArchitectSettings, failed: Failed, { executor, next, errors, attempt }: At): Step {
  const { message, shape, trigger } = failed;
  const count = (errors.get(shape) ?? 0) + 1;
  const counts = new Map(errors).set(shape, count);
  const error = { shape, count };
  if (attempt >= limits.taskAttempts) {
    const why = `${message} It was tried ${counted(attempt, 'time')} (limit taskAttempts).`;
    return { kind: 'cancel', errors: counts, policy: { trigger, action: 'cancel_and_report', executor, why, error } };
  }
  const hard = trigger !== 'error';
  const hopeless = failed.hopeless === true;
  if (!hard && !hopeless && count < settings.sameErrors) {
    if (failed.unmet === true) return { kind: 'tell', errors: counts };
    return { kind: 'retry', errors: counts, policy: { trigger, action: 'retry', executor, why: message, error } };
  }
  const action = hard ? settings.onTimeout : settings.onRepeatedError;
  const at = { trigger: hard || hopeless ? trigger : ('repeated_error' as const), executor, error };
  if (action === 'shrink_scope') return { kind: 'shrink', errors: counts, policy: { ...at, action, why: message } };
  if (action === 'downgrade_executor' && next !== undefined)
    return { kind: 'downgrade', errors: new Map(), policy: { ...at, action, to: next, why: message } };
  const why =
    action === 'downgrade_executor' ? `${message} There is no further executor (architect.fallbackExecutors).` : message;
  return { kind: 'cancel', errors: counts, policy: { ...at, action: 'cancel_and_report', why } };
}
