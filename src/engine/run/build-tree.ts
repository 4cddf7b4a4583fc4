/**
 * Puts a driven session together: from nothing for a new run, from the ledger's events for one that is taken up again.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Message } from '../../events/messages.ts';
import type { Fence } from '../../ledger/port.ts';
import { writtenRule } from '../../permissions/remembered-rule.ts';
import { createTreesDoings, type TreesDoings } from '../../projections/doings.ts';
import { type AskableAgents, createAskableAgents } from '../calls/askable-agents.ts';
import { inFolders } from '../evidence/folders.ts';
import { createSubAgentVerdicts, type SubAgentVerdicts } from '../evidence/sub-agent-verdicts.ts';
import { type AtWork, createAtWork } from '../hearing/at-work.ts';
import { type Broadcasts, createBroadcasts } from '../hearing/broadcasts.ts';
import { createFromOutside, type FromOutside } from '../hearing/from-outside.ts';
import { createUnheardMessages, type UnheardMessages } from '../hearing/unheard-messages.ts';
import { Interruption } from '../interruption.ts';
import { type BroughtRepository, type EngineOptions, type LedgerAccess, ofSession, type ReplayWatch } from '../options.ts';
import type { LivePiece } from '../port.ts';
import { createActiveTimes } from '../record/active-time.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import { type BudgetScope, childOf, type DrivenRun } from '../record/driven-run.ts';
import { conversationOf } from '../record/history.ts';
import { createJournal } from '../record/journal.ts';
import { createMembers, type Members } from '../record/members.ts';
import type { Past } from '../record/past.ts';
import { standing, startedUnder } from '../record/standing-events.ts';
import { createWriter } from '../record/writer.ts';
import type { Writes } from '../record/writes.ts';
import { assistantLimits } from '../spawning/bounds.ts';
import type { Elsewhere } from '../spawning/child-run.ts';
import type { Slots } from '../spawning/slots.ts';
import { createSpawned } from '../spawning/spawned.ts';
import { rootScopes, scopesOf } from '../spending/budget.ts';
import { createSpending } from '../spending/spending.ts';
import { driveRun } from './drive-run.ts';
import { createLiveAnswers } from './live-answers.ts';
import { setupOf } from './setup-run.ts';
import { startChild } from './start-child.ts';
import type { DrivenTree } from './tree.ts';

/** The session that is to be driven, and by whom. */
export interface SessionToDrive {
  readonly session: SessionId;
  readonly workspace: string;
  readonly fence: Fence;
  /** What came later than it has heard is not heard yet. */
  readonly past: Past;
  /** The root agent's setup, when it was just made. */
  readonly rootSetup?: AgentSetup | undefined;
  readonly watchers: ReadonlySet<(part: LivePiece) => void>;
  readonly slots: Slots;
  readonly elsewhere?: Elsewhere | undefined;
  readonly travelsFrom?: BroughtRepository | undefined;
  /** Called when the root's end was written, and the lease given back with it. */
  released(): void;
}

export function buildTree(all: EngineOptions, driven: SessionToDrive): DrivenTree {
  const { session, workspace, elsewhere } = driven;
  const { heard, facts, factsAt } = driven.past;
  const events = standing(driven.past.events);
  const options = ofSession(all, session);
  const { ledger, clock } = options;
  const past = groupByRun(events);
  const active = new Set<DrivenRun>();
  const live = createLiveAnswers(session, driven.watchers, options.patterns, options.watcherElsewhere);
  let stopped: Interruption | undefined;
  const bell = createBell();

  const interrupt = (why: Interruption): void => {
    stopped ??= why;
    for (const node of active) node.abort.abort(why);
  };
  const onNews = (events: readonly LedgerEvent[]): void => {
    applyTo(messages, broadcasts, tree.spawned, activity)(events);
    cancelAsked(active, tree.outside);
    bell.ring();
  };
  const before = { approved: facts.approved, at: factsAt };
  const outside = createFromOutside({ ledger, session, heard, before, shared: elsewhere !== undefined, onNews });
  const { members, ...folds } = folded({ ...driven.past, events }, driven.past.events, outside);
  const { broadcasts, doings, askable, messages } = folds;
  const activity = createActiveTimes(driven.past, clock);
  const make = createNodes(clock, past, driven.past.cut?.run);
  const node: MakeNode = (run, parent, began) => {
    const started = startedUnder(began, past.get(run));
    const above = parent?.scopes ?? rootScopes(options.projectBudget, started.origin);
    const made = make(run, parent, started, scopesOf(run, started.budget, above));
    activity.began(run);
    active.add(made);
    askable.began(run, { parent: parent?.run, continues: started.continues });
    members.began(run, started);
    return made;
  };

  const writer = createWriter(ledger, session, driven.fence, interrupt, applyTo(doings, activity));
  const atWork = createAtWork(() => writer.flushed().catch(() => undefined));
  const tree: DrivenTree = {
    ...options,
    replay: atItsTime(options.replay, atWork),
    session,
    outside,
    ...folds,
    spawned: createSpawned(assistantLimits(options)),
    slots: driven.slots,
    spending: createSpending(),
    latestOf: members.latest,
    ...inFolders(workspace),
    travelsFrom: driven.travelsFrom,
    ...waiting(driven, clock, outside, bell, atWork),
    interrupt,
    writer,
    released: driven.released,
    elsewhere,
    below: (parent, run, started) => node(run, parent, started),
    root: (run, started) => node(run, undefined, started),
    checkpoint(at) {
      if (stopped !== undefined) throw stopped;
      stopIfPaused(outside, at);
    },
    history: (of) => saidBefore(tree, of),
    activeSoFar: activity.soFar,
    whenWorkedFor: activity.after,
    facts: () => ({ approved: outside.remembered().map(writtenRule), members: members.state() }),
    setup: (of, found) => atWork.during(async () => live.noted(of, await setupOf(tree, of, driven.rootSetup, found))),
    begun: (run) => past.has(run),
    async child(parent, request) {
      const drive = (run: DrivenRun, found: AgentDefinition | undefined) => driveRun(tree, run, found);
      const child = await atWork.during(() => startChild(tree, parent, request, { past, all: driven.past.events, node, drive }));
      const run = childOf(parent, request.key);
      child.result.then(() => members.ended(run)).catch(() => undefined);
      return child;
    },
    live: (of, turn) => live.of(of, turn),
  };
  return tree;
}

/** Whoever waits for what stopped it then was at work when it came: others waited for their answers, and were not left. */
function atItsTime(replay: ReplayWatch | undefined, atWork: AtWork): ReplayWatch | undefined {
  if (replay === undefined) return undefined;
  return {
    ...replay,
    outcome: (...turn) => atWork.during(() => replay.outcome(...turn)),
    due(run, signal) {
      const over = replay.due(run, signal);
      return over && atWork.during(() => over);
    },
  };
}

interface Fold {
  apply(event: LedgerEvent): void;
}

const applyTo =
  (...folds: readonly Fold[]) =>
  (events: readonly LedgerEvent[]): void => {
    for (const event of events) for (const fold of folds) fold.apply(event);
  };

/** How its runs wait for what comes from outside. */
function waiting(
  { slots }: SessionToDrive,
  clock: Clock,
  outside: FromOutside,
  bell: ReturnType<typeof createBell>,
  atWork: AtWork,
): Pick<DrivenTree, 'blockedOn' | 'atWork' | 'withoutSlot' | 'refresh' | 'caughtUp' | 'nextNews' | 'news'> {
  return {
    blockedOn: new Set(),
    atWork,
    withoutSlot: (of, wait) => slots.released(of.run, of.abort.signal, wait),
    refresh: () => atWork.during(outside.refresh),
    caughtUp: outside.caughtUp,
    nextNews: bell.next,
    news: (timeoutMs, signal) => sleep(clock, timeoutMs, AbortSignal.any([signal, bell.next()])),
  };
}

async function saidBefore(tree: LedgerAccess & Writes, { started }: DrivenRun): Promise<readonly Message[]> {
  if (started.continues === undefined) return [];
  // What it continues may have happened in this very life: the ledger knows both.
  await tree.writer.flushed();
  return await conversationOf(tree.ledger, tree.session, started.continues);
}

type MakeNode = (run: RunId, parent: DrivenRun | undefined, started: Payloads['run.started']) => DrivenRun;

/** `cut`: the run of which only what it did lately is known. */
function createNodes(clock: Clock, past: ReadonlyMap<string, readonly LedgerEvent[]>, cut: RunId | undefined) {
  return (...[run, parent, started, scopes]: [...Parameters<MakeNode>, readonly BudgetScope[]]): DrivenRun => {
    const startedBy = parent?.journal.latest('run.started') ?? null;
    const journal = createJournal(run, started.agent, clock, past.get(run) ?? [], startedBy);
    const abort = new AbortController();
    if (parent !== undefined) endWith(parent.abort.signal, abort);
    return { run, parent, depth: started.depth, journal, whole: cut !== run, started, scopes, abort };
  };
}

const NEWS = 'news';

/** Who waits for news is woken by the next. */
function createBell() {
  let waiting = new AbortController();
  return {
    next: () => waiting.signal,
    ring(): void {
      // With a reason: Node makes an error with its stack of one without.
      waiting.abort(NEWS);
      waiting = new AbortController();
    },
  };
}

/** What ends a run ends those below it. */
function endWith(above: AbortSignal, below: AbortController): void {
  if (above.aborted) below.abort(above.reason);
  else above.addEventListener('abort', () => below.abort(above.reason), { once: true });
}

function cancelAsked(active: ReadonlySet<DrivenRun>, outside: FromOutside): void {
  for (const node of active) {
    const reason = outside.cancelled(node.run);
    if (reason !== undefined) node.abort.abort(new TroupeError('cancelled', reason));
  }
}

/** A pause of a run holds for those below it. What is to end is not held up. */
function stopIfPaused(outside: FromOutside, at: DrivenRun): void {
  let pause: string | undefined;
  for (let up: DrivenRun | undefined = at; up !== undefined; up = up.parent) {
    if (outside.cancelled(up.run) !== undefined) return;
    pause ??= outside.pauseAsked(up.run);
  }
  if (pause !== undefined) throw new Interruption('paused', pause);
}

/** What earlier lives of the session have left for this one. */
interface Folds {
  readonly broadcasts: Broadcasts;
  readonly doings: TreesDoings;
  readonly askable: AskableAgents;
  readonly messages: UnheardMessages;
  readonly members: Members;
  readonly verdicts: SubAgentVerdicts;
}

/** `all`: with what was undone, which was done all the same. */
function folded({ events, facts, takenBack, cut }: Past, all: readonly LedgerEvent[], outside: FromOutside): Folds {
  const doings = createTreesDoings();
  const folds = {
    broadcasts: createBroadcasts(),
    askable: createAskableAgents(),
    messages: createUnheardMessages(),
    members: createMembers(),
    verdicts: createSubAgentVerdicts(),
  };
  folds.members.restore(facts.members);
  if (cut !== undefined) {
    folds.askable.restore(cut.state);
    doings.restore(cut.run, cut.state.done);
    for (const rests of cut.state.rests) folds.verdicts.note(cut.run, rests);
  }
  takenBack.forEach(outside.apply);
  for (const event of events) for (const fold of [outside, ...Object.values(folds)]) fold.apply(event);
  all.forEach(doings.apply);
  return { ...folds, doings };
}

function groupByRun(events: readonly LedgerEvent[]): Map<string, LedgerEvent[]> {
  const groups = new Map<string, LedgerEvent[]>();
  for (const event of events) {
    const group = groups.get(event.run_id);
    if (group === undefined) groups.set(event.run_id, [event]);
    else group.push(event);
  }
  return groups;
}
