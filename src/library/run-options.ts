/** What a program may say when it opens a project, and about one run. */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { RunId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { PermissionWait, QuestionWait, ResumeTerms } from '../engine/port.ts';
import type { Budget } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { OrdinaryTool } from '../tools/port.ts';

/** How a project is opened. Nothing is needed: the folder is then found as the command line finds it. */
export interface TroupeOptions {
  /**
   * The project's folder: where troupe.yaml, agents/ and .troupe/ are. Without it, the nearest folder with a troupe.yaml from the
   * current one upwards, or the current one.
   */
  readonly root?: string | undefined;
  /** Where keys and settings are read from; the environment of the process without it. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Agents beside those in files, made with `defineAgent`; they win over files of the same name. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  /** Tools beside the built-in ones, made with `defineTool`; agents name them in `tools`. */
  readonly tools?: readonly OrdinaryTool[] | undefined;
  /** The model of agents that name none, in place of what the environment and troupe.yaml say. */
  readonly model?: string | undefined;
  /** The model of all agents, also of those that name one: for a trial, or for a test. */
  readonly modelForAll?: string | undefined;
}

/**
 * What is decided about a permission. `true` and `false` count for this one call, `always` for every call in the session that
 * its rule fits (docs/permissions.md): the same command, file or host, or the whole tool where calls cannot be told apart.
 * `deny` tells the agent why not.
 */
export type Decision = boolean | 'always' | { readonly deny: string } | { readonly input: Json };

/** Whose words they are. */
export interface TextSource {
  readonly agent: string;
  readonly run: RunId;
  readonly turn: number;
  /** From 2 on: what an earlier attempt of the same turn said broke off, and counts no more. */
  readonly attempt?: number;
}

/** How a program keeps company with a run: what it is shown, what it answers, and when it has had enough. */
export interface CompanyOptions {
  /**
   * Ends the run, or leaves it: see `whenAborted`. The promise resolves as always, with how the run stands then. Aborted from the
   * beginning, nothing is started and the promise rejects with the signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * `cancel` (the default): the run and everything below it ends for good, `cancelled`, and what was under way is cut off.
   * `pause`: what is under way is finished and recorded, then the run stands still; `resume` goes on.
   */
  readonly whenAborted?: 'cancel' | 'pause' | undefined;
  /**
   * Every event of the run, in order, as it is in the ledger. What it returns is not looked at, but for a promise: the result
   * comes when it is settled, and one that rejects counts as an error that was thrown.
   */
  readonly onEvent?: ((event: LedgerEvent) => unknown) | undefined;
  /**
   * What the answering agent says, piece by piece as it comes, for display. A report that comes whole, as from an agent with
   * tools, is the last piece. A model call that is made again says its piece again. What it returns counts as with `onEvent`.
   */
  readonly onText?: ((text: string, from: TextSource) => unknown) | undefined;
  /**
   * Asked as soon as a permission is needed, while the rest of the run goes on; also while others are being asked. `undefined`:
   * not now, and the run stays waiting.
   */
  readonly approve?: ((wait: PermissionWait) => Awaitable<Decision | undefined>) | undefined;
  /** The same for a question in words. */
  readonly answer?: ((wait: QuestionWait) => Awaitable<string | undefined>) | undefined;
}

/** How a run goes on, and how the program keeps company with it. */
export interface ResumeOptions extends CompanyOptions, ResumeTerms {}

/** How a run is started, and how the program keeps company with it. */
export interface RunOptions extends CompanyOptions {
  /** Tightens the agent's own budget; never widens it. */
  readonly budget?: Budget | undefined;
  /** The folder that the agents' tools may touch; the project's `workspace` without it. */
  readonly workspace?: string | undefined;
  /** Goes on in this session, which remembers what was said; a new one without it. The `session` of an earlier result. */
  readonly session?: string | undefined;
}

type Awaitable<Value> = Value | Promise<Value>;
