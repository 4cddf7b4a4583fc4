import type { RunState } from './catalogue.ts';

/** Whether a run has given what was asked of it, checked or not. One that is still at work has not. */
export function succeeded({ status }: { readonly status: RunState | 'interrupted' }): boolean {
  return status === 'completed' || status === 'completed_unverified';
}
