/**
 * A driven session: the tree of runs below one root run, and what they share. One process drives it at a time; everything
 * here can be thrown away and built anew from the ledger.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { Verify } from '../agents/definition/verify.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids, RunId, SessionId } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { Result } from '../base/result.ts';
import type { Budget, Failure, Payloads } from '../events/catalogue.ts';
import type { Message, UserMessage } from '../events/messages.ts';
import type { Cause, Ledger } from '../ledger/port.ts';
import type { ModelCatalogue, Prices } from '../models/port.ts';
import type { AgentRun } from '../patterns/agent-run.ts';
import type { RunResult, StartOptions } from '../patterns/steps.ts';
import type { TreesDoings } from '../projections/doings.ts';
import type { Quota } from '../quota/quota.ts';
import type { SessionHost } from '../runner/port.ts';
import type { PermissionSubject } from '../tools/permissions.ts';
import type { Permission, Tool } from '../tools/port.ts';
import type { ProtectedKind } from '../tools/protected-names.ts';
import type { Verifier } from '../tools/shell/verifier.ts';
import type { WorkspaceWatch } from '../tools/watch/workspace-watch.ts';
import type { AskableAgents } from './calls/askable-agents.ts';
import type { SubAgentVerdicts } from './evidence/sub-agent-verdicts.ts';
import type { Broadcasts } from './hearing/broadcasts.ts';
import type { FromOutside } from './hearing/from-outside.ts';
import type { UnheardMessages } from './hearing/unheard-messages.ts';
import type { LivePart } from './port.ts';
import type { AgentSetup } from './record/agent-setup.ts';
import type { Journal } from './record/journal.ts';
import type { SessionFacts } from './record/past.ts';
import type { SessionWriter } from './record/writer.ts';
import type { ChildRun } from './spawning/child-run.ts';
import type { Slots } from './spawning/slots.ts';
import type { AssistantLimits, Spawned } from './spawning/spawned.ts';
import type { BudgetScope } from './spending/budget.ts';
import type { Spending } from './spending/spending.ts';

/** What the engine is built from. */
export interface EngineParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Who drives runs here, for the record: process and host. */
  readonly owner: string;
  readonly models: ModelCatalogue;
  readonly prices: Prices;
  readonly quota: Quota;
  /** `undefined` when there is no such agent. A session that belongs to a group has agents of its own. */
  agent(name: string, session?: SessionId): Promise<AgentDefinition | undefined>;
  /** The agent's tools, or what is wrong with its list. */
  tools(agent: AgentDefinition): Promise<Result<readonly Tool[], string>>;
  permission(agent: AgentDefinition, tool: PermissionSubject): Permission;
  /** Whether an agent may change what is protected; without it nobody may. */
  opening?(agent: AgentDefinition, protection: ProtectedKind): Permission;
  /** The text of a file that an agent names for context, or what is wrong with it. */
  contextFile?(file: string): Promise<Result<string, { readonly message: string }>>;
  /** Takes secrets out of what a tool gave, so that the model sees what the ledger keeps. */
  redact(text: string): string;
  /** The models an agent uses that names none. */
  defaultModels(): Promise<Result<readonly string[], string>>;
  /** The agent's prompt with its variables filled in. */
  prompt(agent: AgentDefinition, workspace: string): string;
  readonly projectBudget?: (Budget & { readonly allowUnknownPrices?: boolean | undefined }) | undefined;
  /** How an agent is run; tests of the steps port put their own pattern here. */
  readonly runAgent?: (run: AgentRun) => Promise<RunResult>;
  /** Hosts the sessions of isolated and of spawned agents in processes of their own; without it they run in this one. */
  readonly host?: SessionHost | undefined;
  /** How many assistants there may be, and how many of them work at once. */
  readonly assistants?: Partial<AssistantLimits> | undefined;
  /** Tools that every spawned agent has beside its own: to write to whoever spawned it, and to read. */
  readonly boxTools?: (() => Promise<readonly Tool[]>) | undefined;
  /** Knows what is in workspaces, so that changes are seen whoever made them; without it no command counts as proof. */
  readonly workspaces?: WorkspaceWatch | undefined;
  /** Runs the commands of `verify`; without it they count as not passed. */
  readonly verifier?: Verifier | undefined;
  /** What the project demands of every root run. */
  readonly projectVerify?: Verify | undefined;
  /** By what the agent can make commands run, in words; `undefined` when it cannot. */
  commandsOf?(agent: AgentDefinition): string | undefined;
  /** What becomes of a call that must not be repeated when nobody knows whether it happened. */
  readonly whenInDoubt?: 'tell' | 'ask';
}

/** How the children of a run are worked on by others. */
export interface Elsewhere {
  /** Has somebody work on a run that has started; doing it twice does no harm. */
  start(run: RunId): Promise<void>;
  /** Has somebody look at a run again. */
  poke(run: RunId): Promise<void>;
  /** The run has nothing to do before this time. */
  wakeAt(time: number): void;
}

/** One run as it is being driven. */
export interface RunNode {
  readonly run: RunId;
  readonly parent: RunNode | undefined;
  readonly depth: number;
  readonly journal: Journal;
  /** The journal holds everything that the run did before; otherwise what it did since it was condensed last. */
  readonly whole: boolean;
  readonly started: Payloads['run.started'];
  readonly scopes: readonly BudgetScope[];
  readonly abort: AbortController;
}

/** The run in whose name this one speaks and hears: its own, or the one whose work it does in a part of a group. */
export function speakerOf(node: RunNode): RunNode {
  return node.started.part === 'self' && node.parent !== undefined ? speakerOf(node.parent) : node;
}

export interface ChildRequest {
  readonly key: string;
  readonly agent: string;
  readonly input: UserMessage;
  readonly options: StartOptions | undefined;
  /** It works beside its parent, with a thread of its own. */
  readonly spawned?: { readonly by: string } | undefined;
  /** The event that asked for the child; the parent's latest unless said. */
  readonly cause?: Cause;
}

/** What all runs of a driven session share. */
export interface Tree {
  readonly parts: EngineParts;
  readonly session: SessionId;
  readonly workspace: string;
  readonly writer: SessionWriter;
  readonly outside: FromOutside;
  readonly broadcasts: Broadcasts;
  /** What is durable of what the runs of this process have done. */
  readonly doings: TreesDoings;
  readonly askable: AskableAgents;
  /** What the runs of this tree have been told by their sub-agents, and what it is worth. */
  readonly verdicts: SubAgentVerdicts;
  readonly messages: UnheardMessages;
  /** The assistants that runs of this tree have spawned. */
  readonly spawned: Spawned;
  readonly slots: Slots;
  readonly spending: Spending;
  /** Questions that have stopped a branch since the tree was built. */
  readonly blockedOn: { readonly node: RunNode; readonly wait: string }[];
  /** Throws when work must stop here: paused, closed, lease lost. Called before everything that has an effect. */
  checkpoint(node: RunNode): void;
  /** The folder that a run's tools may touch: its own, that of a run above it, or the session's. */
  workspaceOf(node: RunNode): string;
  /** The latest run in this session of a member of the group that `parent` runs. */
  latestOf(member: string, parent: RunId): RunId | undefined;
  /** What was said before in the session that this run continues. */
  history(node: RunNode): Promise<readonly Message[]>;
  setup(node: RunNode): Promise<Result<AgentSetup, Failure>>;
  /** How long the run has been worked on before this life. */
  activeBefore(run: RunId): number;
  /** The same up to now. */
  activeSoFar(run: RunId): number;
  /** What later runs of the session go by. */
  facts(): SessionFacts;
  /** Whether a run had begun before this life. */
  begun(run: RunId): boolean;
  /** Starts a child run, or takes up one that had started before. */
  child(parent: RunNode, request: ChildRequest): Promise<ChildRun>;
  /** The root's end is in the ledger, and its lease was given back with it. */
  released(): void;
  /** Takes in what has come from outside. */
  refresh(): Promise<void>;
  /** Set where others work on the children, in other processes. */
  readonly elsewhere?: Elsewhere | undefined;
  /** Resolves when something has come in from outside, the time is over or the signal aborts. */
  news(timeoutMs: number, signal: AbortSignal): Promise<unknown>;
  /** Undefined when nobody watches. */
  live(node: RunNode, turn: number): ((delta: LivePart['delta']) => void) | undefined;
}
