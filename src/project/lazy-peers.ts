/** Agents that live elsewhere. What it takes to ask them is loaded with the first one. */
import type { Clock } from '../base/clock.ts';
import type { Peers } from '../peers/port.ts';
import type { ProjectConfig } from './config.ts';

export function createLazyPeers({ home, keyEnv: env }: Pick<ProjectConfig, 'home' | 'keyEnv'>, clock: Clock): Peers {
  let made: Promise<Peers> | undefined;
  const peers = async (): Promise<Peers> => {
    const { createA2aPeers } = await import('../peers/a2a/open.ts');
    const { createKeptCards } = await import('../peers/cards/kept-cards.ts');
    return createA2aPeers({ clock, env, kept: createKeptCards(home) });
  };
  return {
    async open(remote, signal) {
      made ??= peers();
      return await (await made).open(remote, signal);
    },
  };
}
