/**
 * Places of tasks that are worked on by whoever is free: each is built below the home of the process that works on it, from what
 * the run brought along and what was kept since. Where a clone of the repository is at hand, its objects are used.
 */
import { join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { KeptPoint, OpenPlace, TravellingPlaces, WantedRepository, WantedTravel } from '../../engine/options.ts';
import type { Failure } from '../../events/catalogue.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import { workspaceRoot } from '../../tools/files/workspace.ts';
import type { WorkspaceOptions } from '../../workspaces/options.ts';
import type { KeptFile, KnownFiles, WorkPlace } from '../../workspaces/port.ts';
import { hasCommit, receivedAt } from '../../workspaces/travel/travel.ts';
import { createWorkspaces } from '../../workspaces/workspaces.ts';

/** A folder to look at is a place as well. */
const TO_LOOK_AT = 'files';

/** What this process knows of a place that it has built. */
interface Built {
  readonly by: string;
  readonly place: WorkPlace & { readonly kind: 'worktree' };
  /** How many points there were when it was built; those after them must be its own. */
  readonly before: number;
  known: KnownFiles;
  point: number;
  bytes: number;
  atWork: number;
  /** One look at a time. */
  last: Promise<unknown>;
}

/** `sweep`: called before a place is made. */
export function createTravellingPlaces(options: WorkspaceOptions, sweep?: () => Promise<void>): TravellingPlaces {
  const workspaces = createWorkspaces(options);
  const built = new Map<string, Built>();
  return {
    async pack(folder) {
      const packed = await workspaces.pack(folder);
      if (!packed.ok) return packed;
      const { top, below, head, base, pack, files } = packed.value;
      return ok({ repository: { top, below, head, base }, pack, files });
    },
    repository: (wanted) => repositoryWith(options, workspaces, wanted),
    isHere: async (folder) => (await workspaceRoot(folder)).ok,
    async folder({ session, folder, ...wanted }) {
      if (await pathExists(folder)) return ok(folder);
      const repo = await repositoryWith(options, workspaces, wanted);
      if (!repo.ok) return repo;
      const made = await workspaces.prepare({ repo: repo.value, session, task: TO_LOOK_AT, base: wanted.commit });
      return made.ok ? ok(join(made.value.place.path, wanted.from.below)) : made;
    },
    async open(wanted) {
      await sweep?.();
      const found = await builtHere(options, workspaces, built, wanted);
      return found.ok ? ok(openPlace(workspaces, found.value, wanted.from.below)) : found;
    },
  };
}

type Made = ReturnType<typeof createWorkspaces>;

async function repositoryWith(
  options: WorkspaceOptions,
  workspaces: Made,
  wanted: WantedRepository,
): Promise<Result<string, Failure>> {
  const { from, commit } = wanted;
  const here = [from.top, receivedAt(options, from.base)];
  for (const repo of here) if (await hasCommit(options, repo, commit)) return ok(repo);
  const repo = await repositoryOfBase(options, workspaces, wanted);
  if (!repo.ok || commit === from.base) return repo;
  const patch = await wanted.patchTo(commit);
  if (patch === undefined) return fail({ code: 'bad_base', message: `Nothing says how ${commit} was made.` });
  const made = await workspaces.advance({ repo: repo.value, from: from.base, base: from.base, patch });
  if (!made.ok) return made;
  if (made.value.commit === commit) return repo;
  return fail({ code: 'bad_base', message: `What was accepted makes ${made.value.commit} here, and not ${commit}.` });
}

async function repositoryOfBase(
  options: WorkspaceOptions,
  workspaces: Made,
  { from, contents }: WantedRepository,
): Promise<Result<string, Failure>> {
  if (await hasCommit(options, from.top, from.base)) return ok(from.top);
  return await workspaces.receive({ head: from.head, base: from.base, ...(await contents()) });
}

/** As this process left it, if nobody has worked there since; else as it was kept last. */
async function builtHere(
  options: WorkspaceOptions,
  workspaces: Made,
  built: Map<string, Built>,
  wanted: WantedTravel,
): Promise<Result<Built, Failure>> {
  const { session, task, commit } = wanted;
  const key = `${session}/${task}`;
  const before = built.get(key);
  const isThere = before !== undefined && (await pathExists(before.place.path));
  const points = await wanted.kept();
  if (isThere && (before.atWork > 0 || isOwnLast(before, points))) return ok(before);
  const repo = await repositoryWith(options, workspaces, wanted);
  if (!repo.ok) return repo;
  const made = await workspaces.prepare({ repo: repo.value, session, task, base: commit });
  if (!made.ok) return made;
  const { place } = made.value;
  if (place.kind !== 'worktree') return fail({ code: 'bug', message: 'A place that travels is a worktree.' });
  const restored = await workspaces.restore(place, filesOf(points));
  if (!restored.ok) return restored;
  const bytes = points.reduce((sum, point) => sum + bytesOf(point.files), 0);
  const { known } = restored.value;
  const now: Built = {
    ...{ by: options.ids.nonce(), place, before: points.length, known, point: 0, bytes, atWork: 0, last: Promise.resolve() },
  };
  built.delete(key);
  built.set(key, now);
  for (const [oldest, { atWork }] of built) if (built.size > limits.placesKnown && atWork === 0) built.delete(oldest);
  return ok(now);
}

/** Everything that came since is its own, and all of that has come: otherwise its files are not those of the ledger. */
function isOwnLast({ by, before, point }: Built, points: readonly KeptPoint[]): boolean {
  const last = points.at(-1);
  return points.length === before + point && (point === 0 || (last?.by === by && last.point === point));
}

/** What they come to. */
function filesOf(points: readonly KeptPoint[]): readonly KeptFile[] {
  const files = new Map<string, KeptFile>();
  for (const point of points)
    for (const file of point.files) {
      if (file.back === true) files.delete(file.path);
      else files.set(file.path, file);
    }
  return [...files.values()];
}

const bytesOf = (files: readonly KeptFile[]): number => files.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);

function openPlace(workspaces: Made, built: Built, below: string): OpenPlace {
  built.atWork += 1;
  let isOpen = true;
  const { place } = built;
  return {
    path: join(place.path, below),
    repo: place.repo,
    changes() {
      const looked = built.last.then(() => changesOf(workspaces, built));
      built.last = looked.catch(() => undefined);
      return looked;
    },
    close() {
      if (isOpen) built.atWork -= 1;
      isOpen = false;
    },
  };
}

async function changesOf(workspaces: Made, built: Built): Promise<Result<KeptPoint | undefined, Failure>> {
  const found = await workspaces.changes(built.place, built.known);
  if (!found.ok) return found;
  const { files, known } = found.value;
  if (files.length === 0) return ok(undefined);
  const bytes = built.bytes + bytesOf(files);
  if (bytes > limits.keptPlaceBytes) return fail(tooMuch(built.place.path));
  Object.assign(built, { bytes, known, point: built.point + 1 });
  return ok({ by: built.by, point: built.point, files });
}

const tooMuch = (path: string): Failure => ({
  code: 'place_too_large',
  message: `What was changed in ${path} is more than ${limits.keptPlaceBytes} bytes in all (keptPlaceBytes).`,
  fix: 'Let .gitignore name what is generated, or split the task.',
});
