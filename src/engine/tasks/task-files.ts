/**
 * Whose files a task works on. They are leased before anything is made, by whoever hands the task out, and again by every process
 * that takes the task up: one that was taken for dead and comes back finds that they are another's.
 */
import { TroupeError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import { ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import type { TaskAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';
import type { HasChildren } from '../spawning/child-run.ts';
import type { Travels } from '../travel/travelling.ts';

export type LeasesFiles = Pick<Writes, 'session'> & TaskAccess & Travels & Pick<HasChildren, 'elsewhere'>;

type Domain = Readonly<Record<'include' | 'exclude' | 'noTouch', readonly string[]>>;

/** `folder`: as it is called where the run was started. */
export async function leaseFiles(
  tree: LeasesFiles,
  node: DrivenRun,
  { task, folder, domain }: { readonly task: string; readonly folder: string; readonly domain: Domain },
): Promise<Result<void, Failure>> {
  if (tree.places?.lease === undefined) return ok(undefined);
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  const { include, exclude, noTouch } = domain;
  return await tree.places.lease({
    ...{ folder, session: tree.session, run: root.run, task },
    domain: { include: [...include], exclude: [...exclude], noTouch: [...noTouch] },
    ...present({ from: tree.travelsFrom, assigned: tree.elsewhere === undefined ? undefined : true }),
  });
}

/** Before a task is worked on, in every life of its run. */
export async function holdFiles(tree: LeasesFiles, node: DrivenRun): Promise<void> {
  const terms = taskTermsOf(node.started);
  if (terms === undefined || !writesFiles(terms)) return;
  const { task, place } = terms;
  const leased = await leaseFiles(tree, node, {
    task,
    folder: place.kind === 'worktree' ? place.repo : place.path,
    domain: terms,
  });
  if (!leased.ok) throw new TroupeError(leased.error.code, leased.error.message, { fix: leased.error.fix });
}

/** A run that goes on after its end may find that its place was tidied up. */
export async function makePlaceAgain(tree: LeasesFiles, node: DrivenRun): Promise<void> {
  const terms = taskTermsOf(node.started);
  if (terms?.place.kind !== 'worktree' || tree.travelsFrom !== undefined || tree.places === undefined) return;
  const { repo, base } = terms.place;
  const made = await tree.places.prepare({ folder: repo, session: tree.session, task: terms.task, base });
  if (!made.ok) throw new TroupeError(made.error.code, made.error.message, { fix: made.error.fix });
}

const writesFiles = ({ mode, onlyVerify }: TaskTerms): boolean => mode === 'full' && onlyVerify !== true;
