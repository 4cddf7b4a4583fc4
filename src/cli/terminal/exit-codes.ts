/** What the process says when it ends. Scripts rely on these numbers: they never change their meaning. */
import { unreachable } from '../../base/errors.ts';
import type { RunEnd } from '../../engine/port.ts';
import type { Failure, RunStatus } from '../../events/catalogue.ts';

export const exitCodes = {
  completed: 0,
  failed: 1,
  usage: 2,
  unverified: 3,
  budget: 4,
  needsInput: 5,
  executorUnavailable: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export function exitCodeOfStatus(status: RunStatus, error?: Failure): ExitCode {
  switch (status) {
    case 'completed':
      return exitCodes.completed;
    case 'completed_unverified':
      return exitCodes.unverified;
    case 'budget_exhausted':
      return exitCodes.budget;
    case 'cancelled':
      return exitCodes.interrupted;
    case 'failed':
      return error?.code === 'executor_unavailable' ? exitCodes.executorUnavailable : exitCodes.failed;
    default:
      return unreachable(status);
  }
}

/** `least`: what a result must be worth for a 0. */
export function exitCodeOfEnd(end: RunEnd, least: 'verified' | 'unchecked' = 'unchecked'): ExitCode {
  switch (end.kind) {
    case 'ended':
      return isTooLittle(end, least) ? exitCodes.unverified : exitCodeOfStatus(end.result.status, end.result.error);
    case 'waiting':
    case 'parked':
      return exitCodes.needsInput;
    case 'paused':
      return exitCodes.interrupted;
    case 'interrupted':
      return end.error === undefined ? exitCodes.interrupted : exitCodeOfError(end.error.code);
    case 'lost':
      return exitCodes.failed;
    default:
      return unreachable(end);
  }
}

/** Whether it completed, and nobody looked whether it is so, where that is not enough. */
export function isTooLittle(end: RunEnd, least: 'verified' | 'unchecked'): boolean {
  if (end.kind !== 'ended' || least === 'unchecked') return false;
  return end.result.status === 'completed' && end.result.verification.state !== 'verified';
}

/** For a run that was refused before it began, and for errors outside any run. */
export function exitCodeOfError(code: string): ExitCode {
  if (code === 'budget_exhausted') return exitCodes.budget;
  if (code === 'executor_unavailable') return exitCodes.executorUnavailable;
  if (code === 'stopped') return exitCodes.interrupted;
  return failureCodes.has(code) || (code.startsWith('ledger') && !given.has(code)) ? exitCodes.failed : exitCodes.usage;
}

/** Trouble with the machine or with Troupe itself; everything else that is refused can be put right in the call or the files. */
const failureCodes = new Set([
  ...['bug', 'held', 'interrupted', 'io'],
  ...['changed_since', 'changed_meanwhile', 'workspace_git', 'workspace_busy'],
]);
/** Of a ledger, what the call or the settings name wrongly. */
const given = new Set(['ledger_address', 'ledger_missing']);
