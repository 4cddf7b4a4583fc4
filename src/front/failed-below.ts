/** Whose work is missing in a result: runs below that failed, where those above them went on without them. */
import { succeeded } from '../events/succeeded.ts';
import { type RunNode, type RunTree, subtree } from '../projections/run-tree.ts';

/** Of a run that gave a result; one that failed says itself why. Whoever was asked again later counts with what came of that. */
export function failedBelow(tree: RunTree, node: RunNode): readonly RunNode[] {
  if (node.endedAt === null || !succeeded({ status: node.state })) return [];
  const below = subtree(tree, node.run).filter(({ run }) => run !== node.run);
  const failed = below.filter((one) => hasFailed(one) && one.role !== EXECUTOR);
  const names = new Set<string>(failed.map(({ run }) => run));
  return failed.filter((one) => !names.has(one.parent ?? '') && !below.some((other) => isAskedAgain(one, other)));
}

/** Whoever was to choose and could not: the answer is somebody else's, and choosing again would change nothing in it. */
const CHOOSER = 'chooser';

/** Of these, those whose work can be done again by itself. */
export const isDoneAgain = ({ role }: Pick<RunNode, 'role'>): boolean => role !== CHOOSER;

/** Whoever hands a task over says what becomes of it: tried again, given to another, or given up, which the answer names. */
const EXECUTOR = 'executor';

const hasFailed = ({ state }: RunNode): boolean => state === 'failed' || state === 'budget_exhausted';

/**
 * The same agent in the same place: asked once it was known that the other had failed, or, where a pattern asks, an earlier
 * attempt that went on in the end.
 */
function isAskedAgain(failed: RunNode, other: RunNode): boolean {
  const isSame =
    other.parent === failed.parent &&
    other.agent === failed.agent &&
    other.role === failed.role &&
    other.member === failed.member &&
    other.place?.name === failed.place?.name;
  const failedAt = failed.endedAt ?? 0;
  const isLater = other.position > failed.position && other.startedAt >= failedAt;
  const isDone = succeeded({ status: other.state });
  const wentOn = failed.role !== 'sub-agent' && isDone && (other.endedAt ?? 0) >= failedAt;
  return isSame && (wentOn || (isLater && (isDone || hasFailed(other))));
}
