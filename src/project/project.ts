/** What an open project offers to whoever drives it: a command line, a server, a test. `open.ts` makes one. */

import type { ProjectCheck } from '../agents/check-project.ts';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { ArtifactArchive } from '../artifacts/archive.ts';
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import type { SessionId } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { Result } from '../base/result.ts';
import type { Engine } from '../engine/port.ts';
import type { RestateWorker, WorkerOptions } from '../engine/restate/worker.ts';
import type { GroupNeeds } from '../groups/groups.ts';
import type { Ledger } from '../ledger/port.ts';
import type { LiveChannel } from '../live/port.ts';
import type { Model, ModelCatalogue, Prices } from '../models/port.ts';
import type { Quota } from '../quota/quota.ts';
import type { McpServerConfig } from '../tools/mcp/connection.ts';
import type { Tool } from '../tools/port.ts';
import type { Verifier } from '../tools/shell/verifier.ts';
import type { ProjectConfig, SettingsFlags } from './config.ts';
import type { LazyAssistants } from './lazy-assistants.ts';
import type { RuleBook } from './rule-book.ts';
import type { DeclaredServers } from './servers/declared-servers.ts';

export interface Project {
  readonly root: string;
  readonly config: ProjectConfig;
  readonly ledger: Ledger;
  /** What work left behind: listed, resolved by reference, read, pinned. */
  readonly artifacts: ArtifactArchive;
  readonly engine: Engine;
  /** What is said in any process of this machine, as it comes. */
  readonly live: Pick<LiveChannel, 'hear'>;
  readonly models: ModelCatalogue;
  readonly prices: Prices;
  /** How the accounts of its models stand. */
  readonly quota: Pick<Quota, 'accounts'>;
  /** What the functions of groups.ts and send-to-group.ts work with. */
  readonly groups: GroupNeeds;
  /** Agents to spawn and to talk with, for clients outside. */
  readonly assistants: LazyAssistants;
  /** The MCP servers that agents' own files and those of other tools declare, and which of them a person has allowed. */
  readonly servers: Pick<DeclaredServers, 'open' | 'allow' | 'stateOf' | 'ownOpen'>;
  /** What somebody said "always" to for this project. */
  readonly rules: RuleBook;
  /** Takes the secrets that the project knows, and all that is shaped like one, out of a text. */
  redact(text: string): string;
  /** Calls back when spans cannot be sent, with why: for whoever has somewhere to say it. No run is touched by it. */
  readonly telemetry: { onTrouble(hear: (why: string) => void): void };
  /** Calls back when copies of tasks are left out of what is compared with Redis, with why. */
  readonly taskCopies: { onTrouble(hear: (why: string) => void): void };
  /** Runs a command that somebody demands as proof, in a clean shell inside the project's walls. Nothing is recorded. */
  proves(
    command: string,
    at: { readonly workspace: string; readonly timeoutMs: number; readonly signal: AbortSignal },
  ): ReturnType<Verifier['run']>;
  /** Agents as they are declared now, with the tools they have of their own; nothing is started for them. */
  readonly declared: {
    agent(name: string): Promise<AgentDefinition | undefined>;
    tools(agent: AgentDefinition): Promise<Result<readonly Tool[], string>>;
    /** `at`: when and where it is filled in. */
    prompt(
      agent: AgentDefinition,
      workspace: string,
      more: Readonly<Record<string, string>> | undefined,
      at: { readonly nowMs: number; readonly timeZone: string },
    ): string;
  };
  /** Reads the agent files anew and checks them. */
  agents(): Promise<ProjectCheck>;
  /** One that works on runs of the cluster which the settings name. */
  worker(options: Omit<WorkerOptions, 'engineOptions' | 'address'>): Promise<RestateWorker>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly cwd: string;
  /** The project's folder, when it is known; otherwise it is looked for from `cwd` upwards. */
  readonly root?: string | undefined;
  readonly env: Environment;
  /** Opens an existing ledger without the right to write; nothing is created. */
  readonly readOnly?: boolean | undefined;
  /** Opens only a ledger that is there: what is about a run that cannot be creates nothing. */
  readonly existing?: boolean | undefined;
  /** By what lives for long, a server say: each run begins with the agents as their files are then. */
  readonly lasting?: boolean | undefined;
  readonly flags?: ProjectFlags | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
}

/** What a command overrides for this one opening. */
export interface ProjectFlags extends SettingsFlags {
  /** For every agent. */
  readonly maxTurns?: number | undefined;
  /** Agents that choose others only say whom. */
  readonly onlyChoose?: boolean | undefined;
  /** An agent file outside the folders where agents are looked for. */
  readonly agentFile?: string | undefined;
}

/** What an embedding program may bring along. */
export interface Extras {
  /** Agents beside those in files; they win over files of the same name. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  readonly tools?: readonly Tool[] | undefined;
  /** Models beside those that the catalogue finds, by their ids. */
  readonly models?: readonly Model[] | undefined;
  /** What an agent is in this session: recorded with its run, as a file is. */
  adapt?(agent: AgentDefinition, session: SessionId | undefined): AgentDefinition;
  /** Whether a server of an agent's own is the program's own choice, so that nobody has to allow it. */
  trusts?(server: McpServerConfig): boolean;
}

export type OpenProject = (options: OpenOptions, extras?: Extras) => Promise<Project>;
