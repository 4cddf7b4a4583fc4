/** Agents that live elsewhere. What it takes to ask them is loaded with the first one. */
import type { RemoteAgent } from '../agents/definition/remote.ts';
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { fail } from '../base/result.ts';
import type { Peers } from '../peers/port.ts';
import type { ProjectConfig } from './config.ts';
import type { DeclaredServers } from './servers/declared-servers.ts';

type Variables = Pick<ProjectConfig, 'keyEnv' | 'dotEnv'>;

export function createLazyPeers(
  config: Variables & Pick<ProjectConfig, 'home'>,
  clock: Clock,
  { peerRefusal }: Pick<DeclaredServers, 'peerRefusal'>,
  learn: (agents: readonly { readonly remote: RemoteAgent }[]) => void,
): Peers {
  let made: Promise<Peers> | undefined;
  const peers = async (): Promise<Peers> => {
    const { createA2aPeers } = await import('../peers/a2a/open.ts');
    const { createKeptCards } = await import('../peers/cards/kept-cards.ts');
    return createA2aPeers({ clock, env: peerEnvironment(config), kept: createKeptCards(config.home) });
  };
  return {
    async open(remote, signal, at) {
      const refusal = await peerRefusal(remote);
      if (refusal !== undefined) return fail({ kind: 'refused', ...refusal });
      // Of a run that goes on, the file may not have been read.
      learn([{ remote }]);
      made ??= peers();
      return await (await made).open(remote, signal, at);
    },
  };
}

/** What the files of such agents may name: variables of the environment and of the project's `.env`. */
export const peerEnvironment = ({ keyEnv, dotEnv }: Variables): Environment => ({ ...dotEnv, ...keyEnv });
