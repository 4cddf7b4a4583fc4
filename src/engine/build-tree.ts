/**
 * Puts a driven session together: from nothing for a new run, from the ledger's events for one that is taken up again.
 */
import { sleep } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import { childRunId, type RunId, type SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Budget, Failure, Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Fence } from '../ledger/port.ts';
import type { RunResult } from '../patterns/steps.ts';
import { INPUT_STEP } from '../projections/transcript.ts';
import { type BudgetScope, PROJECT_SCOPE, tighter } from './budget.ts';
import { createChannel } from './channel.ts';
import { driveRun, END_STEP, resultOfEnd, SETUP_STEP } from './drive-run.ts';
import { createFrozen } from './frozen.ts';
import { conversationOf } from './history.ts';
import { createInbox } from './inbox.ts';
import { Interruption } from './interruption.ts';
import { createJournal } from './journal.ts';
import { createLiveParts } from './live-parts.ts';
import { createMembers } from './members.ts';
import type { LivePart } from './port.ts';
import { equip, prepareAgent, unknownPrice } from './prepare.ts';
import { type AgentSetup, budgetOf, recordedDefinition, setupPayload } from './setup.ts';
import type { ChildRequest, ChildRun, EngineParts, RunNode, Tree } from './tree.ts';
import { activeTime } from './wall.ts';
import { createWriter } from './writer.ts';

export interface DrivenTree extends Tree {
  root(run: RunId, started: Payloads['run.started']): RunNode;
  /** From now on every step throws this. Work under way is told to stop. */
  interrupt(why: Interruption): void;
  /** Looks for answers and signals; cancels what was asked to be cancelled. */
  refresh(): Promise<void>;
}

export interface TreeOptions {
  readonly parts: EngineParts;
  readonly session: SessionId;
  readonly workspace: string;
  readonly fence: Fence;
  /** What the session holds already, oldest first. */
  readonly events: readonly LedgerEvent[];
  /** The root agent's setup, when it was just made. */
  readonly rootSetup?: AgentSetup | undefined;
  readonly watchers: ReadonlySet<(part: LivePart) => void>;
}

export function buildTree(options: TreeOptions): DrivenTree {
  const { session, workspace, events } = options;
  const parts = ofSession(options.parts, session);
  const past = groupByRun(events);
  const active = new Set<RunNode>();
  const live = createLiveParts(session, options.watchers);
  let stopped: Interruption | undefined;
  let wake: (() => void) | undefined;

  const interrupt = (why: Interruption): void => {
    stopped ??= why;
    for (const node of active) node.abort.abort(why);
  };
  const cancelAsked = (): void => {
    for (const node of active) {
      const reason = tree.inbox.cancelled(node.run);
      if (reason !== undefined) node.abort.abort(new TroupeError('cancelled', reason));
    }
    wake?.();
  };
  const inbox = createInbox(parts.ledger, session, cancelAsked);
  const channel = createChannel();
  const frozen = createFrozen();
  const members = createMembers();
  for (const event of events) for (const fold of [inbox, channel, frozen, members]) fold.apply(event);

  const node = (
    run: RunId,
    parent: RunNode | undefined,
    started: Payloads['run.started'],
    scopes: readonly BudgetScope[],
  ): RunNode => {
    const events = past.get(run) ?? [];
    const journal = createJournal(run, started.agent, parts.clock, events, parent?.journal.latest('run.started') ?? null);
    const made: RunNode = { run, parent, depth: started.depth, journal, started, scopes, abort: new AbortController() };
    active.add(made);
    frozen.began(run, started);
    members.began(run, started);
    if (parent?.abort.signal.aborted === true) made.abort.abort(parent.abort.signal.reason);
    else parent?.abort.signal.addEventListener('abort', () => made.abort.abort(parent.abort.signal.reason), { once: true });
    return made;
  };

  const tree: DrivenTree = {
    parts,
    session,
    workspace,
    inbox,
    channel,
    frozen,
    latestOf: members.latest,
    workspaceOf: (of) => of.started.workspace ?? (of.parent === undefined ? workspace : tree.workspaceOf(of.parent)),
    blockedOn: [],
    interrupt,
    writer: createWriter(parts.ledger, session, options.fence, interrupt),
    refresh: () => inbox.refresh(),
    root: (run, started) => node(run, undefined, started, scopesOf(run, started.budget, projectScope(parts))),
    checkpoint(at) {
      if (stopped !== undefined) throw stopped;
      for (let up: RunNode | undefined = at; up !== undefined; up = up.parent) {
        const reason = inbox.pauseAsked(up.run);
        if (reason !== undefined) throw new Interruption('paused', reason);
      }
    },
    async history(of) {
      if (of.started.continues === undefined) return [];
      // What it continues may have happened in this very life: the ledger knows both.
      await tree.writer.flushed();
      return await conversationOf(parts.ledger, session, of.started.continues);
    },
    activeBefore: (run) => activeTime(events, run),
    setup: async (of) => live.noted(of, await setupOf(tree, of, options.rootSetup)),
    async child(parent, request) {
      const child = await startChild(tree, parent, request, past, node);
      child.result.then(() => members.ended(childRunId(parent.run, request.key))).catch(() => undefined);
      return child;
    },
    async news(timeoutMs, signal) {
      const arrived = new AbortController();
      wake = () => arrived.abort();
      await sleep(parts.clock, timeoutMs, AbortSignal.any([signal, arrived.signal]));
    },
    live: (of, turn) => live.of(of, turn),
  };
  return tree;
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

/** Names of agents mean what they mean in this session. */
export function ofSession(parts: EngineParts, session: SessionId): EngineParts {
  return { ...parts, agent: (name) => parts.agent(name, session) };
}

export function projectScope(parts: EngineParts): BudgetScope[] {
  if (parts.projectBudget === undefined) return [];
  const { allowUnknownPrices: _allowed, ...limit } = parts.projectBudget;
  return [{ scope: PROJECT_SCOPE, limit }];
}

export function scopesOf(run: RunId, budget: Budget | undefined, above: readonly BudgetScope[]): BudgetScope[] {
  return budget === undefined ? [...above] : [...above, { scope: run, limit: budget }];
}

/** The recorded setup of a run that is taken up again; a new one otherwise, which is recorded before it is used. */
async function setupOf(tree: Tree, node: RunNode, rootSetup: AgentSetup | undefined): Promise<Result<AgentSetup, Failure>> {
  const recorded = node.journal.recorded('session.config', SETUP_STEP);
  if (recorded !== undefined) {
    return adapted(await equip(tree.parts, recordedDefinition(recorded.payload), recorded.payload.system), node.started);
  }
  // The root's own setup was written together with its start.
  if (node.parent === undefined && rootSetup !== undefined) return ok(rootSetup);
  const setup = adapted(await prepareAgent(tree.parts, node.started.agent, tree.workspaceOf(node)), node.started);
  if (!setup.ok) return setup;
  const refused = unknownPrice(tree.parts, setup.value, node.scopes);
  if (refused !== undefined) return fail(refused);
  tree.writer.enqueue([node.journal.event('session.config', setupPayload(setup.value), { step: SETUP_STEP, actor: 'system' })]);
  return setup;
}

/** What a group changes about an agent it uses: another model, or no tools for somebody who only plans or judges. */
export function adapted(
  setup: Result<AgentSetup, Failure>,
  { model, part }: { readonly model?: string | undefined; readonly part?: Payloads['run.started']['part'] },
): Result<AgentSetup, Failure> {
  if (!setup.ok || (model === undefined && part === undefined)) return setup;
  return ok({
    ...setup.value,
    ...(model === undefined ? {} : { models: [model] }),
    ...(part === undefined || part === 'self' ? {} : { tools: [] }),
  });
}

async function startChild(
  tree: Tree,
  parent: RunNode,
  request: ChildRequest,
  past: ReadonlyMap<string, readonly LedgerEvent[]>,
  node: (run: RunId, parent: RunNode, started: Payloads['run.started'], scopes: readonly BudgetScope[]) => RunNode,
): Promise<ChildRun> {
  const run = childRunId(parent.run, request.key);
  const recorded = past.get(run)?.find((event) => event.event_type === 'run.started');
  const started = recorded?.event_type === 'run.started' ? recorded.payload : await startedPayload(tree, parent, request);
  const child = node(run, parent, started, scopesOf(run, started.budget, parent.scopes));
  if (recorded === undefined) {
    const cause = request.cause ?? parent.journal.newest();
    tree.writer.enqueue([child.journal.event('run.started', started, { step: INPUT_STEP, cause })]);
  }
  const result = tooDeep(parent) ? refuseDepth(tree, child) : driveRun(tree, child);
  // Whoever joins the child sees a failure; until then it must not count as unhandled.
  result.catch(() => undefined);
  return {
    result,
    ended: () => child.journal.latest('run.ended'),
    cancel: (reason) => child.abort.abort(new TroupeError('cancelled', reason)),
  };
}

async function startedPayload(
  tree: Tree,
  parent: RunNode,
  { agent, input, options }: ChildRequest,
): Promise<Payloads['run.started']> {
  const definition = await tree.parts.agent(agent);
  const own = definition === undefined ? undefined : budgetOf(definition);
  const continues = options?.continues ?? (options?.member === undefined ? undefined : tree.latestOf(options.member, parent.run));
  const workspace = options?.member === undefined ? undefined : workspaceOfMember(parent, options.member);
  const budget = tighter(own, options?.timeoutMs === undefined ? undefined : { wallMs: options.timeoutMs });
  return {
    agent,
    input,
    parent: parent.run,
    depth: parent.depth + 1,
    ...(options?.reason === undefined ? {} : { reason: options.reason }),
    ...(options?.role === undefined ? {} : { role: options.role }),
    ...(continues === undefined ? {} : { continues }),
    ...(options?.member === undefined ? {} : { member: options.member }),
    ...(options?.model === undefined ? {} : { model: options.model }),
    ...(options?.part === undefined ? {} : { part: options.part }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(options?.maxTurns === undefined ? {} : { maxTurns: options.maxTurns }),
    ...(options?.seat === undefined ? {} : { seat: options.seat }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** Who runs the group says where each of its members works. */
function workspaceOfMember(parent: RunNode, member: string): string | undefined {
  return parent.started.workspaces?.[member];
}

function tooDeep(parent: RunNode): boolean {
  if (parent.depth + 1 > limits.runDepth) return true;
  for (let up: RunNode | undefined = parent; up !== undefined; up = up.parent) {
    const allowed = up.started.budget?.depth;
    if (allowed !== undefined && parent.depth + 1 - up.depth > allowed) return true;
  }
  return false;
}

async function refuseDepth(tree: Tree, child: RunNode): Promise<RunResult> {
  const known = child.journal.recorded('run.ended', END_STEP);
  if (known !== undefined) return resultOfEnd(child.run, known.payload);
  const message =
    `This run would be ${child.depth} levels deep, more than allowed ` + `(budget.depth; never more than ${limits.runDepth}).`;
  const report = { format: 'text' as const, body: message, synthetic: true };
  const ended = {
    status: 'budget_exhausted' as const,
    report,
    finalAgent: child.started.agent,
    error: { code: 'too_deep', message },
  };
  await tree.writer.write([child.journal.event('run.ended', ended, { step: END_STEP, actor: 'system' })]);
  return resultOfEnd(child.run, ended);
}
