/**
 * Places of runs that have ended. One stays while its work may still be applied: it was captured, not turned down, and neither
 * applied nor older than `placeKeptMs`. All others go, and what lies there beyond the captured patch is kept as a patch beside.
 * What stays is unlocked, so that `git worktree remove` works. Whatever is cut off is finished the next time.
 */
import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createArtifactArchive } from '../../artifacts/archive.ts';
import type { Clock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import { bytesAt } from '../../workspaces/apply/run-result.ts';
import type { WorkspaceOptions } from '../../workspaces/options.ts';
import { placeFiles, readRecord } from '../../workspaces/place-files.ts';
import { unlockPlace } from '../../workspaces/prepare.ts';
import { createWorkspaces } from '../../workspaces/workspaces.ts';

export interface EndedNeeds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly options: WorkspaceOptions;
}

const RECEIVED = '.repositories';

/** Of one session, or of all. Gives how many went. */
export async function sweepEnded(needs: EndedNeeds, only?: SessionId): Promise<number> {
  const top = join(needs.options.home, 'worktrees');
  const sessions = only === undefined ? await names(top) : [only];
  let removed = 0;
  for (const session of sessions)
    if (!session.startsWith('.') && removed < limits.placesSwept) removed += await sweepSession(needs, session as SessionId);
  if (removed > 0) await sweepReceived(needs.options);
  return removed;
}

/** Looked for first: every run ends here, and most have no place. */
const names = async (folder: string): Promise<readonly string[]> =>
  existsSync(folder) ? await readdir(folder).catch(() => []) : [];

async function sweepSession(needs: EndedNeeds, session: SessionId): Promise<number> {
  const { ledger, clock, options } = needs;
  const records = (await names(join(options.home, 'worktrees', session))).filter((name) => name.endsWith('.json'));
  if (records.length === 0) return 0;
  const roots = await ledger.runs({ session, roots: true, limit: Number.MAX_SAFE_INTEGER });
  // One that nobody knows here is another ledger's.
  if (roots.length === 0 || roots.some(({ endedAt }) => endedAt === null)) return 0;
  const endedAt = Math.max(...roots.map((root) => root.endedAt ?? 0));
  const told = await toldOf(ledger, session);
  const isOver = told.isApplied || clock.now() - endedAt > limits.placeKeptMs;
  let removed = 0;
  for (const name of records.slice(0, limits.placesSwept)) {
    const task = name.replace(/\.json$/, '');
    if (await sweepPlace(needs, session, task, told, isOver)) removed += 1;
  }
  return removed;
}

/** What the session says of its tasks. */
interface Told {
  readonly patches: ReadonlyMap<string, string>;
  readonly turnedDown: ReadonlySet<string>;
  readonly isApplied: boolean;
  /** Tasks that there were at all. */
  readonly tasks: ReadonlySet<string>;
}

const LOOKED_AT = ['run.started', 'task.captured', 'task.judged', 'apply.made', 'apply.undone'] as const;

async function toldOf(ledger: Ledger, session: SessionId): Promise<Told> {
  const [patches, turnedDown, tasks, applied] = [
    new Map<string, string>(),
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  for await (const event of readEvents(ledger, { session, types: LOOKED_AT })) {
    if (event.event_type === 'run.started') {
      const terms = taskTermsOf(event.payload);
      if (terms !== undefined) tasks.add(terms.task);
    } else if (event.event_type === 'task.captured') {
      if (event.payload.patch !== undefined) patches.set(event.payload.task, event.payload.patch);
    } else if (event.event_type === 'task.judged') {
      if (event.payload.verdict === 'accepted') turnedDown.delete(event.payload.task);
      else turnedDown.add(event.payload.task);
    } else if (event.event_type === 'apply.made') applied.add(event.payload.apply);
    else if (event.event_type === 'apply.undone') applied.delete(event.payload.apply);
  }
  return { patches, turnedDown, tasks, isApplied: applied.size > 0 };
}

/** Whether it went. */
async function sweepPlace(
  { ledger, clock, options }: EndedNeeds,
  session: SessionId,
  task: string,
  { patches, turnedDown, tasks, isApplied }: Told,
  isOver: boolean,
): Promise<boolean> {
  const files = placeFiles(options.home, session, task);
  const record = files.ok ? await readRecord(files.value.record) : undefined;
  if (!files.ok || record === undefined) return false;
  if (record.inPlace !== undefined) {
    await rm(files.value.record, { force: true });
    return true;
  }
  const { path } = files.value;
  const ref = patches.get(task);
  const received = record.repo.startsWith(join(options.home, 'worktrees', RECEIVED));
  const isWanted = ref !== undefined && !turnedDown.has(task) && tasks.has(task) && !isApplied;
  await unlockPlace(path);
  // Built from what is in the ledger, it can be built again from that.
  if (isWanted && !isOver && !received && (await pathExists(path))) return false;
  const force = record.mirror === true;
  const captured = ref === undefined ? undefined : await bytesAt(createArtifactArchive(ledger, clock), session, ref);
  const place = { kind: 'worktree' as const, path, base: record.base, repo: record.repo };
  const bytes = captured?.ok === true ? captured.value : undefined;
  // Where nothing was captured, what lies there is all that there is of the work.
  const gone = await createWorkspaces(options).remove(place, {
    force,
    keepRest: bytes !== undefined,
    ...present({ captured: bytes }),
  });
  return gone.ok && gone.value.removed;
}

/** Repositories from elsewhere that no place is a worktree of, and that nobody has just received. */
async function sweepReceived({ home, clock }: WorkspaceOptions): Promise<void> {
  const folder = join(home, 'worktrees', RECEIVED);
  for (const name of await names(folder)) {
    const used = await names(join(folder, name, '.git', 'worktrees'));
    const facts = await stat(join(folder, name)).catch(() => undefined);
    if (used.length > 0 || facts === undefined || clock.now() - facts.mtimeMs < limits.placesSweepMs) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
