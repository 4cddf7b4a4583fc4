/**
 * The tree of runs as it stands: who is doing what, since when, for how much. Folded event by event, so that the terminal,
 * the console and a cold read of the ledger show the same tree.
 *
 * The accumulator belongs to the fold, which updates and returns it; the nodes in it are replaced, never changed, so a
 * display can tell by identity what is new.
 */

import type { RunId } from '../base/ids.ts';
import { isToldUnread } from '../events/assistants.ts';
import type { Budget, Failure, Payloads, Report, RunState, Verification } from '../events/catalogue.ts';
import type { TreeDoings } from '../events/doings.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import type { ForkSource } from '../events/going-on.ts';
import { textOf } from '../events/messages.ts';
import {
  isSubAgent,
  type Listener,
  listenerOf,
  memberOfGroup,
  parentRun,
  reasonInTree,
  roleInTree,
} from '../events/run-origin.ts';
import { addSpending, type CallCosts, noSpending, spendingIn } from './costs.ts';
import { countCalls, type DoingsBelow, type EndedCall, goneCalls, nothingBelow } from './doings.ts';
import { foldGroups, type GroupsProgress, initialGroups } from './patterns/group-progress.ts';
import { filesMerged, type NotesForNext, noteForNext } from './patterns/pattern-lines.ts';
import { firstLine } from './readable.ts';
import { requestLine } from './request-text.ts';
import { askedFor, type CallsOfRun, callsAfter, callsTurnedAway, callsWith } from './tool-uses.ts';

export type CutBy = 'maxOutputTokens' | 'peerAnswerBytes' | 'peerArtifacts';

export interface RunNode extends CallsOfRun {
  readonly run: RunId;
  readonly parent: RunId | null;
  readonly agent: string;
  readonly role: string | null;
  /** The name under which a group knows it. */
  readonly member: string | null;
  readonly reason: string | null;
  /** What whoever asked for the run said: why an agent was called, what it was asked again, a note. */
  readonly note: string | null;
  /** Its place among those that talk to each other in cycles. */
  readonly place: Listener | null;
  /** The run whose conversation this one goes on with. */
  readonly continues: RunId | null;
  /** Where in the session it began. */
  readonly position: number;
  readonly state: RunState;
  readonly turn: number;
  /** `nextAt`: when the next attempt is made, while that is waited for. `why`: what the one before came to nothing for. */
  readonly asking: (AskedModel & { readonly nextAt?: number; readonly why?: string }) | null;
  /** The latest words end where this limit was reached, not where they were done. */
  readonly cutBy: CutBy | null;
  /** The limit that what came from elsewhere may have reached, where the agent lives there. */
  readonly boundedBy: CutBy | null;
  /** Names of open waits: the run needs an answer from a person. */
  readonly waits: readonly string[];
  /** What each of these asks, in one line. */
  readonly asks: readonly string[];
  readonly toolCalls: number;
  readonly ended: readonly EndedCall[];
  /** Calls that were not made because their exact arguments are gone. */
  readonly gone: number;
  /** This run's own calls; children have theirs. */
  readonly spent: CallCosts;
  readonly budget: Budget | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** What its result was found to be worth, once it has ended. */
  readonly verification: Verification | null;
  readonly report: Report | null;
  readonly finalAgent: string | null;
  /** The run whose answer this run's result is: itself, or the last of a chain. */
  readonly finalRun: RunId | null;
  /** What it said to the child that it starts next in this role. */
  readonly noteForNext: NotesForNext | null;
  readonly error: Failure | null;
  /** How many files the work of its tasks changes that was put together last. */
  readonly merged: number;
  /** What people were told whose words it ended without having heard. */
  /** Where the session that it is the root of was forked from. */
  readonly forked: ForkSource | null;
  readonly unread: readonly string[];
  readonly children: readonly RunId[];
  /** What runs below it have done that are not in this tree, because it begins later. */
  readonly earlier: DoingsBelow;
}

/** The model that is being asked, and since when. */
type AskedModel = { readonly model: string; readonly since: number; readonly attempt: number };

export interface RunTree {
  readonly runs: Map<RunId, RunNode>;
  /** Runs without a parent, in order. */
  readonly roots: RunId[];
  /** How far the groups among them are. */
  readonly progress: GroupsProgress;
  /** Position of the last event that was folded. */
  position: number;
}

export const initialRunTree = (): RunTree => ({ runs: new Map(), roots: [], progress: initialGroups(), position: 0 });

export function foldRunTree(tree: RunTree, event: LedgerEvent): RunTree {
  tree.position = event.position;
  foldGroups(tree.progress, event);
  if (event.event_type === 'run.started') return startRun(tree, event);
  const node = tree.runs.get(event.run_id);
  if (node === undefined) return tree;
  const next = nextNode(node, event);
  if (next !== node) tree.runs.set(node.run, next);
  return tree;
}

/** Begins in the middle of a root run: its start, and what it and those below it had done up to `position`, as sums. */
export function beginRunTree(tree: RunTree, started: EventOf<'run.started'>, { own, below }: TreeDoings, position: number): void {
  foldRunTree(tree, started);
  tree.position = position;
  const node = tree.runs.get(started.run_id);
  if (node === undefined) return;
  const { turns: turn, toolCalls, gone = 0, spent } = own;
  const earlier = { ...below, spent: addSpending(noSpending(), below.spent) };
  tree.runs.set(node.run, { ...node, turn, toolCalls, gone, spent: addSpending(noSpending(), spent), earlier });
}

/** This run's spending and that of every run below it. */
export function subtreeSpending(tree: RunTree, run: RunId): CallCosts {
  return subtreeDoings(tree, run).spent;
}

/** What this run and every run below it have done. */
export function subtreeDoings(tree: RunTree, run: RunId): DoingsBelow {
  let { runs, turns, toolCalls, gone = 0, spent } = nothingBelow();
  for (const { turn, toolCalls: calls, gone: notMade, spent: own, earlier } of subtree(tree, run)) {
    runs += 1 + earlier.runs;
    turns += turn + earlier.turns;
    toolCalls += calls + earlier.toolCalls;
    gone += notMade + (earlier.gone ?? 0);
    spent = addSpending(addSpending(spent, own), earlier.spent);
  }
  return { runs, turns, toolCalls, ...goneCalls(gone), spent };
}

/** The run and every run below it, parents first, children in the order they were started. */
export function subtree(tree: RunTree, run: RunId): readonly RunNode[] {
  const found: RunNode[] = [];
  const pending: RunId[] = [run];
  const seen = new Set<RunId>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const node = tree.runs.get(next);
    if (node === undefined || seen.has(next)) continue;
    seen.add(next);
    found.push(node);
    pending.push(...node.children.toReversed());
  }
  return found;
}

/** Whether nothing goes on in it until somebody answers: it asks, or it waits for runs below it that all do. */
export function onlyWaits(tree: RunTree, run: RunId): boolean {
  const node = tree.runs.get(run);
  if (node === undefined || node.endedAt !== null) return false;
  if (node.waits.length > 0) return true;
  if (node.state !== 'running' || node.asking !== null) return false;
  const open = node.children.flatMap((child) => tree.runs.get(child) ?? []).filter(({ endedAt }) => endedAt === null);
  // A call that is no run of its own goes on beside them.
  const areRuns = node.tools.every(({ name }) => open.some(({ agent }) => agent === name));
  return open.length > 0 && areRuns && open.every((child) => onlyWaits(tree, child.run));
}

/** The runs that ask, and all above them. */
export function withAskersBelow(nodes: readonly RunNode[]): ReadonlySet<RunId> {
  const byRun = new Map(nodes.map((node) => [node.run, node]));
  const found = new Set<RunId>();
  for (const asker of nodes.filter(({ state }) => state === 'waiting'))
    for (let up: RunNode | undefined = asker; up !== undefined && !found.has(up.run); ) {
      found.add(up.run);
      up = up.parent === null ? undefined : byRun.get(up.parent);
    }
  return found;
}

/** What the run is doing right now, in a few words. `now` is only used for how long it has been. */
export type Activity =
  | { readonly kind: 'asking'; readonly model: string; readonly forMs: number; readonly attempt: number }
  /** The model could not be asked: the next attempt is made then. */
  | { readonly kind: 'outage'; readonly model: string; readonly inMs: number; readonly attempt: number }
  | { readonly kind: 'tools'; readonly names: readonly string[]; readonly forMs: number }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'parked' }
  | { readonly kind: 'working' }
  | { readonly kind: 'ended' };

export function activityOf(node: RunNode, now: number): Activity {
  if (node.endedAt !== null) return { kind: 'ended' };
  if (node.waits.length > 0) return { kind: 'waiting' };
  if (node.state === 'paused' || node.state === 'parked') return { kind: node.state };
  const [first] = node.tools;
  if (first !== undefined) {
    return { kind: 'tools', names: node.tools.map((tool) => tool.name), forMs: Math.max(0, now - first.since) };
  }
  if (node.asking === null) return { kind: 'working' };
  const { model, since, attempt, nextAt = 0 } = node.asking;
  if (nextAt > now) return { kind: 'outage', model, inMs: nextAt - now, attempt };
  return { kind: 'asking', model, forMs: Math.max(0, now - since), attempt };
}

function startRun(tree: RunTree, event: EventOf<'run.started'>): RunTree {
  if (tree.runs.has(event.run_id)) return tree;
  const { payload } = event;
  const asking = parentRun(payload);
  const parent = asking === undefined ? undefined : tree.runs.get(asking as RunId);
  tree.runs.set(event.run_id, {
    run: event.run_id,
    parent: parent?.run ?? null,
    agent: payload.agent,
    role: roleInTree(payload) ?? null,
    member: memberOfGroup(payload) ?? null,
    reason: reasonInTree(payload) ?? null,
    note: noteOf(payload, parent),
    place: listenerOf(payload) ?? null,
    continues: (payload.continues as RunId | undefined) ?? null,
    position: event.position,
    state: 'running',
    turn: 0,
    asking: null,
    tools: [],
    recent: [],
    asked: [],
    cutBy: null,
    boundedBy: null,
    waits: [],
    asks: [],
    toolCalls: 0,
    ended: [],
    gone: 0,
    spent: noSpending(),
    budget: payload.budget ?? null,
    startedAt: Date.parse(event.timestamp),
    endedAt: null,
    verification: null,
    report: null,
    finalAgent: null,
    finalRun: null,
    noteForNext: null,
    error: null,
    merged: 0,
    unread: [],
    forked: null,
    children: [],
    earlier: nothingBelow(),
  });
  if (parent === undefined) tree.roots.push(event.run_id);
  else tree.runs.set(parent.run, withChild(parent, event));
  return tree;
}

/** A call of an agent and the run that it became are one thing: the run was started because of the call. */
function withChild(parent: RunNode, event: EventOf<'run.started'>): RunNode {
  const called = isSubAgent(event.payload) ? event.parent_event_id : null;
  const recent = parent.recent.map((use) => (use.event === called ? { ...use, child: event.run_id } : use));
  return { ...parent, recent, children: [...parent.children, event.run_id] };
}

function noteOf(started: Payloads['run.started'], parent: RunNode | undefined): string | null {
  const { input, origin } = started;
  const next = parent?.noteForNext;
  if (next?.role === roleInTree(started))
    return next?.each?.find(({ agent }) => agent === started.agent)?.text ?? next?.text ?? null;
  if (origin.kind === 'call' || origin.kind === 'task') return origin.reason ?? null;
  return origin.kind === 'clarification' && input.role === 'user' ? questionIn(textOf(input.content)) : null;
}

/** The question of a clarification, without the heading that the agent sees above it. */
export function questionIn(text: string): string {
  return text.startsWith('## ') ? text.slice(text.indexOf('\n') + 1).trim() : text;
}

function askedAgain(
  asking: AskedModel,
  { attempt, nextInMs = 0, error }: Payloads['model.failed'],
  at: number,
): RunNode['asking'] {
  return { ...asking, attempt: attempt + 1, nextAt: at + nextInMs, why: error.message };
}

function nextNode(node: RunNode, event: LedgerEvent): RunNode {
  const at = Date.parse(event.timestamp);
  switch (event.event_type) {
    case 'run.resumed':
      // Whatever was under way in the process that died is not under way any more.
      return { ...node, state: node.waits.length > 0 ? 'waiting' : 'running', asking: null, tools: [] };
    case 'run.paused':
      return { ...node, state: 'paused', asking: null, tools: [] };
    case 'run.parked':
      return { ...node, state: 'parked', error: event.payload.error, asking: null, tools: [] };
    case 'run.ended':
      return endedNode(node, event, at);
    case 'run.reopened':
      return reopenedNode(node, event);
    case 'model.request':
      return {
        ...node,
        recent: callsTurnedAway(node, event),
        turn: event.payload.turn,
        asking: { model: event.payload.model, since: at, attempt: 1 },
      };
    case 'model.response':
      return {
        ...withSpending(node, event),
        asking: null,
        ...countCalls(node, event),
        asked: askedFor(event),
        cutBy: event.payload.finish === 'length' ? (node.boundedBy ?? 'maxOutputTokens') : null,
      };
    case 'peer.sent':
      return withSpending(node, event);
    case 'peer.state':
    case 'peer.cancelled': {
      const boundedBy = event.event_type === 'peer.state' && event.payload.leftOut === true ? 'peerArtifacts' : 'peerAnswerBytes';
      return { ...withSpending(node, event), boundedBy };
    }
    case 'model.failed':
      if (event.payload.final || node.asking === null) return { ...withSpending(node, event), asking: null };
      return { ...withSpending(node, event), asking: askedAgain(node.asking, event.payload, at) };
    case 'tool.call':
      return { ...node, ...callsWith(node, event, at) };
    case 'tool.result':
      return { ...node, ...callsAfter(node, event), ...countCalls(node, event) };
    case 'message.sent':
      return isToldUnread(event.payload) ? { ...node, unread: [...node.unread, event.payload.content] } : node;
    case 'approval.asked':
    case 'task.clarify':
      return withWait(withoutWait(node, event.payload.wait), event.payload.wait, askedIn(event));
    case 'approval.answered':
      return withoutWait(node, event.payload.wait);
    default: {
      const note = noteForNext(event);
      const merged = filesMerged(event);
      if (merged !== undefined) return { ...node, merged };
      return note === undefined ? node : { ...node, noteForNext: note };
    }
  }
}

const withSpending = (node: RunNode, event: LedgerEvent): RunNode => ({
  ...node,
  spent: addSpending(node.spent, spendingIn(event) ?? noSpending()),
});

const ASKED_CHARACTERS = 200;

/** In one line, with what is invisible in it spelled out. */
function askedIn(event: EventOf<'approval.asked'> | EventOf<'task.clarify'>): string {
  if (event.event_type === 'task.clarify') return firstLine(event.payload.question, ASKED_CHARACTERS);
  const { tool, input, preview } = event.payload;
  return firstLine(`${tool} ${requestLine({ input, preview })}`, ASKED_CHARACTERS);
}

const withWait = (node: RunNode, wait: string, asks: string): RunNode =>
  node.endedAt !== null ? node : { ...node, waits: [...node.waits, wait], asks: [...node.asks, asks], state: 'waiting' };

function withoutWait(node: RunNode, wait: string): RunNode {
  const at = node.waits.indexOf(wait);
  if (node.endedAt !== null || at < 0) return node;
  const [waits, asks] = [node.waits.toSpliced(at, 1), node.asks.toSpliced(at, 1)];
  return { ...node, waits, asks, state: waits.length === 0 && node.state === 'waiting' ? 'running' : node.state };
}

/** The end that it had is not its end any more. */
function reopenedNode(node: RunNode, event: EventOf<'run.reopened'>): RunNode {
  const { payload } = event;
  const open = { report: null, finalAgent: null, finalRun: null, error: null, verification: null, unread: [] };
  const budget = payload.budget === undefined ? node.budget : { ...node.budget, ...payload.budget };
  return {
    ...node,
    ...open,
    ...countCalls(node, event),
    budget,
    // What it did before, it did elsewhere.
    ...(payload.forked === undefined ? {} : { forked: payload.forked, startedAt: Date.parse(event.timestamp) }),
    state: node.waits.length > 0 ? 'waiting' : 'running',
    endedAt: null,
    asking: null,
    tools: [],
  };
}

function endedNode(node: RunNode, event: EventOf<'run.ended'>, at: number): RunNode {
  const { status, report, finalAgent, error, verification } = event.payload;
  const finalRun = (event.payload.finalRun as RunId | undefined) ?? node.run;
  const ended = { state: status, endedAt: at, report, finalAgent, finalRun, error: error ?? null, verification };
  return { ...node, ...ended, asking: null, tools: [], waits: [], asks: [] };
}
