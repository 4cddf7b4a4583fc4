/**
 * Where the acceptance of a task is run: in a place that holds where the task began, the captured patch, and nothing else that
 * whoever worked has left behind. So what passes there is what passes for whoever applies the patch. The place is nobody's, and
 * goes again.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { TaskPlace, TaskTerms } from '../../events/tasks/task-terms.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { type KeepsPatches, patchBytes } from '../evidence/patches.ts';
import type { ProvingPlace } from '../evidence/verify.ts';
import type { TaskAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { hereOf, type Travels } from '../travel/travelling.ts';

type ProvesAlone = KeepsPatches & TaskAccess & WorksInFolders & Travels;

/** For a run that is no task's, and for one that only proves: where it works. */
export async function provingPlace(tree: ProvesAlone, node: DrivenRun): Promise<ProvingPlace> {
  const folder = tree.workspaceOf(node);
  const asItIs: ProvingPlace = { folder, alone: false, missing: async () => [], leave: async () => undefined };
  const terms = taskTermsOf(node.started);
  if (terms === undefined || terms.onlyVerify === true || terms.place.kind === 'in-place') return asItIs;
  const here = hereOf(tree, node, terms);
  const made = await makeAlone(tree, node, here);
  if (!made.ok) return { ...asItIs, doubt: `it could not be checked on its patch alone: ${made.error}` };
  const { places } = tree;
  const alone = aloneTask(terms.task);
  const at = join(made.value.path, tree.travelsFrom?.below ?? '');
  return {
    folder: at,
    alone: true,
    missing: async () => ((await places?.ignored?.(here.place, terms.task)) ?? []).filter((path) => !existsSync(join(at, path))),
    leave: async () => await places?.remove?.(made.value, alone),
  };
}

const aloneTask = (task: string): string => `${task}-alone`;

async function makeAlone(tree: ProvesAlone, node: DrivenRun, { task, place }: TaskTerms): Promise<Result<TaskPlace, string>> {
  const { places, session } = tree;
  const [last] = await tree.ledger.read({ session, run: node.run, types: ['task.captured'], newest: true, limit: 1 });
  const captured = last?.event_type === 'task.captured' ? last.payload : undefined;
  if (captured === undefined || places === undefined || place.kind !== 'worktree') return fail('nothing was captured');
  if (captured.failed !== undefined) return fail(captured.failed);
  const alone = aloneTask(task);
  // What an earlier life has left there was perhaps changed by commands that were cut off.
  await places.remove?.({ ...place, path: places.where({ session, task: alone }) }, alone);
  try {
    const patch = captured.patch === undefined ? new Uint8Array() : await patchBytes(tree, captured.patch);
    const made = await places.prepare({ folder: place.repo, session, task: alone, base: place.base, patch });
    return made.ok ? ok(made.value) : fail(made.error.message);
  } catch (error) {
    return fail(messageOf(error));
  }
}
