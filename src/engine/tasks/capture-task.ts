/**
 * The end of a task's work, where it was done: what lies outside of its terms is taken back and kept, and the rest is kept as one
 * patch. It happens before anything is run that decides whether the work is good, so that nothing passes by what was not allowed.
 */

import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { startOf } from '../../base/whole-words.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { noticedChanges } from '../../tools/watch/noticed-changes.ts';
import { changesIn, evidenceOfWork } from '../evidence/evidence.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { type KeepsPatches, keepPatch } from '../evidence/patches.ts';
import { Interruption } from '../interruption.ts';
import type { ProofAccess, TaskAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { hereOf } from '../travel/travelling.ts';
import { eventsBelow } from './events-below.ts';
import { changesSeen } from './seen-of-task.ts';

const CAPTURE_STEP = 'captured';
const DOMAIN_LOST = 'domain_lost';

export type CapturesTasks = KeepsPatches & TaskAccess & WorksInFolders & Pick<ProofAccess, 'workspaces'>;

/**
 * Once for each run, however often it is taken up. Nothing for runs that are no task's. Gives why the work cannot count as
 * verified: what was proved was proved with files that are in no patch.
 */
export async function captureTask(tree: CapturesTasks, node: DrivenRun): Promise<readonly string[]> {
  const terms = taskTermsOf(node.started);
  if (terms === undefined || terms.onlyVerify === true || tree.places === undefined) return [];
  const known = node.journal.recorded('task.captured', CAPTURE_STEP)?.payload;
  if (terms.place.kind === 'in-place') {
    if (known === undefined) await tellOutside(tree, node, terms);
    return [];
  }
  const { missing = [] } = known ?? (await capture(tree, node, terms));
  // Its work is a patch now: a run that stands still afterwards, or for days, keeps its files from nobody.
  await tree.places.release?.(terms.task, tree.session);
  return missing.map((why) => `work of it is in no patch: ${why}`);
}

async function capture(tree: CapturesTasks, node: DrivenRun, terms: TaskTerms): Promise<Payloads['task.captured']> {
  const payload = await captured(tree, node, terms);
  const unseen = await unseenOf(tree, node, terms);
  const event = node.journal.event('task.captured', payload, { step: CAPTURE_STEP, actor: 'system' });
  await tree.writer.write([...unseen, event], { sync: 'power' });
  return payload;
}

/**
 * What was changed while nobody looked, by somebody who worked on when we were gone: it is in the patch, so it is recorded like
 * every other change, and whatever rests on what was changed sees it.
 */
async function unseenOf(tree: CapturesTasks, node: DrivenRun, terms: TaskTerms): Promise<readonly NewEvent[]> {
  const seen = new Map(changesIn(await evidenceOfWork(tree, node)).map(({ path, after }) => [path, after]));
  const unseen = await tree.places?.unseen?.(hereOf(tree, node, terms), seen);
  if (unseen?.ok !== true) return [];
  for (const { path } of unseen.value) await tree.workspaces?.noted(tree.workspaceOf(node), path);
  return noticedChanges(unseen.value, 'command', tree.redact).map(({ type, payload, ...more }) =>
    node.journal.event(type, payload, { step: CAPTURE_STEP, actor: 'system', ...more }),
  );
}

/** In a folder as it is nothing is captured. What lies outside of the terms is told, and taken back where that harms nobody. */
async function tellOutside(tree: CapturesTasks, node: DrivenRun, terms: TaskTerms): Promise<void> {
  const { files, diff, outside } = changesSeen(terms, await eventsBelow(tree, node, node.run));
  if (outside.length === 0) return;
  const written = new Map(outside.map(({ path, before, after }) => [path, { before, after }]));
  const found = await tree.places?.takeBack?.(terms, tree.session, written);
  const told = found?.ok === true ? found.value : [];
  const rest = outside.filter(({ path }) => !told.some((one) => one.path === path)).map(({ path }) => ({ path }));
  const undone = [...told.map((one) => ({ ...one })), ...rest];
  const payload = { task: terms.task, files: files.map((file) => ({ ...file })), undone, ...(diff === '' ? {} : { diff }) };
  for (const { path } of told) await tree.workspaces?.noted(tree.workspaceOf(node), path);
  await tree.writer.write([node.journal.event('task.captured', payload, { step: CAPTURE_STEP, actor: 'system' })], {
    sync: 'power',
  });
}

async function captured(tree: CapturesTasks, node: DrivenRun, terms: TaskTerms): Promise<Payloads['task.captured']> {
  const found = await tree.places?.capture(hereOf(tree, node, terms), tree.session);
  const { task } = terms;
  if (found === undefined) return { task, files: [], undone: [] };
  // Nothing is recorded, and nothing at the place was touched: whoever has the files now goes on with them.
  if (!found.ok && found.error.code === DOMAIN_LOST) throw new Interruption('lost', found.error.message);
  if (!found.ok) return { task, files: [], undone: [], failed: found.error.message };
  const { patch, files, outside, text, missing = [] } = found.value;
  return {
    task,
    files: files.map((file) => ({ ...file })),
    undone: outside.map((one) => ({ ...one })),
    ...present({
      missing: missing.length === 0 ? undefined : someOf(missing).map(tree.redact),
      diff: text === '' ? undefined : startOf(tree.redact(text), limits.taskDiffCharacters),
      patch: patch.length === 0 ? undefined : await keepPatch(tree, node, `${CAPTURE_STEP}/patch`, patch, [task]),
    }),
  };
}

function someOf(missing: readonly string[]): readonly string[] {
  const more = missing.length - limits.noticedChanges;
  return more <= 0 ? missing : [...missing.slice(0, limits.noticedChanges), `and ${more} more (noticedChanges)`];
}
