/** Places for tasks as the engine has them: worktrees of the folder's repository, and patches of what was done there. */
import { join, relative } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { TaskPlaces, WantedTaskFiles, WantedTaskMerge, WantedTaskPlace, WrittenFiles } from '../../engine/options.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { TaskPlace, TaskTerms } from '../../events/tasks/task-terms.ts';
import { createWorkspaceWatch, type WatchOptions } from '../../tools/watch/workspace-watch.ts';
import { type DomainLease, holdsDomain, type LeaseNeeds, leaseDomain, releaseDomain } from '../../workspaces/leases.ts';
import type { WorkspaceOptions } from '../../workspaces/options.ts';
import type { DomainPaths, WorkPlace } from '../../workspaces/port.ts';
import { findCommittedRepository, findTop } from '../../workspaces/repository.ts';
import { createWorkspaces } from '../../workspaces/workspaces.ts';
import { type EndedNeeds, sweepEnded } from './ended-places.ts';
import { takeBackNew } from './take-back-new.ts';
import { createTravellingPlaces } from './travelling-places.ts';

export function createTaskPlaces(options: WorkspaceOptions, watching: WatchOptions, leases: LeaseNeeds): TaskPlaces {
  const workspaces = createWorkspaces(options);
  const held = new Map<string, DomainLease>();
  const around = { ledger: leases.ledger, clock: options.clock, options };
  const sweep = sweepingSometimes(around);
  // Its own: what it has seen nobody else needs to be told.
  const watch = createWorkspaceWatch(watching);
  return {
    where: ({ session, task }) => join(options.home, 'worktrees', session, task),
    lease: (wanted) => lease(options, leases, held, wanted),
    async release(task, session) {
      const lease = held.get(keyOf(session, task));
      held.delete(keyOf(session, task));
      // Where others are busy leasing it ends with its run.
      if (lease !== undefined) await releaseDomain(leases, lease);
    },
    async prepare(wanted) {
      await sweep();
      return await prepare(options, workspaces, wanted);
    },
    async mark(path) {
      const { state } = await watch.look(path);
      return state.kind === 'known' ? state.digest : undefined;
    },
    async capture(terms, session) {
      const token = held.get(keyOf(session, terms.task));
      if (token === undefined || (await holdsDomain(leases, token))) return await capture(workspaces, terms);
      return fail({ code: 'domain_lost', message: `The files of ${terms.task} are another's now, who goes on with it.` });
    },
    async unseen({ place, task }, seen) {
      if (place.kind !== 'worktree') return ok([]);
      const { top, below } = topOf(place, task);
      return await workspaces.unseen(top, below, seen);
    },
    async remove(place, task) {
      if (place.kind === 'worktree') await workspaces.remove(topOf(place, task).top, { force: true });
    },
    async ignored(place, task) {
      if (place.kind !== 'worktree') return [];
      const { top, below } = topOf(place, task);
      const found = await workspaces.ignored(top);
      return found.ok ? found.value.map((path) => relative(below, path) + (path.endsWith('/') ? '/' : '')) : [];
    },
    async problem(folder) {
      const found = await findCommittedRepository(folder, options.environment);
      return found.ok ? undefined : found.error;
    },
    async begin({ folder, session, task }) {
      await workspaces.prepare({ repo: folder, session, task, inPlace: true });
    },
    takeBack: (terms, session, written) => takeBack(options, workspaces, terms, session, written),
    merge: (wanted) => merge(workspaces, wanted),
    async ended(session) {
      await sweepEnded(around, session);
    },
    travelling: createTravellingPlaces(options, sweep),
  };
}

/** When places are made, and not each time. What cannot be removed now can be later. */
function sweepingSometimes(around: EndedNeeds): () => Promise<void> {
  let last: number | undefined;
  return async () => {
    const now = around.clock.elapsed();
    if (last !== undefined && now - last < limits.placesSweepMs) return;
    last = now;
    await sweepEnded(around).catch(() => undefined);
  };
}

const keyOf = (session: string, task: string): string => `${session}/${task}`;

/** What this process has leased and still has is not leased again. */
async function lease(
  { environment }: WorkspaceOptions,
  needs: LeaseNeeds,
  held: Map<string, DomainLease>,
  { folder, session, task, run, domain, from, assigned }: WantedTaskFiles,
): Promise<Result<void, Failure>> {
  const before = held.get(keyOf(session, task));
  if (before !== undefined && (await holdsDomain(needs, before))) return ok(undefined);
  const found = from === undefined ? await findTop(folder, environment) : ok(from.top);
  const top = found.ok ? found.value : folder;
  const wanted = { task, session, run, repo: top, domain: within(domain, from?.below ?? relative(top, folder)), assigned };
  const leased = await leaseDomain(needs, wanted, { amongRun: true });
  if (!leased.ok) return leased;
  held.set(keyOf(session, task), leased.value);
  return ok(undefined);
}

type Made = ReturnType<typeof createWorkspaces>;

/** The same folder of the worktree that the folder is of the repository. */
async function prepare(
  options: WorkspaceOptions,
  workspaces: Made,
  { folder, session, task, base, patch }: WantedTaskPlace,
): Promise<Result<TaskPlace, Failure>> {
  const top = await findTop(folder, options.environment);
  if (!top.ok) return top;
  const made = await workspaces.prepare({ repo: folder, session, task, base: base ?? 'working-tree', patch });
  if (!made.ok) return made;
  const { place } = made.value;
  if (place.kind !== 'worktree') return fail({ code: 'no_repository', message: 'The folder is worked on as it is.' });
  return ok({ ...place, path: join(place.path, relative(top.value, folder)), repo: folder });
}

async function capture(workspaces: Made, terms: TaskTerms): ReturnType<TaskPlaces['capture']> {
  const { place } = terms;
  if (place.kind !== 'worktree') return fail({ code: 'in_place', message: 'Nothing is captured in a folder as it is.' });
  const { top, below } = topOf(place, terms.task);
  const captured = await workspaces.capture(top, domainOf(terms, below));
  if (!captured.ok) return captured;
  const { patch, files, outside, lost } = captured.value;
  return ok({
    patch,
    text: Buffer.from(patch).toString(),
    files: files.map(({ path, addedLines, removedLines }) => ({ path, added: addedLines, removed: removedLines })),
    outside: outside.map(({ path, why, kept }) => ({ path, why, ...present({ kept }) })),
    missing: lost,
  });
}

async function takeBack(
  { home }: WorkspaceOptions,
  workspaces: Made,
  terms: TaskTerms,
  session: string,
  seen: WrittenFiles,
): ReturnType<NonNullable<TaskPlaces['takeBack']>> {
  const { task, place } = terms;
  // As it was remembered when the task began.
  const begun = await workspaces.prepare({ repo: place.path, session, task, inPlace: true });
  if (!begun.ok && (begun.error.code === 'no_repository' || begun.error.code === 'no_git'))
    return await takeBackNew({ home, session, task, folder: place.path }, seen);
  if (!begun.ok) return begun;
  const { place: folder } = begun.value;
  if (folder.kind !== 'in-place' || folder.repo === undefined) return fail({ code: 'in_place', message: 'It has a worktree.' });
  const below = relative(folder.repo, folder.path);
  const written = new Map([...seen].map(([path, file]) => [join(below, path), file]));
  const taken = await workspaces.takeBack({ place: folder, session, task, domain: domainOf(terms, below), written });
  if (!taken.ok) return taken;
  return ok(taken.value.map(({ path, why, kept }) => ({ path: relative(below, path), why, ...present({ kept }) })));
}

/** The worktree itself, and which of its folders is the task's. */
function topOf(
  place: Extract<TaskPlace, { kind: 'worktree' }>,
  task: string,
): { readonly top: WorkPlace; readonly below: string } {
  const end = place.path.lastIndexOf(task) + task.length;
  const path = place.path.slice(0, end);
  return { top: { ...place, path }, below: relative(path, place.path) };
}

/** Whoever was only to look has nothing to leave behind, whatever the executor takes its mode for. */
const domainOf = (terms: TaskTerms, below: string): DomainPaths =>
  terms.mode === 'read-only' ? { ...within(terms, below), noTouch: ['**'] } : within(terms, below);

/** Paths of a package are relative to the task's folder. */
function within({ include, exclude, noTouch }: WantedTaskFiles['domain'], below: string): DomainPaths {
  const at = (paths: readonly string[]) => paths.map((path) => (below === '' ? path : join(below, path)));
  // The whole folder: everything may be written.
  const all = include.some((path) => path === '.' || path === './');
  return { include: all && below === '' ? [] : at(include), exclude: at(exclude), noTouch: at(noTouch) };
}

async function merge(workspaces: Made, { place, from, parts }: WantedTaskMerge): ReturnType<TaskPlaces['merge']> {
  if (place.kind !== 'worktree') return fail({ code: 'in_place', message: 'Nothing is put together in a folder as it is.' });
  const { base, repo } = place;
  const merged = await workspaces.merge({ repo, base, patches: parts });
  if (!merged.ok) return merged;
  const advanced = await workspaces.advance({ repo, from, base, patch: merged.value.patch });
  if (!advanced.ok) return advanced;
  const conflicts = merged.value.left.flatMap(({ task, against, conflicts: found }) =>
    found.map(({ path, says, kind, sides, hunks }) => ({
      ...{ path, tasks: [...against, task], why: says, kind },
      sides: sides.map((side) => ({ task: side.task, ...present({ mode: side.mode, blob: side.blob }) })),
      hunks: hunks.map((hunk) => ({ ...hunk })),
    })),
  );
  return ok({ ...advanced.value, files: advanced.value.files.length, conflicts });
}
