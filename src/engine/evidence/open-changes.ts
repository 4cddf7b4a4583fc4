/**
 * What earlier prompts of a session changed so that tests may prove less, and nobody has put back since. "As it was before the
 * work began" is about the whole session: the next prompt must not find a weakened test and take it for what was always there.
 *
 * It is folded, not looked up: a root run begins with what the one before it left open (`run.started`), and leaves what is open
 * at its end (`run.ended`). So the cost is that of the files that are open, however long the session is.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { limits } from '../../base/limits.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { filesOnTheWay, RUNS_OTHERS } from '../../tools/shell/on-the-way.ts';
import { programAt } from '../../tools/watch/search-path.ts';
import { fileAt } from '../../tools/watch/watched-file.ts';
import { weakenedFiles } from '../old-tests/weakened-tests.ts';
import type { LedgerAccess, ProofAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Past } from '../record/past.ts';
import { readAll } from '../record/read-all.ts';
import type { Writes } from '../record/writes.ts';
import { changesIn, textsIn } from './evidence.ts';
import { createFolders, realFolder, type WorksInFolders } from './folders.ts';
import { replacedFiles } from './replaced-programs.ts';

export type OpenChange = NonNullable<Payloads['run.started']['open']>[number];
type Change = EventOf<'file.diff'>['payload'];

/** Absent where nothing is. */
export interface LeftOpen {
  readonly open?: OpenChange[];
}

/** Files that are kept open, and changes of each: beyond these it counts as one that cannot be followed. */
const OPEN_MAX = 200;
const CHANGES_MAX = 50;

/** What a root run in `workspace` begins with: what was left open, but for what somebody else has committed since. */
export async function openAtStart({ workspaces }: ProofAccess, { facts, events }: Past, workspace: string): Promise<LeftOpen> {
  const ended = events.findLast((event) => event.event_type === 'run.ended' && event.payload.facts !== undefined);
  const left = facts.open ?? (ended?.event_type === 'run.ended' ? ended.payload.facts?.open : undefined) ?? [];
  const still: OpenChange[] = [];
  for (const [place, open] of byFolder(left)) {
    // Of a worktree that is gone there is only what came of it here.
    const folder = existsSync(place) ? place : realFolder(workspace);
    const waiting = open.filter(({ committed }) => committed !== true).flatMap(({ path }) => (isAbsolute(path) ? [] : [path]));
    const committed = waiting.length === 0 ? undefined : await workspaces?.committed?.(folder, waiting);
    // What is as it was before needs no commit: whether it was put back is seen when it is looked at.
    const isPutBack = ({ path, before }: OpenChange): boolean => shaOf(folder, path) === before;
    still.push(...open.filter((one) => one.committed === true || committed?.has(one.path) !== true || isPutBack(one)));
  }
  return still.length === 0 ? {} : { open: still };
}

/** Changes of earlier prompts in the run's folder; `events` are those of this one. What came between is one more, unread. */
export async function earlierChanges(
  tree: LedgerAccess & Writes & WorksInFolders,
  node: DrivenRun,
  events: readonly LedgerEvent[],
): Promise<readonly Change[]> {
  const here = realFolder(tree.workspaceOf(node));
  return (await openIn(tree, here, openOf(node), events)).flatMap(({ changes }) => changes);
}

interface Opened {
  readonly open: OpenChange;
  readonly changes: readonly Change[];
}

async function openIn(
  tree: LedgerAccess & Writes & WorksInFolders,
  here: string,
  left: readonly OpenChange[],
  events: readonly LedgerEvent[],
): Promise<readonly Opened[]> {
  const own = new Set(left.flatMap(({ folder, path }) => (folder === here ? [path] : [])));
  const common = realFolder(tree.workspace);
  const found: Opened[] = [];
  for (const open of left) {
    if (open.folder !== here && own.has(open.path)) continue;
    const changes = await changesAt(tree, open);
    const left = changes.at(-1);
    if (left === undefined) continue;
    const first = changesIn(events).find(({ path }) => path === open.path);
    const began = first === undefined ? shaOf(here, open.path) : first.before;
    // What is as it was before all of it holds nothing against this prompt.
    if (began === open.before) continue;
    // A worktree of a folder in which it is so has it, too; elsewhere a file of that path may be another one.
    if (!isAbsolute(open.path) && open.folder !== here && (began !== left.after || (began === null && open.folder !== common)))
      continue;
    const since: Change = { path: open.path, before: left.after, after: began, ...NOT_SEEN };
    found.push({ open, changes: began === left.after ? changes : [...changes, since] });
  }
  return found;
}

/** A program on the search path has its whole path. */
const shaOf = (folder: string, path: string): string | null =>
  (isAbsolute(path) ? programAt(path) : fileAt(folder, path))?.sha256 ?? null;

const NOT_SEEN = { addedLines: 0, removedLines: 0, diff: '', by: 'outside' } as const;

async function changesAt(tree: LedgerAccess & Writes, { changes }: OpenChange): Promise<Change[]> {
  const found: Change[] = [];
  for (const position of changes) {
    const [event] = await tree.ledger.read({ session: tree.session, after: position - 1, limit: 1, exact: true });
    if (event?.event_type === 'file.diff') found.push(event.payload);
  }
  return found;
}

/** What the tree of a root run that ends leaves open. */
export async function openAtEnd(
  tree: LedgerAccess & ProofAccess & Writes & WorksInFolders,
  node: DrivenRun,
  /** Changing tests was part of the work. */
  testsMayChange: boolean,
): Promise<LeftOpen> {
  const { ledger, session } = tree;
  await tree.writer.flushed();
  const query = { session, root: node.run, types: ['file.diff'] as const };
  const left = openOf(node);
  if (left.length === 0 && (await ledger.read({ ...query, limit: 1 })).length === 0) return {};
  const events = await readAll(ledger, session, { root: node.run, types: ['run.started', 'file.diff', 'cli.run'] });
  const folders = createFolders(tree);
  for (const event of events) folders.apply(event);
  const places = new Set([...left.map(({ folder }) => folder), ...events.map(({ run_id: run }) => folders.of(run))]);
  const open: OpenChange[] = [];
  for (const folder of places) {
    if (!existsSync(folder)) {
      // Nobody can say what became of it: it may be on another disk, and come back.
      open.push(...left.filter((one) => one.folder === folder));
      continue;
    }
    const there = events.filter((event) => event.event_type !== 'run.started' && folders.of(event.run_id) === folder);
    const before = await openIn(
      tree,
      folder,
      left.filter((one) => one.folder === folder),
      there,
    );
    const paths = openPaths(folder, before, there, testsMayChange).slice(0, OPEN_MAX);
    const files = paths.filter((path) => !isAbsolute(path));
    const committed = files.length === 0 ? undefined : await tree.workspaces?.committed?.(folder, files);
    open.push(...paths.map((path) => openChange(folder, path, before, there, committed?.has(path) === true)));
  }
  return open.length === 0 ? {} : { open: open.slice(0, OPEN_MAX) };
}

function openChange(
  folder: string,
  path: string,
  earlier: readonly Opened[],
  events: readonly LedgerEvent[],
  committed: boolean,
): OpenChange {
  const known = earlier.find(({ open }) => open.path === path)?.open;
  const own = events.filter((event) => event.event_type === 'file.diff').filter(({ payload }) => payload.path === path);
  const all = [...(known?.changes ?? []), ...own.map(({ position }) => position)];
  // The first one says what it was, the last ones what it is; what is left out in between cannot be followed any more.
  const changes = all.length <= CHANGES_MAX ? all : [...all.slice(0, 1), ...all.slice(1 - CHANGES_MAX)];
  const before = known === undefined ? (own[0]?.payload.before ?? null) : known.before;
  return { folder, path, before, changes, ...(committed ? { committed } : {}) };
}

/** Those that weaken tests, or that a command may go through on its way to them. */
function openPaths(
  folder: string,
  before: readonly Opened[],
  events: readonly LedgerEvent[],
  testsMayChange: boolean,
): readonly string[] {
  const changes = [...before.flatMap((one) => one.changes), ...changesIn(events)];
  const byPath = new Map<string, Change[]>();
  for (const change of changes) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  const weaker = testsMayChange ? [] : weakenedFiles(changes, textsIn(folder), folder).map(({ path }) => path);
  const tests = new Set([...replacedFiles(changes).map(({ path }) => path), ...weaker]);
  const way = new Set([
    ...filesOnTheWay(['npm', 'test'], folder, folder),
    ...filesOnTheWay(['make'], folder, folder),
    ...events.flatMap((event) =>
      event.event_type === 'cli.run' ? (event.payload.proves ?? []).flatMap(({ through = [] }) => through) : [],
    ),
  ]);
  const paths = [...byPath].filter(([path, all]) => {
    // What nobody but others changed is theirs to answer for.
    if (all.every(({ by }) => by === 'outside') || all[0]?.before === all.at(-1)?.after) return false;
    return tests.has(path) || all.some(({ more }) => more !== undefined) || way.has(path) || leads(join(folder, path));
  });
  // The gravest first: of many only so many are kept.
  return paths.map(([path]) => path).sort((left, right) => Number(tests.has(right)) - Number(tests.has(left)));
}

const SCRIPT = /\.(?:sh|bash|mk)$|(?:^|\/)(?:package\.json|(?:GNU)?makefile)$/i;

/** Whether a command may come to others by this file. */
function leads(path: string): boolean {
  if (SCRIPT.test(path)) return true;
  try {
    const { size } = statSync(path);
    const text = size > limits.scriptBytes ? '' : readFileSync(path, 'utf8');
    return /^#!.*sh\b/.test(text) || RUNS_OTHERS.test(text);
  } catch {
    return false;
  }
}

function openOf(node: DrivenRun): readonly OpenChange[] {
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  return root.started.open ?? [];
}

function byFolder(open: readonly OpenChange[]): ReadonlyMap<string, readonly OpenChange[]> {
  const folders = new Map<string, OpenChange[]>();
  for (const one of open) folders.set(one.folder, [...(folders.get(one.folder) ?? []), one]);
  return folders;
}
