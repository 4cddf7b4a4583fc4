/**
 * Where a run of a cluster works: in folders that are built where the run is, from what is in the ledger. A task has its
 * place, as it was kept last; who only looks has the files as they were when the run started. What a call changed is kept in
 * the append that records the call: whoever goes on elsewhere finds the files as the last recorded call left them.
 */
import { join } from 'node:path';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { FOLDER_TOOLS, LOOKING_TOOLS } from '../../agents/definition/tool-names.ts';
import { TroupeError } from '../../base/errors.ts';
import type { EventOf } from '../../events/envelope.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { TaskPlace, TaskTerms } from '../../events/tasks/task-terms.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { looksOnly } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { type KeepsPatches, patchBytes } from '../evidence/patches.ts';
import type {
  AgentAccess,
  BroughtRepository,
  KeptPoint,
  LedgerAccess,
  OpenPlace,
  TaskAccess,
  TravellingPlaces,
  WantedRepository,
} from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { readAll } from '../record/read-all.ts';
import { attachmentOf, keptPoint, keptRecord } from './kept-events.ts';

/** Runs that are worked on by whoever is free. */
export interface Travels {
  /** What the root run brought along of its repository; absent where runs are driven here. */
  readonly travelsFrom?: BroughtRepository | undefined;
}

export type OpensPlaces = KeepsPatches & AgentAccess & WorksInFolders & TaskAccess & Travels;

type WorktreePlace = Extract<TaskPlace, { kind: 'worktree' }>;

const opened = new WeakMap<DrivenRun, OpenPlace>();

/** Before anything looks into a folder. Gives what is to be called when the run is left. */
export async function openFolders(tree: OpensPlaces, node: DrivenRun): Promise<() => void> {
  const { travelsFrom: from, places } = tree;
  const travelling = places?.travelling;
  if (from === undefined || travelling === undefined) return () => undefined;
  const terms = termsAbove(node);
  if (terms === undefined) {
    await openToLook(tree, node, travelling, from);
    return () => undefined;
  }
  const { task, place } = terms;
  const kept = () => keptOf(tree, task);
  const found = await travelling.open({ ...broughtTo(tree, from, place.base), session: tree.session, task, kept });
  if (!found.ok) throw new TroupeError(found.error.code, found.error.message, { fix: found.error.fix });
  opened.set(node, found.value);
  tree.moved.set(place.path, found.value.path);
  return found.value.close;
}

/** Somebody without hands needs the files and changes none. Others work in the folder itself, which has to be where they are. */
async function openToLook(
  tree: OpensPlaces,
  node: DrivenRun,
  travelling: TravellingPlaces,
  from: BroughtRepository,
): Promise<void> {
  const agent = await tree.agent(node.started.agent);
  if (agent === undefined || !(looksOnly(tree.patterns ?? registeredPatterns, agent) || hasNoHands(agent))) return;
  const folder = tree.workspaceOf(node);
  const found = await travelling.folder({ ...broughtTo(tree, from, from.base), session: tree.session, folder });
  if (!found.ok) throw new TroupeError(found.error.code, found.error.message, { fix: found.error.fix });
  tree.moved.set(folder, found.value);
}

/** By its file: it looks into the folder, and has nothing that could change it. */
const hasNoHands = ({ tools = [], executor, mcp, verify }: AgentDefinition): boolean =>
  [executor, mcp, verify].every((one) => one === undefined) &&
  tools.some((name) => FOLDER_TOOLS.includes(name)) &&
  tools.every((name) => LOOKING_TOOLS.includes(name));

/** Of the task that the run is part of, where that has a worktree. */
function termsAbove(node: DrivenRun): (TaskTerms & { readonly place: WorktreePlace }) | undefined {
  for (let up: DrivenRun | undefined = node; up !== undefined; up = up.parent) {
    const terms = taskTermsOf(up.started);
    if (terms?.place.kind === 'worktree') return { ...terms, place: terms.place };
  }
  return undefined;
}

export function broughtTo(tree: OpensPlaces, from: BroughtRepository, commit: string): WantedRepository {
  return {
    from,
    commit,
    async contents() {
      const events = await readAll(tree.ledger, tree.session, { types: ['workspace.packed', 'workspace.kept'] });
      const parts = events.filter(
        (event): event is EventOf<'workspace.packed'> =>
          event.event_type === 'workspace.packed' && event.payload.head === from.head,
      );
      const changed = events.findLast(
        (event): event is EventOf<'workspace.kept'> =>
          event.event_type === 'workspace.kept' && event.payload.task === undefined && event.payload.by === from.base,
      );
      const pack: Uint8Array[] = [];
      // Of several roots of a session each has brought its own: the last whole one counts.
      for (const part of parts.slice(parts.findLastIndex(({ payload }) => payload.index === 0)))
        pack.push(await attachmentOf(tree.ledger, part));
      const files = changed === undefined ? [] : (await keptPoint(tree.ledger, changed)).files;
      return { pack: Buffer.concat(pack), files };
    },
    async patchTo(wanted) {
      const merges = await readAll(tree.ledger, tree.session, { types: ['task.merged'] });
      const found = merges.findLast((event) => event.event_type === 'task.merged' && event.payload.commit === wanted);
      const patch = found?.event_type === 'task.merged' ? found.payload.patch : undefined;
      return patch === undefined ? undefined : await patchBytes(tree, patch);
    },
  };
}

async function keptOf(tree: OpensPlaces, task: string): Promise<readonly KeptPoint[]> {
  await tree.writer.flushed();
  const points: KeptPoint[] = [];
  for (const event of await readAll(tree.ledger, tree.session, { types: ['workspace.kept'] }))
    if (event.event_type === 'workspace.kept' && event.payload.task === task) points.push(await keptPoint(tree.ledger, event));
  return points;
}

/** What has changed at the run's place since it was kept last, to be written with whatever changed it. */
export async function keptSince(tree: Pick<LedgerAccess, 'redact'>, node: DrivenRun): Promise<readonly NewEvent[]> {
  const place = opened.get(node);
  const task = place === undefined ? undefined : termsAbove(node)?.task;
  if (place === undefined || task === undefined) return [];
  const point = await place.changes();
  if (!point.ok) throw new TroupeError(point.error.code, point.error.message, { fix: point.error.fix });
  if (point.value === undefined) return [];
  const { payload, attachment } = keptRecord(task, point.value, tree.redact);
  return [node.journal.event('workspace.kept', payload, { actor: 'system', aside: true, ...(attachment && { attachment }) })];
}

/** Whether it works at a place that is built where it is. */
export const isTravelling = (node: DrivenRun): boolean => opened.has(node);

/** A task's place as it is here. */
export function hereOf(tree: WorksInFolders, node: DrivenRun, terms: TaskTerms): TaskTerms {
  const place = opened.get(node);
  if (place === undefined || terms.place.kind !== 'worktree') return terms;
  return { ...terms, place: { ...terms.place, path: tree.workspaceOf(node), repo: place.repo } };
}

/** Where a task will work, wherever that is: it is built when somebody works on it. */
export function placeElsewhere(
  from: BroughtRepository,
  where: string,
  { folder, base }: { readonly folder: string; readonly base: string | undefined },
): WorktreePlace {
  return { kind: 'worktree', path: join(where, from.below), base: base ?? from.base, repo: folder };
}
