/**
 * What `troupe ps` lists: root runs, newest first, each with the runs below it. Of a session only what began with the oldest
 * listed run is read, so the cost follows from what is listed and not from how long the ledger is.
 */

import { codeOf } from '../base/errors.ts';
import { type RunId, type SessionId, shortId, threadOf } from '../base/ids.ts';
import type { Party } from '../events/assistants.ts';
import type { EventType, Failure, Verification } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { succeeded } from '../events/succeeded.ts';
import { readEvents } from '../ledger/pages.ts';
import type { LeaseOwner, Ledger, RunRow } from '../ledger/port.ts';
import { spendingTypes } from '../projections/costs.ts';
import { createProcesses, hasEnded, type Process, type Processes, processTypes } from '../projections/processes.ts';
import {
  foldRunTree,
  initialRunTree,
  type RunNode,
  type RunTree,
  subtree,
  subtreeSpending,
  withAskersBelow,
} from '../projections/run-tree.ts';
import { createSessionThreads, type SessionThreads, threadTypes } from '../projections/threads.ts';
import { foldWaits, initialWaits, type Waits } from '../projections/waits.ts';
import { failedBelow, isDoneAgain } from './failed-below.ts';
import { type ListQuery, listedRoots } from './project/listed-roots.ts';
import { nextCommand, nextHere, standingBelow, stateOf } from './standing.ts';

/** The stable shape behind `--json`: fields may be added, never changed. */
export interface PsRow {
  readonly run: RunId;
  readonly session: SessionId;
  readonly parent: RunId | null;
  /** How many listed runs it stands below. */
  readonly depth: number;
  readonly agent: string;
  readonly state: ReturnType<typeof stateOf>;
  /** The same, under the name that `show` and runs themselves have for it. */
  readonly status: ReturnType<typeof stateOf>;
  /** What its result was found to be worth, once it has completed. */
  readonly verification: Verification['state'] | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly owner: LeaseOwner | null;
  readonly next: string | null;
  /** Why it failed, was cancelled or stands still. */
  readonly error: Failure | null;
  /** When its model, or one that it stands still for, is asked again, while that is out of order. */
  readonly nextAttemptAt: number | null;
  /** The child process that hosts it, or else the process that drives it. */
  readonly pid: number | null;
  readonly ageMs: number;
  /** Of the run and everything below it; `null` when its events are gone. */
  readonly cost: { readonly nanoUsd: number; readonly unknownCalls: number } | null;
  /** Messages to it that it has not read, in its own thread and in those of its assistants. */
  readonly unread: number;
  readonly oldestUnreadAt: number | null;
  /** Since when the oldest of them waits, unless it has ended and reads no more. */
  readonly lagMs: number | null;
  /** What only a spawned run has. */
  readonly process: {
    readonly spawnedBy: string;
    readonly thread: string;
    readonly status: Process['status'];
    readonly exitCode: number | null;
    readonly messages: number;
    /** Messages in its thread that whoever spawned it has not read. */
    readonly unreadByParent: number;
  } | null;
}

/** A session's listed part, folded. */
interface Folded {
  readonly tree: RunTree;
  readonly processes: Processes;
  readonly sessionThreads: SessionThreads;
  readonly waits: Waits;
  /** When the model of a run is asked again. */
  readonly attempts: Map<RunId, number>;
}

export interface PsQuery extends ListQuery {
  /** Every run below a root, and not only those that were spawned. */
  readonly all: boolean;
  /** Only of this session. */
  readonly session?: SessionId | undefined;
  readonly now: number;
}

const TYPES: readonly EventType[] = [
  ...new Set<EventType>([...processTypes, ...threadTypes, 'run.paused', 'run.parked', 'run.resumed', ...spendingTypes]),
];

export async function readPsRows(ledger: Ledger, query: PsQuery): Promise<readonly PsRow[]> {
  const listed: PsRow[] = [];
  let [count, some]: [number, RunRow[]] = [0, []];
  const take = async (): Promise<void> => {
    for (const rows of await rowsOfRoots(ledger, some, query)) {
      const [root] = rows;
      if (count >= query.limit || root === undefined || query.states?.includes(root.state) === false) continue;
      count += 1;
      for (const row of rows) listed.push({ ...row, next: (await nextHere(ledger, row, row.next ?? undefined)) ?? null });
    }
    some = [];
  };
  for await (const root of listedRoots(ledger, query)) {
    some.push(root);
    // Without states all are listed that are looked at.
    if (some.length >= query.limit - count) await take();
    if (count >= query.limit) break;
  }
  await take();
  return listed;
}

/** The rows of each root, itself first. */
async function rowsOfRoots(ledger: Ledger, roots: readonly RunRow[], query: PsQuery): Promise<readonly (readonly PsRow[])[]> {
  const folded = new Map<SessionId, Folded | undefined>();
  for (const [session, rows] of Map.groupBy(roots, (root) => root.session))
    folded.set(session, await readFolded(ledger, session, rows));
  return roots.map((root) => rowsOf(root, folded.get(root.session), query));
}

/** `undefined` when the events were collected or are damaged: the run is listed all the same. */
async function readFolded(ledger: Ledger, session: SessionId, rows: readonly RunRow[]): Promise<Folded | undefined> {
  try {
    const oldest = rows.at(-1);
    if (oldest === undefined) return undefined;
    const [started] = await ledger.read({ session, run: oldest.run, types: ['run.started'], limit: 1 });
    return started === undefined ? undefined : await fold(ledger, session, started.position - 1);
  } catch (error) {
    if (codeOf(error) === 'ledger_collected' || codeOf(error) === 'ledger_corrupt') return undefined;
    throw error;
  }
}

async function fold(ledger: Ledger, session: SessionId, after: number): Promise<Folded> {
  const folded: Folded = {
    tree: initialRunTree(),
    processes: createProcesses(),
    sessionThreads: createSessionThreads(),
    waits: initialWaits(),
    attempts: new Map(),
  };
  for await (const event of readEvents(ledger, { session, after, types: TYPES })) {
    foldRunTree(folded.tree, event);
    foldWaits(folded.waits, event);
    foldAttempts(folded.attempts, event);
    folded.processes.apply(event);
    folded.sessionThreads.apply(withoutContent(event));
  }
  return folded;
}

/** Whatever else a run does, it is not waiting for another attempt any more. */
function foldAttempts(attempts: Map<RunId, number>, event: LedgerEvent): void {
  const { run_id: run } = event;
  attempts.delete(run);
  if (event.event_type !== 'model.failed' || event.payload.final || event.payload.nextInMs === undefined) return;
  attempts.set(run, Date.parse(event.timestamp) + event.payload.nextInMs);
}

/** Messages are only counted here: what they say need not be kept. */
function withoutContent(event: LedgerEvent): LedgerEvent {
  return event.event_type === 'message.sent' ? { ...event, payload: { ...event.payload, content: '' } } : event;
}

function rowsOf(root: RunRow, folded: Folded | undefined, query: PsQuery): readonly PsRow[] {
  if (folded === undefined) return [plainRow(root, query.now)];
  const family = subtree(folded.tree, root.run);
  const listed = family.filter(({ run }) => query.all || run === root.run || folded.processes.find(run)?.spawnedBy != null);
  const depths = new Map<RunId, number>();
  const missing = missingBelow(folded.tree, root.run);
  return listed.map((node) => {
    const depth = depthOf(folded.tree, node, depths);
    depths.set(node.run, depth);
    const row = detailedRow(root, family, folded, node, depth, query.now);
    return row.next === null && missing.has(node.run) ? { ...row, next: `troupe retry ${shortId(node.run)}` } : row;
  });
}

/** Whose work is missing in the answer of a run, and can be done again by itself. */
function missingBelow(tree: RunTree, root: RunId): ReadonlySet<RunId> {
  const node = tree.runs.get(root);
  const failed = node === undefined ? [] : failedBelow(tree, node).filter(isDoneAgain);
  return new Set(failed.map(({ run }) => run));
}

/** Parents come first: the nearest ancestor that is listed has its depth already. */
function depthOf(tree: RunTree, node: RunNode, depths: ReadonlyMap<RunId, number>): number {
  for (let up = node.parent; up !== null; up = tree.runs.get(up)?.parent ?? null) {
    const above = depths.get(up);
    if (above !== undefined) return above + 1;
  }
  return 0;
}

/** All that the index knows, for a run whose events cannot be read. */
function plainRow(row: RunRow, now: number): PsRow {
  return {
    ...row,
    depth: 0,
    state: stateOf(row),
    status: stateOf(row),
    verification: null,
    next: nextCommand(row) ?? null,
    error: null,
    nextAttemptAt: null,
    pid: row.owner?.pid ?? null,
    ageMs: Math.max(0, now - row.startedAt),
    cost: null,
    unread: 0,
    oldestUnreadAt: null,
    lagMs: null,
    process: null,
  };
}

function detailedRow(root: RunRow, family: readonly RunNode[], folded: Folded, node: RunNode, depth: number, now: number): PsRow {
  const { run, parent, agent, startedAt, endedAt } = node;
  const row: RunRow = { run, session: root.session, parent, agent, state: node.state, startedAt, endedAt, owner: root.owner };
  const completed = succeeded({ status: node.state });
  const process = folded.processes.find(run);
  const stands = standing(root, family, row, folded.waits, node.error);
  const { unread, oldestUnreadAt } = unreadBy(folded, node);
  const { nanoUsd, unknownCalls } = subtreeSpending(folded.tree, run);
  return {
    ...plainRow(row, now),
    ...stands,
    status: stands.state,
    error: node.error,
    nextAttemptAt: root.owner === null ? null : nextAttemptIn(folded, run),
    depth,
    verification: completed ? (node.verification?.state ?? null) : null,
    pid: root.owner === null || endedAt !== null ? null : (process?.pid ?? root.owner.pid),
    cost: { nanoUsd, unknownCalls },
    unread,
    oldestUnreadAt,
    lagMs: oldestUnreadAt === null || endedAt !== null ? null : Math.max(0, now - oldestUnreadAt),
    process: process === undefined || process.spawnedBy === null ? null : spawnedPart(folded, process, process.spawnedBy),
  };
}

/**
 * When its model is asked again; or that of a run below it for whose sake it stands still: where all that are at work there wait
 * for theirs, the first of them. Who was spawned works on its own.
 */
function nextAttemptIn(folded: Folded, run: RunId): number | null {
  const { tree, attempts, processes } = folded;
  const own = attempts.get(run);
  if (own !== undefined) return own;
  const children = tree.runs.get(run)?.children ?? [];
  const atWork = children.filter((child) => tree.runs.get(child)?.endedAt === null && processes.find(child)?.spawnedBy == null);
  const times = atWork.map((child) => nextAttemptIn(folded, child));
  return times.length === 0 || times.includes(null) ? null : Math.min(...times.flatMap((at) => at ?? []));
}

function standing(
  root: RunRow,
  family: readonly RunNode[],
  row: RunRow,
  waits: Waits,
  error: Failure | null,
): Pick<PsRow, 'state' | 'next'> {
  const asking = family.find(({ state }) => state === 'waiting');
  const own = row.run === root.run ? root : row;
  const asks = (run: RunId) => [...waits.values()].filter((wait) => wait.run === run);
  const state = standingBelow(root, own, withAskersBelow(family).has(own.run));
  if (own.state !== 'running' || root.owner !== null) return { state, next: nextCommand(own, asks(own.run), error) ?? null };
  if (asking === undefined) return { state, next: row.run === root.run ? (nextCommand(root) ?? null) : null };
  const next = nextCommand({ ...root, run: asking.run, state: 'waiting' }, asks(asking.run)) ?? null;
  return { state, next: row.run === root.run ? next : null };
}

function unreadBy(
  { tree, sessionThreads, processes }: Folded,
  { run, agent }: RunNode,
): Pick<PsRow, 'unread' | 'oldestUnreadAt'> {
  const children = tree.runs.get(run)?.children ?? [];
  const threads = [run, ...children.filter((child) => processes.find(child)?.spawnedBy != null)].map(threadOf);
  const summaries = threads.map((thread) => sessionThreads.summary(thread, { assistant: agent, run }));
  const times = summaries.flatMap(({ oldestUnreadAt }) => oldestUnreadAt ?? []);
  return {
    unread: summaries.reduce((sum, { unread }) => sum + unread, 0),
    oldestUnreadAt: times.length === 0 ? null : Math.min(...times),
  };
}

function spawnedPart({ sessionThreads }: Folded, process: Process, spawnedBy: string): PsRow['process'] {
  const thread = threadOf(process.run);
  const parent: Party = { assistant: spawnedBy, ...(process.parent === null ? {} : { run: process.parent }) };
  const { total, unread } = sessionThreads.summary(thread, parent);
  return {
    spawnedBy,
    thread,
    status: process.status,
    exitCode: hasEnded(process) ? process.exitCode : null,
    messages: total,
    unreadByParent: unread,
  };
}
