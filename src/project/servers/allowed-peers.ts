/**
 * Agents that live elsewhere and are shown who calls. Their file may be a stranger's, and a variable that it names may hold any
 * secret: what it names is sent only after a person has allowed exactly that, to exactly this address.
 */
import { createHash } from 'node:crypto';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RemoteAgent } from '../../agents/definition/remote.ts';
import { variablesNamed } from '../../base/environment.ts';
import { canonicalJson } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { keyVariables } from '../../models/provider/providers.ts';
import { decide } from '../../tools/permissions.ts';
import type { ProjectConfig } from '../config.ts';
import type { AllowedServers, OpenServer } from './allowed-servers.ts';

export interface PeerRefusal {
  readonly message: string;
  readonly fix: string;
}

export interface AllowedPeers {
  /** What waits for a word of the owner, if it does. */
  open(agent: AgentDefinition): Promise<OpenServer | undefined>;
  /** Why it may not be talked to, if it may not. */
  refusal(remote: RemoteAgent): Promise<PeerRefusal | undefined>;
}

type Settled = Pick<ProjectConfig, 'root' | 'permissions' | 'providers'>;

/** `brought`: agents that a program brought along, which are the program's own choice. */
export function createAllowedPeers(
  config: Settled,
  allowed: Pick<AllowedServers, 'has'>,
  brought: readonly AgentDefinition[],
): AllowedPeers {
  const own = new Set(brought.flatMap(({ remote }) => (remote === undefined ? [] : [keyOfPeer(config.root, remote)])));
  const waits = async (remote: RemoteAgent): Promise<boolean> => {
    const key = keyOfPeer(config.root, remote);
    return variablesIn(remote).length > 0 && !own.has(key) && !(await allowed.has(key));
  };
  return {
    async open({ name: agent, source, remote }) {
      if (remote === undefined || impossiblePeer(remote, config) !== undefined || !(await waits(remote))) return undefined;
      const where = `${remote.card}${furtherOf(remote)}${clearOf(remote)}`;
      const shown = `sends ${variablesIn(remote).join(', ')} of your environment to ${where}`;
      return { kind: 'peer', agent, source, server: hostOf(remote), shown, key: keyOfPeer(config.root, remote) };
    },
    async refusal(remote) {
      const never = impossiblePeer(remote, config);
      if (never !== undefined || !(await waits(remote))) return never;
      const names = variablesIn(remote).join(', ');
      const message = `Its file has ${names} sent to ${hostOf(remote)}, and nobody has allowed that, or it has changed since.`;
      return { message, fix: 'The owner of the project can look at it and allow it: troupe agents allow <agent>' };
    },
  };
}

const clearOf = ({ plain, card }: RemoteAgent): string => (plain === true && card.startsWith('http:') ? ', in the clear' : '');

/** Where else what it names goes, as the card says. A pin is a word of the file, and that may be a stranger's. */
function furtherOf({ card, pin, binding }: RemoteAgent): string {
  if (pin !== undefined) return `, and to where the card with the hash ${pin} leads`;
  return binding === 'GRPC' ? `, and by gRPC to the port of ${URL.parse(card)?.hostname ?? card} that the card names` : '';
}

const hostOf = ({ card }: RemoteAgent): string => URL.parse(card)?.host ?? card;

/** Everything that says where what goes. */
function keyOfPeer(root: string, { card, token, headers, pin, plain, binding, key }: RemoteAgent): string {
  const said = canonicalJson([root, 'a2a', present({ card, token, headers, pin, plain, binding, key })]);
  return createHash('sha256').update(said).digest('hex');
}

export const variablesIn = ({ token = '', headers = {} }: Pick<RemoteAgent, 'token' | 'headers'>): readonly string[] =>
  variablesNamed([token, ...Object.values(headers)]);

/** What nobody can allow: the key of a model provider for another, and an address that the settings deny. */
export function impossiblePeer(
  remote: RemoteAgent,
  { permissions, providers }: Pick<ProjectConfig, 'permissions' | 'providers'>,
): PeerRefusal | undefined {
  const keys = new Set<string>([
    ...Object.values(keyVariables).flat(),
    ...Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
  ]);
  const key = variablesIn(remote).find((name) => keys.has(name));
  if (key !== undefined)
    return {
      message: `${key} is the key of a model provider and is not sent to other agents.`,
      fix: 'Put what the agent wants into a variable of its own, and name that in its file.',
    };
  if (decide({ name: 'fetch', replay: 'never' }, {}, permissions, { input: { url: remote.card } }) !== 'deny') return undefined;
  return {
    message: `The project's settings deny \`fetch\` for ${hostOf(remote)}, and so what lives there is not talked to.`,
    fix: 'Allow it under `permissions` in troupe.yaml, or leave the agent out.',
  };
}
