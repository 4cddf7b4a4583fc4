/** Agents that live elsewhere. What it takes to ask them is loaded with the first one. */
import type { RemoteAgent } from '../agents/definition/remote.ts';
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { fail } from '../base/result.ts';
import { keyVariables } from '../models/provider/providers.ts';
import type { PeerFailure, Peers } from '../peers/port.ts';
import type { ProjectConfig } from './config.ts';

type Variables = Pick<ProjectConfig, 'keyEnv' | 'dotEnv'>;
type Keys = Pick<ProjectConfig, 'providers'>;

export function createLazyPeers(config: Variables & Keys & Pick<ProjectConfig, 'home'>, clock: Clock): Peers {
  let made: Promise<Peers> | undefined;
  const peers = async (): Promise<Peers> => {
    const { createA2aPeers } = await import('../peers/a2a/open.ts');
    const { createKeptCards } = await import('../peers/cards/kept-cards.ts');
    return createA2aPeers({ clock, env: peerEnvironment(config), kept: createKeptCards(config.home) });
  };
  return {
    async open(remote, signal) {
      const kept = keptKey(remote, config);
      if (kept !== undefined) return fail(kept);
      made ??= peers();
      return await (await made).open(remote, signal);
    },
  };
}

/** What the files of such agents may name: variables of the environment and of the project's `.env`. */
export const peerEnvironment = ({ keyEnv, dotEnv }: Variables): Environment => ({ ...dotEnv, ...keyEnv });

/** An agent file may come with somebody's repository: it cannot have the key of a model provider sent to an address. */
export function keptKey({ token = '', headers = {} }: RemoteAgent, { providers }: Keys): PeerFailure | undefined {
  const keys = new Set<string>([
    ...Object.values(keyVariables).flat(),
    ...Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
  ]);
  const texts = [token, ...Object.values(headers)];
  const named = texts.flatMap((text) => [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name));
  const key = named.find((name) => keys.has(name));
  if (key === undefined) return undefined;
  const message = `${key} is the key of a model provider and is not sent to other agents.`;
  return { kind: 'refused', message, fix: 'Put what the agent wants into a variable of its own, and name that in its file.' };
}
