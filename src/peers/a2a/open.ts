/** Agents that live elsewhere and speak A2A. */
import { TaskNotCancelableError } from '@a2a-js/sdk/errors';
import type { RemoteAgent } from '../../agents/definition/remote.ts';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { reachableAddresses } from '../../network/addresses.ts';
import type { CardInterface, KeptCards, ReadCard } from '../cards/port.ts';
import { readCard } from '../cards/read-card.ts';
import type { PeerFailure, Peers, RemotePeer } from '../port.ts';
import { connect, wayProblem } from './connect.ts';
import { findTask, followPeer, type PeerLine, sendToPeer, withinTime } from './exchange.ts';
import { classified, isNoTask } from './failures.ts';
import { filledHeaders } from './headers.ts';
import { ONCE } from './once.ts';
import { stateWord } from './task-view.ts';

export interface A2aPeersOptions {
  readonly clock: Clock;
  readonly env: Environment;
  readonly kept: KeptCards;
}

export function createA2aPeers({ clock, env, kept }: A2aPeersOptions): Peers {
  return {
    async open(remote, signal) {
      const headers = filledHeaders(remote, env);
      if (!headers.ok) return headers;
      const { pin, binding, key } = remote;
      const source = { address: new URL(remote.card), headers: headers.value, pin, binding, key };
      const outcome = await readCard(source, { clock, kept, signal });
      if (outcome.state === 'unreachable') return fail({ kind: 'network', message: outcome.reason });
      if (outcome.state === 'refused') return fail({ kind: 'refused', message: outcome.reason, fix: outcome.fix });
      const closed = await closedWay(outcome.interface);
      if (closed !== undefined) return fail(closed);
      const problem = await wayProblem(outcome.interface);
      if (problem !== undefined) return fail(problem);
      const client = await connect(outcome.card, outcome.interface);
      const line = { client, clock, streams: outcome.card.capabilities?.streaming === true, headers: headers.value };
      return ok(peerOf(line, outcome, remote));
    },
  };
}

function peerOf(line: PeerLine, { card, hash, interface: { url } }: ReadCard, remote: RemoteAgent): RemotePeer {
  return {
    address: url,
    card: hash,
    idempotent: remote.idempotent ?? card.capabilities?.extensions.some(({ uri }) => uri === ONCE) === true,
    send: (message, call) => sendToPeer(line, message, call),
    follow: (task, call) => followPeer(line, task, call),
    find: (sent) => findTask(line, sent),
    cancel: (task) => cancel(line, task.task),
  };
}

/** gRPC connects by itself: where its name leads is looked at before. */
async function closedWay({ binding, url, inside }: CardInterface): Promise<PeerFailure | undefined> {
  if (binding !== 'GRPC') return undefined;
  const place = URL.parse(url.includes('://') ? url : `http://${url}`);
  const found = await reachableAddresses(place?.hostname ?? url, inside);
  return found.ok ? undefined : { kind: found.error.kind === 'refused' ? 'refused' : 'network', message: found.error.message };
}

/** How it stands then. One that had ended, or that nobody knows any more, needs no end. */
async function cancel(line: PeerLine, id: string): Promise<Result<string, PeerFailure>> {
  try {
    const task = await withinTime(line, limits.peerCancelMs, undefined, (options) =>
      line.client.cancelTask({ tenant: '', id, metadata: undefined }, options),
    );
    return ok(stateWord(task.status?.state));
  } catch (error) {
    if (error instanceof TaskNotCancelableError || isNoTask(error)) return ok('ended');
    return fail(classified(error).failure);
  }
}
