/** What has come from outside, as far as it decides whether a run goes on or ends. */
import type { DrivenRun } from '../record/driven-run.ts';
import type { HearsOutside } from './hears.ts';
import { isOverLimit } from './stop-reason.ts';

/** Whether something that a branch has stopped for is there now, or the branch is to end. */
export function canGoOn(tree: HearsOutside): boolean {
  return [...tree.blockedOn].some(
    ({ node, wait }) => tree.outside.answer(node.run, wait) !== undefined || isToEnd(tree, node) || isLate(node),
  );
}

/** A limit of its own was reached while others still worked. */
const isLate = ({ abort }: DrivenRun): boolean => isOverLimit(abort.signal.reason);

/** Whether somebody outside has asked for the end of this run, or of one above it. */
export function isToEnd({ outside }: HearsOutside, node: DrivenRun): boolean {
  for (let up: DrivenRun | undefined = node; up !== undefined; up = up.parent)
    if (outside.cancelled(up.run) !== undefined) return true;
  return false;
}
