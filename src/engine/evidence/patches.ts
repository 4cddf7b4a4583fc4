/** Patches of tasks, kept as artifacts and found again by their references. */
import { createArtifactArchive } from '../../artifacts/archive.ts';
import { TroupeError } from '../../base/errors.ts';
import type { TimeAndIds } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { artifactsOfRun, type StoresArtifacts } from './run-artifacts.ts';

export type KeepsPatches = StoresArtifacts & TimeAndIds;

/** `step` is stable: the same one gives the same artifact, also after a crash. */
export async function keepPatch(
  tree: KeepsPatches,
  node: DrivenRun,
  step: string,
  bytes: Uint8Array,
  tasks: readonly string[],
): Promise<string> {
  const stored = await artifactsOfRun(tree, node).put(step, {
    ...{
      type: 'patch',
      name: 'task-#.patch',
      generatedBy: tasks.length > 1 ? `${tasks.length} tasks together` : (tasks[0] ?? ''),
    },
    ...{ source: { kind: 'bytes', bytes }, exact: true },
  });
  if (stored.ok) return stored.value.ref;
  throw new TroupeError(stored.error.code, stored.error.message, { fix: stored.error.fix });
}

/** As it was when it was kept, whatever was taken out of it for readers. */
export async function patchBytes(tree: KeepsPatches, ref: string): Promise<Uint8Array> {
  const archive = createArtifactArchive(tree.ledger, tree.clock);
  const found = await archive.resolve(ref, tree.session);
  if (!found.ok) throw new TroupeError(found.error.code, found.error.message, { fix: found.error.fix });
  if (found.value.kind !== 'artifact') throw new TroupeError('bug', `${ref} is no artifact.`);
  const { artifact } = found.value;
  if (artifact.redacted === true) {
    const exact = await archive.exactText(artifact);
    if (!exact.ok) throw new TroupeError(exact.error.code, exact.error.message, { fix: exact.error.fix });
    return Buffer.from(exact.value);
  }
  const parts: Uint8Array[] = [];
  for await (const part of archive.bytes(artifact)) parts.push(part);
  return Buffer.concat(parts);
}
