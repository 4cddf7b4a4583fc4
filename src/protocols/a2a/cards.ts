/** Cards: what peers read before they talk. What an agent's file says for people is what its card says for peers. */
import type { AgentCard, AgentExtension, AgentInterface, AgentSkill } from '@a2a-js/sdk';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { mayBeSpawned } from '../../engine/spawning/client-rights.ts';
import { ONCE } from '../../peers/a2a/once.ts';
import { agentsBehind, type Door } from './doors.ts';
import type { A2aNeeds, Scope } from './needs.ts';

/** Where a server is reached: cards name the addresses under which whoever asks has come. */
export interface ServedPlace {
  /** Such as `http://127.0.0.1:4747`. */
  readonly origin: string;
  /** The port of the gRPC server, where there is one. */
  readonly grpcPort?: number | undefined;
}

export const V1 = '1.0';
export const LEGACY = '0.3';
const INPUT_MODES = ['text/plain', 'application/json', 'image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const OUTPUT_MODES = ['text/plain', 'text/markdown', 'application/json'];
const SCHEME = 'token';

/** Where the JSON-RPC of a door is; HTTP+JSON is below it. */
export const pathOf = (door: Door): string => (door.kind === 'house' ? '/a2a' : `/a2a/agents/${encodeURIComponent(door.name)}`);
export const REST = '/rest';

/** The card of a door; nothing when there is nobody behind it. */
export async function cardOf(needs: A2aNeeds, door: Door, place: ServedPlace): Promise<AgentCard | undefined> {
  const agents = await agentsBehind(needs, door);
  return agents.length === 0 ? undefined : buildCard(needs, door, place, agents, 'public');
}

/** For whoever has a token: only the agents that are there for this caller, each with what one would ask it. */
export async function extendedCardOf(
  needs: A2aNeeds,
  door: Door,
  place: ServedPlace,
  { caller }: Scope,
): Promise<AgentCard | undefined> {
  const agents = (await agentsBehind(needs, door)).filter(({ name }) => mayBeSpawned(caller.rights, name));
  return agents.length === 0 ? undefined : buildCard(needs, door, place, agents, 'extended');
}

/** Without its agents: what is spoken here does not depend on them. */
export const bareCard = (needs: A2aNeeds, door: Door, place: ServedPlace): AgentCard =>
  buildCard(needs, door, place, [], 'public');

type Kind = 'public' | 'extended';

/** Whoever knows the word may send a message again when an answer was lost. */
const once: AgentExtension = {
  uri: ONCE,
  description: 'A messageId is taken once, however often the message is sent.',
  required: false,
  params: undefined,
};

/** Whoever calls must say that it speaks this one. */
const demanded = (uri: string): AgentExtension => ({ uri, description: '', required: true, params: undefined });

function buildCard(needs: A2aNeeds, door: Door, place: ServedPlace, agents: readonly AgentDefinition[], kind: Kind): AgentCard {
  const { settings, version, withToken } = needs;
  const [only] = agents;
  const own = door.kind === 'agent' ? only : undefined;
  return {
    name: own?.name ?? settings.name ?? 'Troupe',
    description: own === undefined ? (settings.description ?? houseDescription(agents)) : describe(own),
    supportedInterfaces: interfacesOf(door, (settings.url ?? place.origin).replace(/\/+$/, ''), grpcAddress(needs, place)),
    provider: undefined,
    version,
    capabilities: {
      streaming: settings.streaming !== false,
      pushNotifications: settings.push !== false,
      extensions: [once, ...(settings.demands ?? []).map(demanded)],
      extendedAgentCard: true,
    },
    securitySchemes: withToken
      ? {
          [SCHEME]: {
            scheme: { $case: 'httpAuthSecurityScheme', value: { description: '', scheme: 'bearer', bearerFormat: '' } },
          },
        }
      : {},
    securityRequirements: withToken ? [{ schemes: { [SCHEME]: { list: [] } } }] : [],
    defaultInputModes: INPUT_MODES,
    defaultOutputModes: OUTPUT_MODES,
    skills: agents.map((agent) => skillOf(agent, kind)),
    signatures: [],
  };
}

/**
 * What peers take as encrypted when the card came so: behind a proxy only the proxy's own address for gRPC is, and without one
 * gRPC is not named.
 */
function grpcAddress({ settings }: Pick<A2aNeeds, 'settings'>, { origin, grpcPort }: ServedPlace): string | undefined {
  if (grpcPort === undefined) return undefined;
  const { url = origin, grpcUrl } = settings;
  if (grpcUrl !== undefined) {
    const { hostname, port, protocol } = new URL(grpcUrl);
    return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
  }
  const { hostname, protocol } = new URL(url);
  return protocol === 'https:' ? undefined : `${hostname}:${grpcPort}`;
}

function interfacesOf(door: Door, origin: string, grpc: string | undefined): AgentInterface[] {
  const url = `${origin}${pathOf(door)}`;
  const at = (protocolBinding: string, address: string, protocolVersion: string, tenant = ''): AgentInterface => ({
    ...{ url: address, protocolBinding, tenant, protocolVersion },
  });
  return [
    at('JSONRPC', url, V1),
    at('HTTP+JSON', `${url}${REST}`, V1),
    ...(grpc === undefined ? [] : [at('GRPC', grpc, V1, tenantOf(door))]),
    at('JSONRPC', url, LEGACY),
    at('HTTP+JSON', `${url}${REST}`, LEGACY),
    // The older version has no tenants.
    ...(grpc === undefined || door.kind !== 'house' ? [] : [at('GRPC', grpc, LEGACY)]),
  ];
}

const AGENTS = 'agents/';

/** gRPC has no paths: there an agent's own door is a tenant of the one address. */
const tenantOf = (door: Door): string => (door.kind === 'house' ? '' : `${AGENTS}${door.name}`);

/** The agent that a tenant stands for, on a binding without paths. */
export const agentInTenant = (tenant: string): string | undefined =>
  tenant.startsWith(AGENTS) ? tenant.slice(AGENTS.length) : undefined;

const describe = ({ name, description }: AgentDefinition): string => description ?? `The agent ${name}.`;

const houseDescription = (agents: readonly AgentDefinition[]): string =>
  `${agents.length === 1 ? 'One agent' : `${agents.length} agents`} of a Troupe project.`;

/** The protocol demands a tag: the name stands for those that the file does not have. */
function skillOf(agent: AgentDefinition, kind: Kind): AgentSkill {
  const { name, tags = [], examples = [] } = agent;
  return {
    ...{ id: name, name, description: describe(agent), tags: tags.length === 0 ? [name] : [...tags] },
    examples: kind === 'public' ? examples.slice(0, 3) : [...examples],
    ...{ inputModes: [], outputModes: [], securityRequirements: [] },
  };
}
