/** What patterns that hand tasks over ask of the runtime, from what was recorded and from where the tasks were worked on. */

import { executorModel } from '../../agents/definition/executor.ts';
import { TroupeError } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { toolCallsOf } from '../../events/messages.ts';
import type { TaskPlace, TaskTerms } from '../../events/tasks/task-terms.ts';
import { FINAL_REPORT } from '../../loop/final-report.ts';
import type {
  CollectedWork,
  Merged,
  MergeWanted,
  PlaceFound,
  PlaceWanted,
  TaskProgress,
  TaskSupport,
} from '../../patterns/task-support.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { type KeepsPatches, keepPatch, patchBytes } from '../evidence/patches.ts';
import { artifactsOfRun } from '../evidence/run-artifacts.ts';
import { Interruption } from '../interruption.ts';
import type { AgentAccess } from '../options.ts';
import { childOf, type DrivenRun } from '../record/driven-run.ts';
import { broughtTo, placeElsewhere } from '../travel/travelling.ts';
import { eventsBelow } from './events-below.ts';
import { type LooksBefore, seenBefore } from './seen-before.ts';
import { seenOfTask } from './seen-of-task.ts';
import { type LeasesFiles, leaseFiles } from './task-files.ts';

export type SupportsTasks = KeepsPatches & AgentAccess & WorksInFolders & LeasesFiles & LooksBefore;

/** Why a run was left that only had to say what it would hand over. */
const PLANNED = 'only the plan was asked for';

export function taskSupport(tree: SupportsTasks, node: DrivenRun): TaskSupport {
  const { places } = tree;
  return {
    namedBy: node.started.forked?.of ?? node.run,
    planOnly: node.started.planOnly === true,
    executor: async (name) => ((await tree.agent(name)) === undefined ? executorModel({ name }) : name),
    environment: async () => {
      const environment = await artifactsOfRun(tree, node).environment(tree.workspaceOf(node));
      return { session: tree.session, environment: environment ?? NO_ENVIRONMENT };
    },
    async where(task, workspace) {
      const folder = tree.workspaceOf(node);
      const isFolder = tree.travelsFrom === undefined && (await places?.problem?.(folder)) !== undefined;
      return (workspace === 'in-place' || isFolder ? undefined : places?.where({ session: tree.session, task })) ?? folder;
    },
    prepare: (wanted) => prepare(tree, node, wanted),
    collect: (key, terms) => collect(tree, node, key, terms),
    progress: (key, terms) => progress(tree, node, key, terms),
    async before(wanted, signal) {
      const place = await mergedAt(tree, wanted.place);
      return await seenBefore(tree, { ...wanted, place }, signal, tree.travelsFrom?.below);
    },
    merge: (key, wanted) => merge(tree, node, key, wanted),
    events: () => sinceCondensed(tree),
    async hold() {
      const past = node.journal.past;
      if (past.some((event) => event.event_type === 'run.paused' && event.payload.reason === PLANNED)) return;
      throw new Interruption('paused', PLANNED);
    },
  };
}

const NO_ENVIRONMENT = 'env://hash/unknown';

async function prepare(tree: SupportsTasks, node: DrivenRun, wanted: PlaceWanted): Promise<PlaceFound> {
  const folder = tree.workspaceOf(node);
  const refusedFiles = await lease(tree, node, wanted);
  if (refusedFiles !== undefined) return refusedFiles;
  const inPlace = { place: { kind: 'in-place' as const, path: folder } };
  if (wanted.workspace === 'in-place') {
    await tree.places?.begin?.({ folder, session: tree.session, task: wanted.task });
    return inPlace;
  }
  const { travelsFrom, places } = tree;
  if (travelsFrom !== undefined && places?.travelling !== undefined) {
    const where = places.where({ session: tree.session, task: wanted.task });
    return { place: placeElsewhere(travelsFrom, where, { folder: unmoved(tree, folder), base: wanted.base }) };
  }
  const made = await places?.prepare({ folder, session: tree.session, task: wanted.task, base: wanted.base });
  if (made?.ok === true) return { place: made.value };
  // Where nobody said that it must be a worktree, a folder that is no repository is worked on as it is.
  const isFolder = made === undefined || made.error.code === 'no_repository' || made.error.code === 'no_git';
  if (wanted.workspace === undefined && isFolder) return inPlace;
  const refused = made?.error.message ?? 'Worktrees cannot be made here.';
  return { refused, ...present({ fix: made?.error.fix }) };
}

/** Before anything is made: whoever works on the same files, in whatever process, is asked for them first. */
async function lease(tree: SupportsTasks, node: DrivenRun, { task, domain }: PlaceWanted): Promise<PlaceFound | undefined> {
  if (domain === undefined) return undefined;
  const leased = await leaseFiles(tree, node, { task, folder: unmoved(tree, tree.workspaceOf(node)), domain });
  return leased.ok ? undefined : { refused: leased.error.message, ...present({ fix: leased.error.fix }) };
}

/** As it was called where the run was started. */
const unmoved = ({ moved }: WorksInFolders, folder: string): string =>
  [...moved].find(([, here]) => here === folder)?.[0] ?? folder;

/** With a repository that is here. */
async function mergedAt(tree: SupportsTasks, place: TaskPlace): Promise<TaskPlace> {
  const { travelsFrom: from, places } = tree;
  if (from === undefined || places?.travelling === undefined || place.kind !== 'worktree') return place;
  const repo = await places.travelling.repository(broughtTo(tree, from, place.base));
  if (!repo.ok) throw new TroupeError(repo.error.code, repo.error.message, { fix: repo.error.fix });
  return { ...place, repo: repo.value };
}

async function collect(tree: SupportsTasks, node: DrivenRun, key: string, terms: TaskTerms): Promise<CollectedWork> {
  const run = childOf(node, key);
  return seenOfTask(run, terms, await eventsBelow(tree, node, run));
}

async function progress(tree: SupportsTasks, node: DrivenRun, key: string, { place }: TaskTerms): Promise<TaskProgress> {
  const events = await eventsBelow(tree, node, childOf(node, key));
  const tests = events.flatMap((event) =>
    event.event_type === 'test.report' ? [`${event.payload.command} ${event.payload.passed} ${event.payload.tests ?? ''}`] : [],
  );
  const diffs = events.flatMap((event) =>
    event.event_type === 'file.diff' ? [`${event.payload.path} ${event.payload.after ?? ''}`] : [],
  );
  // A place elsewhere, or with too many files, cannot be looked at: what was seen there is recorded.
  const mark = tree.travelsFrom === undefined ? await tree.places?.mark(place.path) : undefined;
  const files = mark ?? diffs.join('\n');
  const rests = waits(events) || (await isDone(tree, childOf(node, key)));
  return { files, tests: tests.join('\n'), waits: rests, ...(works(events) ? { works: true } : {}) };
}

/** Whether it has said that it is done: what it left is looked at and proved now, which takes its time and is none of its own. */
async function isDone(tree: SupportsTasks, run: RunId): Promise<boolean> {
  const types = ['model.request', 'model.response', 'executor.prompted', 'executor.ended', 'task.captured'] as const;
  const [latest] = await tree.ledger.read({ session: tree.session, run, types, newest: true, limit: 1 });
  if (latest?.event_type === 'model.response')
    return toolCallsOf(latest.payload.message).every(({ name }) => name === FINAL_REPORT);
  return latest?.event_type === 'executor.ended' || latest?.event_type === 'task.captured';
}

/** Whether a command was begun and has not ended. */
function works(events: Awaited<ReturnType<typeof eventsBelow>>): boolean {
  const open = new Set<string>();
  for (const { event_type: type, payload, run_id: run } of events) {
    if (type === 'tool.call' && payload.name === 'shell') open.add(`${run} ${payload.id}`);
    if (type === 'executor.call' && payload.kind === 'execute') open.add(`${run} ${payload.id}`);
    if (type === 'tool.result' || type === 'executor.result') open.delete(`${run} ${payload.id}`);
    if (type === 'run.ended') for (const one of open) if (one.startsWith(`${run} `)) open.delete(one);
  }
  return open.size > 0;
}

/** Whether somebody is asked and has not answered, or the work stands still because somebody wants it to. */
function waits(events: Awaited<ReturnType<typeof eventsBelow>>): boolean {
  const open = new Set<string>();
  for (const { event_type: type, payload, run_id: run } of events) {
    if (type === 'task.clarify' || type === 'approval.asked') open.add(`${run} ${payload.wait}`);
    if (type === 'approval.answered') open.delete(`${run} ${payload.wait}`);
  }
  return open.size > 0;
}

async function merge(tree: SupportsTasks, node: DrivenRun, key: string, { place, from, parts }: MergeWanted): Promise<Merged> {
  const patches: { readonly task: string; readonly patch: Uint8Array }[] = [];
  for (const { task, patch } of parts) patches.push({ task, patch: await patchBytes(tree, patch) });
  const merged = await tree.places?.merge({ session: tree.session, place: await mergedAt(tree, place), from, parts: patches });
  if (merged?.ok !== true) throw new TroupeError('not_merged', merged?.error.message ?? 'Nobody here can put patches together.');
  const { commit, patch, files, conflicts } = merged.value;
  const tasks = parts.map(({ task }) => task);
  const ref = patch.length === 0 ? undefined : await keepPatch(tree, node, `${key}/patch`, patch, tasks);
  return { commit, files, conflicts, ...present({ patch: ref }) };
}

/** Since the conversation was condensed last. */
async function sinceCondensed(tree: SupportsTasks): Promise<number> {
  await tree.writer.flushed();
  const [last] = await tree.ledger.read({ session: tree.session, types: ['task.summary'], newest: true, limit: 1 });
  const [newest] = await tree.ledger.read({ session: tree.session, newest: true, limit: 1 });
  return (newest?.position ?? 0) - (last?.position ?? 0);
}
