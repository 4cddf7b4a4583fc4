/** Whether the agents that live elsewhere can be talked to. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RemoteAgent } from '../../agents/definition/remote.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { atMost } from '../../base/at-most.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { tryPeer } from '../../peers/a2a/try-peer.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { keptKey, peerEnvironment } from '../../project/lazy-peers.ts';
import type { Finding } from './finding.ts';

/** One after the other as far as there are places: all of them at once could be a thousand addresses. */
export async function remoteFindings(
  config: ProjectConfig,
  agents: readonly LoadedAgent[],
  clock: Clock,
): Promise<readonly Finding[]> {
  const remote = agents.flatMap(({ definition, disabled }) =>
    disabled || definition.remote === undefined ? [] : [{ definition, remote: definition.remote }],
  );
  const env = peerEnvironment(config);
  const place = atMost(limits.doctorPeers);
  return await Promise.all(
    remote.map((one) =>
      place(
        async () =>
          keptFinding(one.definition, one.remote, config) ?? (await findingOf(one.definition, one.remote, { env, clock })),
      ),
    ),
  );
}

function keptFinding({ name, source }: AgentDefinition, remote: RemoteAgent, config: ProjectConfig): Finding | undefined {
  const kept = keptKey(remote, config);
  return kept && { about: `remote ${name}`, state: 'broken', text: `${kept.message} (${source})`, fix: kept.fix };
}

async function findingOf(
  { name, source }: AgentDefinition,
  remote: RemoteAgent,
  needs: Parameters<typeof tryPeer>[1],
): Promise<Finding> {
  const about = `remote ${name}`;
  const tried = await tryPeer(remote, needs);
  if (tried.state === 'broken') return { about, state: 'broken', text: `${tried.reason} (${source})`, fix: tried.fix };
  const { url, binding, version } = tried.interface;
  const pinned = remote.pin === undefined ? '' : ', pinned';
  return { about, state: 'good', text: `${tried.card.name} answers at ${url} (${binding} ${version}${pinned})` };
}
