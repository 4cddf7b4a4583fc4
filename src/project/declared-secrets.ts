/**
 * Variables that the settings or an agent's file name as a key, a token or a header: secret because somebody says so, whatever
 * their names are.
 */
import type { RemoteAgent } from '../agents/definition/remote.ts';
import { variablesNamed } from '../base/environment.ts';
import { isSecretName } from '../base/secrets/names.ts';
import { type Redactor, secretsOf } from '../base/secrets/redact.ts';
import type { McpServerConfig } from '../tools/mcp/connection.ts';
import type { ProjectConfig } from './config.ts';
import { peerEnvironment } from './lazy-peers.ts';
import { variablesIn } from './servers/allowed-peers.ts';

export function secretsInSettings({ providers, mcp }: Pick<ProjectConfig, 'providers' | 'mcp'>): readonly string[] {
  return [
    ...Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
    ...Object.values(mcp).flatMap(secretsOfServer),
  ];
}

/** What a program is given may be anything: there the name that it goes by says whether it is secret. */
function secretsOfServer(server: McpServerConfig): readonly string[] {
  if ('url' in server) return variablesNamed(Object.values(server.headers ?? {}));
  return Object.entries(server.env ?? {}).flatMap(([name, text]) => (isSecretName(name) ? variablesNamed([text]) : []));
}

/** Learns from agents what is secret, before anything is sent to them or written of them. */
export function learnsSecrets(config: Parameters<typeof peerEnvironment>[0], redactor: Pick<Redactor, 'learn'>): Learns {
  const env = peerEnvironment(config);
  return (agents) => {
    const declared = agents.flatMap(({ remote }) => (remote === undefined ? [] : variablesIn(remote)));
    if (declared.length > 0) redactor.learn(secretsOf(env, declared));
  };
}

type Learns = (agents: readonly { readonly remote?: RemoteAgent | undefined }[]) => void;
