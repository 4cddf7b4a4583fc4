/** What the MCP server is made of. It knows only ports: agents to look at, assistants to talk with, runs to read. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { Assistants } from '../../assistants/port.ts';
import type { Clock } from '../../base/clock.ts';
import type { ClientRights } from '../../events/assistants.ts';
import type { GivenRole } from '../../front/roles.ts';
import type { Seer } from '../../front/sight.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { KnowsSecrets } from '../artifacts.ts';

/** The agents as a client may see them. */
export interface AgentCatalogue {
  /** Every agent that can be spawned, by name. */
  list(): Promise<readonly AgentDefinition[]>;
  /** What the agent is told, with its variables filled in. */
  promptOf(agent: AgentDefinition): string;
  /** Calls back when agent files may have changed. Returns what ends it. */
  onChange(callback: () => void): () => void;
}

export interface McpNeeds extends KnowsSecrets {
  readonly assistants: Assistants;
  readonly agents: AgentCatalogue;
  readonly ledger: Pick<Ledger, 'runs' | 'read'>;
  readonly clock: Clock;
  readonly version: string;
  /** Aborts when the server stops: waits end, and what was waited for goes on. */
  readonly stopping: AbortSignal;
}

/** Who is at the other end. */
export interface McpCaller extends Seer {
  /** What the HTTP API lets it do: see `roleOfCaller`. */
  readonly role?: GivenRole | undefined;
  /** The owner, where there are other callers: what their runs ask can be answered by it. */
  readonly answersForAll?: boolean | undefined;
  /** Everything without them. */
  readonly rights?: ClientRights | undefined;
  /** Where its runs work, when not in the project's workspace. */
  readonly workspace?: string | undefined;
}

/** The agents that there are for this caller. */
export async function agentsFor(
  { agents }: Pick<McpNeeds, 'agents'>,
  { rights }: McpCaller,
): Promise<readonly AgentDefinition[]> {
  return (await agents.list()).filter(({ name }) => rights?.spawn?.includes(name) ?? true);
}

/** Where one server instance is used. */
export interface CallerConnection {
  readonly caller: McpCaller;
  /** Aborts when whoever asked has gone, where the protocol itself does not say so. */
  readonly gone?: AbortSignal | undefined;
  /** Whether an aborted call was called off by its caller. A lost connection of the 2025 protocol does not mean that. */
  readonly abortMeansCancel: boolean;
}
