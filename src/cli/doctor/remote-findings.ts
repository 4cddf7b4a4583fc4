/** Whether the agents that live elsewhere may be talked to, and answer. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RemoteAgent } from '../../agents/definition/remote.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { atMost } from '../../base/at-most.ts';
import { limits } from '../../base/limits.ts';
import type { Finding } from '../../front/project/finding.ts';
import { tryPeer } from '../../peers/a2a/try-peer.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { peerEnvironment } from '../../project/lazy-peers.ts';
import { createDeclaredServers } from '../../project/servers/declared-servers.ts';
import type { CommandContext } from '../terminal/command.ts';

/** So many at a time: all at once could be a thousand addresses. */
export async function remoteFindings(
  { clock, terminal }: CommandContext,
  config: ProjectConfig,
  agents: readonly LoadedAgent[],
): Promise<readonly Finding[]> {
  const declared = createDeclaredServers(config, terminal.env);
  const needs = { clock, env: peerEnvironment(config) };
  const place = atMost(limits.doctorPeers);
  const findingOf = async ({ name, source }: AgentDefinition, remote: RemoteAgent): Promise<Finding> => {
    const about = `remote ${name}`;
    const refusal = await declared.peerRefusal(remote);
    if (refusal !== undefined) {
      const fix = refusal.fix.replace('<agent>', name);
      return { about, state: 'broken', text: `${refusal.message} (${source})`, fix };
    }
    const tried = await tryPeer(remote, needs);
    if (tried.state === 'broken') return { about, state: 'broken', text: `${tried.reason} (${source})`, fix: tried.fix };
    const { url, binding, version } = tried.interface;
    const pinned = remote.pin === undefined ? '' : ', pinned';
    return { about, state: 'good', text: `${tried.card.name} answers at ${url} (${binding} ${version}${pinned})` };
  };
  const asked = agents.flatMap(({ definition, disabled }) =>
    disabled || definition.remote === undefined ? [] : [{ definition, remote: definition.remote }],
  );
  return await Promise.all(asked.map((one) => place(() => findingOf(one.definition, one.remote))));
}
