/**
 * What the engine is built from, by concern. A function takes the concerns it reads; only who builds an engine has to have them
 * all.
 */

import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { Verify } from '../agents/definition/verify.ts';
import type { Environments } from '../artifacts/port.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids, RunId, SessionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import type { Result } from '../base/result.ts';
import type { Budget, EventType, Failure, Payloads } from '../events/catalogue.ts';
import type { TreeTerms } from '../events/going-on.ts';
import type { TaskPlace, TaskTerms } from '../events/tasks/task-terms.ts';
import type { ExecutorMcpServer, Executors } from '../executors/port.ts';
import type { Ledger } from '../ledger/port.ts';
import type { TurnOutcome } from '../loop/port.ts';
import type { ModelCatalogue, Prices } from '../models/port.ts';
import type { Pattern } from '../patterns/pattern.ts';
import type { TaskConflicts } from '../patterns/task-support.ts';
import type { Peers } from '../peers/port.ts';
import type { RememberedRule } from '../permissions/remembered-rule.ts';
import type { Permission } from '../permissions/rule-map.ts';
import type { Quota } from '../quota/quota.ts';
import type { LoopHost } from '../runner/port.ts';
import type { PermissionCall, PermissionSubject, Permissions } from '../tools/permissions.ts';
import type { Tool } from '../tools/port.ts';
import type { ProtectedKind } from '../tools/protected-names.ts';
import type { Verifier } from '../tools/shell/verifier.ts';
import type { WatchedChange } from '../tools/watch/watched-file.ts';
import type { WorkspaceWatch } from '../tools/watch/workspace-watch.ts';
import type { LivePiece } from './port.ts';

/** Where time, chance and ids come from. */
export interface TimeAndIds {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
}

/** Where everything is kept, and in what form. */
/** Who hears what is said, beside those who watch here. */
export interface WatchedFromElsewhere {
  /** Asked before each turn; `undefined` when nobody does. */
  watcherElsewhere?(): ((piece: LivePiece) => void) | undefined;
}

export interface LedgerAccess {
  readonly ledger: Ledger;
  /** Who drives runs here, for the record: process and host. */
  readonly owner: string;
  /** Takes secrets out of what a tool gave, so that the model sees what the ledger keeps. */
  redact(text: string): string;
}

/** Who answers, what it costs, and how often it may be asked. */
export interface ModelAccess {
  readonly models: ModelCatalogue;
  readonly prices: Prices;
  readonly quota: Quota;
  /** The models an agent uses that names none. */
  defaultModels(): Promise<Result<readonly string[], string>>;
}

/** Who there is to run, and what is known of each. */
export interface AgentAccess {
  /** `undefined` when there is no such agent. A session that belongs to a group has agents of its own. */
  agent(name: string, session?: SessionId): Promise<AgentDefinition | undefined>;
  /** The agent's prompt with its variables filled in. */
  prompt(agent: AgentDefinition, workspace: string, vars?: Readonly<Record<string, string>>): string;
  /** The text of a file that an agent names for context, or what is wrong with it. */
  contextFile?(file: string): Promise<Result<string, { readonly message: string }>>;
  /** By what the agent can make commands run, in words; `undefined` when it cannot. */
  commandsOf?(agent: AgentDefinition): string | undefined;
  /** How agents may use others; those of `src/patterns/registered.ts` unless given. */
  readonly patterns?: readonly Pattern[] | undefined;
}

/** What agents can do, and what they may. */
export interface ToolAccess {
  /** The agent's tools, or what is wrong with its list. */
  tools(agent: AgentDefinition): Promise<Result<readonly Tool[], string>>;
  /** For one call of the tool. */
  permission(agent: AgentDefinition, tool: PermissionSubject, call: PermissionCall): Permission;
  /** Of a call that is asked about: why a rule that looks as if it allowed it does not; without it nothing is said. */
  reason?(agent: AgentDefinition, tool: PermissionSubject, input: Json): string | undefined;
  /** Of a call that is denied: the rule that denies it, and where it stands; without it nobody is told. */
  denial?(agent: AgentDefinition, tool: PermissionSubject, call: PermissionCall): string | undefined;
  /** Whether an agent may change what is protected; without it nobody may. */
  opening?(agent: AgentDefinition, protection: ProtectedKind): Permission;
  /** Whether a tool that looks at many files may bring this one to light. */
  shows?(agent: AgentDefinition, tool: string, path: string, remembered: readonly RememberedRule[]): boolean;
  /** Tools that every spawned agent has beside its own: to write to whoever spawned it, and to read. */
  readonly messageTools?: (() => Promise<readonly Tool[]>) | undefined;
  /** What becomes of a call that must not be repeated when nobody knows whether it happened. */
  readonly whenInDoubt?: 'tell' | 'ask';
}

/** Agents that live elsewhere; without it nobody asks them. */
export interface PeerAccess {
  readonly peers?: Peers | undefined;
}

/** Coding agents that work for agents; without it nobody starts them. */
export interface ExecutorAccess {
  readonly executors?: Executors | undefined;
  /** How much memory the processes of an executor use, in MiB, by the number of the first; `undefined` when nobody knows. */
  readonly executorMemory?: ((pid: number) => Promise<number | undefined>) | undefined;
  /** The MCP servers of an agent's file that its executor is given, or why it is not given them. */
  executorServers?(agent: AgentDefinition): Promise<Result<readonly ExecutorMcpServer[], string>>;
}

/** What proves that something was done. */
export interface ProofAccess {
  /** Knows what is in workspaces, so that changes are seen whoever made them; without it no command counts as proof. */
  readonly workspaces?: WorkspaceWatch | undefined;
  /** Runs the commands of `verify`; without it they count as not passed. */
  readonly verifier?: Verifier | undefined;
  /** Finds out what work is done with; without it manifests do not say. */
  readonly environments?: Environments | undefined;
}

/** Places for tasks beside the folder itself. */
export interface TaskPlaces {
  /**
   * Files for the task alone: fails when a task of another root run could write the same. Without it all share. Whoever takes the
   * task up in another process leases anew, and from then on `capture` fails here with `domain_lost`.
   */
  lease?(wanted: WantedTaskFiles): Promise<Result<void, Failure>>;
  /** Its files are anybody's again: what it did with them is kept. Again, it does nothing. */
  release?(task: string, session: SessionId): Promise<void>;
  /** Where a task's own place is, or would be. */
  where(wanted: Pick<WantedTaskPlace, 'session' | 'task'>): string;
  /** Why nothing can have a place of its own that works in this folder. */
  problem?(folder: string): Promise<Failure | undefined>;
  /** Asked for again, it is the same one. `no_repository` where the folder is in none, `no_git` where there is no git. */
  prepare(wanted: WantedTaskPlace): Promise<Result<TaskPlace, Failure>>;
  /** What was done there. What lies outside of the terms is taken back at the place, and kept. */
  capture(terms: TaskTerms, session: SessionId): Promise<Result<CapturedTask, Failure>>;
  /** Remembers how a folder is before a task works in it as it is; where it is in no repository, nothing. */
  begin?(wanted: Pick<WantedTaskPlace, 'folder' | 'session' | 'task'>): Promise<void>;
  /** Of a task that worked in a folder as it is: what it wrote outside of its terms goes back where that harms nobody. */
  takeBack?(terms: TaskTerms, session: SessionId, written: WrittenFiles): Promise<Result<CapturedTask['outside'], Failure>>;
  /** What was changed there and is not as somebody saw it last, by checksums; `null` for what is gone. */
  unseen?(terms: TaskTerms, seen: ReadonlyMap<string, string | null>): Promise<Result<readonly WatchedChange[], Failure>>;
  /** Patches put together in their order; what stands against an earlier one is left out, and told. */
  merge(wanted: WantedTaskMerge): Promise<Result<MergedTasks, Failure>>;
  /** What lies at a task's place and is in no patch, because git ignores it: from its folder, a folder with a `/` behind it. */
  ignored?(place: TaskPlace, task: string): Promise<readonly string[]>;
  /** Takes a place away with all that is in it; without it, it stays. */
  remove?(place: TaskPlace, task: string): Promise<void>;
  /** The runs of a session have come to their end: what nobody needs of their places goes. */
  ended?(session: SessionId): Promise<void>;
  /**
   * The same word means that the files there hold the same, none that they are too many to be looked at; looking changes nothing
   * for anybody else.
   */
  mark(path: string): Promise<string | undefined>;
  /** Where tasks are worked on by others who share no disk with us. */
  readonly travelling?: TravellingPlaces | undefined;
}

/**
 * Places whose tasks are worked on by whoever is free, on machines that share no disk. What a place is made of is in the ledger:
 * the repository as it was when the run started, and what was kept of the place since.
 */
export interface TravellingPlaces {
  /** For a run that others will work on. `no_repository` where the folder is in none. */
  pack(folder: string): Promise<Result<PackedFolder, Failure>>;
  isHere(folder: string): Promise<boolean>;
  /** The folder itself, where it is here; else one like it, to look at. */
  folder(wanted: WantedRepository & { readonly session: SessionId; readonly folder: string }): Promise<Result<string, Failure>>;
  /** A repository with this commit in it, built here if it is not here. */
  repository(wanted: WantedRepository): Promise<Result<string, Failure>>;
  /** The place as it was kept last. Somebody is at work there until `close`. */
  open(wanted: WantedTravel): Promise<Result<OpenPlace, Failure>>;
}

export interface OpenPlace {
  /** The task's folder here, and the repository that it is a worktree of. */
  readonly path: string;
  readonly repo: string;
  /** What has changed since it was kept last, by anybody here. */
  changes(): Promise<Result<KeptPoint | undefined, Failure>>;
  close(): void;
}

/** One file as it was at a moment: with what it holds, gone, or again as at the beginning. */
export interface TravellingFile {
  readonly path: string;
  readonly mode?: string | undefined;
  readonly content?: Uint8Array | undefined;
  readonly back?: true | undefined;
}

export interface KeptPoint {
  readonly by: string;
  readonly point: number;
  readonly files: readonly TravellingFile[];
}

export interface PackedFolder {
  readonly repository: BroughtRepository;
  readonly pack: Uint8Array;
  readonly files: readonly TravellingFile[];
}

export type BroughtRepository = NonNullable<Payloads['session.brought']['repository']>;

export interface WantedRepository {
  readonly from: BroughtRepository;
  readonly commit: string;
  /** What came with the run; read where it is needed. */
  contents(): Promise<Pick<PackedFolder, 'pack' | 'files'>>;
  /** From where all work began to a commit that was made of accepted work. */
  patchTo(commit: string): Promise<Uint8Array | undefined>;
}

export interface WantedTravel extends WantedRepository {
  readonly session: SessionId;
  readonly task: string;
  /** All that was kept of the place, in order. */
  kept(): Promise<readonly KeptPoint[]>;
}

/** Files of a task by their paths, with their checksums before and after it; `null` where there was none. */
export type WrittenFiles = ReadonlyMap<string, { readonly before: string | null; readonly after: string | null }>;

export interface CapturedTask {
  /** Empty when nothing was changed. */
  readonly patch: Uint8Array;
  readonly text: string;
  readonly files: Payloads['task.captured']['files'];
  readonly outside: Payloads['task.captured']['undone'];
  /** Work that no patch can hold, each with why. */
  readonly missing?: readonly string[] | undefined;
}

export interface WantedTaskMerge {
  readonly session: SessionId;
  readonly place: TaskPlace;
  /** Where the first of all tasks began. */
  readonly from: string;
  readonly parts: readonly { readonly task: string; readonly patch: Uint8Array }[];
}

export interface MergedTasks {
  /** What later tasks begin from. */
  readonly commit: string;
  /** From where the first task began to this commit. */
  readonly patch: Uint8Array;
  readonly files: number;
  readonly conflicts: TaskConflicts;
}

export interface WantedTaskFiles {
  readonly folder: string;
  readonly session: SessionId;
  readonly task: string;
  /** The root run: what it has handed out does not stand against each other, and is free again when it ends. */
  readonly run: RunId;
  readonly domain: Pick<TaskTerms, 'include' | 'exclude' | 'noTouch'>;
  /** The repository of the folder, where that is not here. */
  readonly from?: BroughtRepository | undefined;
  /** The run is worked on by whoever is free, and goes on by itself. */
  readonly assigned?: boolean | undefined;
}

export interface WantedTaskPlace {
  readonly folder: string;
  readonly session: SessionId;
  readonly task: string;
  /** A commit to begin from. */
  readonly base: string | undefined;
  /** A patch that is to be looked at on its base, where nobody works. */
  readonly patch?: Uint8Array | undefined;
}

/** Where tasks are worked on; without places in the folder itself. */
export interface TaskAccess {
  readonly places?: TaskPlaces | undefined;
}

/** What the project demands of every run. */
export interface ProjectRules {
  readonly projectBudget?: (Budget & { readonly allowUnknownPrices?: boolean | undefined }) | undefined;
  /** What it demands of every root run. */
  readonly projectVerify?: Verify | undefined;
  /** What of the settings goes with a run to whoever works on it elsewhere. */
  readonly settings?: CarriedSettings | undefined;
}

export interface CarriedSettings {
  /** What holds for every agent of a tree that is started here; it is recorded with the start. */
  readonly tree?: TreeTerms | undefined;
  readonly vars?: Readonly<Record<string, string>> | undefined;
  readonly models?: readonly string[] | undefined;
  readonly permissions?: readonly Permissions[] | undefined;
  readonly verify?: Verify | undefined;
}

export interface AssistantLimits {
  readonly active: number;
  readonly perParent: number;
  /** Of one client, those that wait for somebody, which hold no place among those at work. */
  readonly waiting: number;
  readonly perSession: number;
  readonly depth: number;
  readonly lifetimeMs: number;
}

/** Processes beside this one, and how many there may be. */
export interface HostAccess {
  /** Hosts the loops of isolated and of spawned agents in processes of their own; without it they run in this one. */
  readonly host?: LoopHost | undefined;
  /** How many assistants there may be, and how many of them work at once. */
  readonly assistants?: Partial<AssistantLimits> | undefined;
}

/** For whoever plays a run again over what is recorded of it; without it nothing is told. */
export interface ReplayAccess {
  readonly replay?: ReplayWatch | undefined;
}

/** Hears what a run that is played again comes to, where the record has the outcome already. */
export interface ReplayWatch {
  /** What the run would have written now, had it not been there. Of some events only what is known before their outcome. */
  again<Type extends EventType>(run: RunId, type: Type, step: string, payload: Partial<Payloads[Type]>): void;
  /**
   * What became of a turn, once it has: one that was stopped is, when somebody stops it. `known`: its recorded outcome; where
   * there is none and the record does not explain that, it throws.
   */
  outcome(run: RunId, step: string, known: TurnOutcome | undefined, signal: AbortSignal): Promise<TurnOutcome>;
  /** Before the run goes on: it waits if somebody stopped it before it came to what it did next. */
  due(run: RunId, signal: AbortSignal): Promise<void> | undefined;
  /** Calls back when the time of this run is over, if it was then. Returns what takes it back. */
  whenLate(run: RunId, over: () => void): () => void;
  /** Whether it could be set up then. */
  wasSetUp(run: RunId): boolean;
  /** How the run ended then. */
  end(run: RunId): Payloads['run.ended'] | undefined;
}

export interface EngineOptions
  extends TimeAndIds,
    WatchedFromElsewhere,
    LedgerAccess,
    ModelAccess,
    AgentAccess,
    ToolAccess,
    PeerAccess,
    ExecutorAccess,
    ProofAccess,
    TaskAccess,
    ProjectRules,
    HostAccess,
    ReplayAccess {}

/** Names of agents mean what they mean in this session. */
export function ofSession<Options extends AgentAccess>(options: Options, session: SessionId): Options {
  return { ...options, agent: (name) => options.agent(name, session) };
}
