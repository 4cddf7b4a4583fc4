/** What the ACP agent is made of. It knows only ports: a project to run agents in, and who is at the other end. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids, SessionId } from '../../base/ids.ts';
import type { Engine } from '../../engine/port.ts';
import type { Ledger } from '../../ledger/port.ts';

/** A server that nobody has allowed yet, and what allows it. */
export interface UnknownServer {
  readonly server: string;
  /** All of what would be started or asked, in one line. */
  readonly shown: string;
  allow(): Promise<void>;
}

/** By their names, as in an agent's file. */
export type BroughtServers = NonNullable<AgentDefinition['mcp']>;

/** A project as the sessions of a connection have it. */
export interface AcpProject {
  readonly root: string;
  readonly engine: Engine;
  readonly ledger: Ledger;
  /** Whom one can talk with, by name. */
  agents(): Promise<readonly AgentDefinition[]>;
  /** Who answers in a session that names nobody. Throws with what to do when that is not clear. */
  firstAgent(): Promise<string>;
  /** Models that the settings and the agents name, in the order in which they are tried. */
  models(): Promise<readonly string[]>;
  /** Why there is no such model, if there is none. */
  modelProblem(name: string): Promise<string | undefined>;
  /** Servers that the client brings to a session: the agent that answers in it has their tools from its next run on. */
  bring(session: SessionId, servers: BroughtServers): void;
  /** Who answers in the session from now on, and with which model. */
  answers(session: SessionId, agent: string, model: string | undefined): void;
  /** Those of the agent that answers in this session that nobody has allowed. */
  unknownServers(session: SessionId): Promise<readonly UnknownServer[]>;
  /** The session is closed: nothing of it is kept. */
  forget(session: SessionId): void;
}

export interface AcpNeeds {
  /** The project that a folder belongs to. Throws a `TroupeError` where there is none to be had. */
  open(cwd: string): Promise<AcpProject>;
  /** The project of the folder that we were started in. */
  own(): Promise<AcpProject>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  /** How a session begins. */
  readonly mode: AcpMode;
  readonly model?: string | undefined;
  /** A client that goes is one of several: what it asked for stands still, and we go on. */
  readonly isShared: boolean;
  onError(error: Error): void;
}

/** `ask`: as the rules say, and the client is asked. The others are those of a run. */
export type AcpMode = 'ask' | 'read-only' | 'full';

/** What the next prompt of a session is sent with. */
export interface Choices {
  agent: string;
  model: string | undefined;
  mode: AcpMode;
}
