/** What the A2A server is made of, all of it ports: agents to show, an engine that works, a ledger that remembers. */
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { Assistants, Client } from '../../assistants/port.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { Engine } from '../../engine/port.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { ProjectConfig } from '../../project/config.ts';
import type { Project } from '../../project/project.ts';
import type { KnowsSecrets } from '../artifacts.ts';
import type { AgentCatalogue, McpCaller } from '../mcp/needs.ts';

export interface A2aNeeds extends KnowsSecrets {
  readonly agents: Pick<AgentCatalogue, 'list'>;
  readonly engine: Engine;
  readonly assistants: Pick<Assistants, 'send'>;
  readonly ledger: Pick<Ledger, 'runs' | 'read' | 'tail' | 'append' | 'acquire' | 'release' | 'hasForgotten'>;
  /** What is stored of what agents elsewhere made. */
  readonly artifacts: Pick<Project['artifacts'], 'resolve' | 'bytes'>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  readonly settings: ProjectConfig['a2a'];
  /** Where the project lies: the file of the key is looked for from there. */
  readonly root: string;
  readonly workspace: string;
  readonly version: string;
  /** Whether callers need a token: cards say so. */
  readonly withToken: boolean;
  /** Stands between the transports and what they call: for the conformance kit. */
  readonly around?: ((handler: A2ARequestHandler) => A2ARequestHandler) | undefined;
  /** Trouble that is not the caller's. */
  onError(error: Error): void;
  /** Aborts when the server stops: streams and waits end, and what was waited for goes on. */
  readonly stopping: AbortSignal;
}

/** Whose tasks: those of one caller under one tenant. Nobody else's exist for it. */
export interface Scope {
  readonly caller: McpCaller;
  /** Empty when the caller named none. */
  readonly tenant: string;
}

export const clientOf = ({ name, answersForAll, rights, workspace }: McpCaller): Client => ({
  kind: 'client',
  name,
  ...present({ answersForAll, rights, workspace }),
});
