/**
 * What a task wrote where it must not, in a folder that is worked in as it is. Others work there too, so only a file is taken
 * back that was before the task as it was when the task began, and is exactly as the task left it. It is kept as a patch
 * first; of the others it is told that they are there.
 */
import { ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { fileAt } from '../tools/watch/watched-file.ts';
import { atPlace, everKept, fileIn, type JudgedChange, judge, keepOutside, restore, treeAtPlace } from './capture.ts';
import { readDomain } from './domains.ts';
import type { WorkspaceOptions } from './options.ts';
import { placeFiles } from './place-files.ts';
import type { OutsideWrite, WantedTakeBack } from './port.ts';
import { changesBetween, patchBetween, treeWith } from './trees.ts';

export async function takeBackInPlace(
  options: WorkspaceOptions,
  { place, session, task, domain: paths, written }: WantedTakeBack,
): Promise<Result<readonly OutsideWrite[], Failure>> {
  const [domain, files] = [readDomain(paths), placeFiles(options.home, session, task)];
  if (!domain.ok) return domain;
  if (!files.ok) return files;
  return await atPlace(options, place, async (git, base) => {
    const now = await treeAtPlace(git, place, base);
    const changes = now.ok ? await changesBetween(git, base, now.value.tree) : now;
    if (!changes.ok) return changes;
    const own = changes.value.filter(({ path }) => written.has(path));
    const outside = (await judge(git, domain.value, own)).filter(({ why }) => why !== undefined);
    const { top } = git.repository;
    const sure: JudgedChange[] = [];
    for (const one of outside) {
      const seen = written.get(one.change.path);
      const before = (await fileIn(git, one.change.before))?.sha256 ?? null;
      if (seen?.before === before && seen.after === (fileAt(top, one.change.path)?.sha256 ?? null)) sure.push(one);
    }
    const told = (all: readonly JudgedChange[]) => all.map(({ change, why = '' }): OutsideWrite => ({ path: change.path, why }));
    const rest = told(outside.filter((one) => !sure.includes(one)));
    if (sure.length === 0) return ok([...rest, ...(await everKept(files.value))]);
    const entries = sure.map(({ change }) => ({ path: change.path, entry: change.after }));
    const tree = await treeWith(git, base, entries);
    const patch = tree.ok ? await patchBetween(git, base, tree.value) : tree;
    if (!patch.ok) return patch;
    const kept = await keepOutside(files.value, patch.value, told(sure));
    if (!kept.ok) return kept;
    const restored = await restore(git, top, sure);
    return restored.ok ? ok([...rest, ...(await everKept(files.value))]) : restored;
  });
}
