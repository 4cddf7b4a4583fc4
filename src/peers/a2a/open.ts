/** Agents that live elsewhere and speak A2A. */
import type { Client } from '@a2a-js/sdk/client';
import { TaskNotCancelableError } from '@a2a-js/sdk/errors';
import type { RemoteAgent } from '../../agents/definition/remote.ts';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { CardInterface, KeptCards, ReadCard } from '../cards/port.ts';
import { readCard } from '../cards/read-card.ts';
import type { PeerEnded, PeerFailure, Peers, RemotePeer } from '../port.ts';
import { connect, wayProblem } from './connect.ts';
import { findTask, followPeer, type PeerLine, sendToPeer, withinTime } from './exchange.ts';
import { classified, isNoTask } from './failures.ts';
import { filledHeaders } from './headers.ts';
import { ONCE } from './once.ts';
import { type Pieces, stateWord } from './task-view.ts';
import { costIn } from './usage.ts';

export interface A2aPeersOptions {
  readonly clock: Clock;
  readonly env: Environment;
  readonly kept: KeptCards;
}

export function createA2aPeers({ clock, env, kept }: A2aPeersOptions): Peers {
  const clients = createClients();
  return {
    async open(remote, signal, at) {
      const headers = filledHeaders(remote, env);
      if (!headers.ok) return headers;
      const { pin, plain, binding, key, extensions } = remote;
      const source = { address: new URL(remote.card), headers: headers.value, pin, plain, binding, key, extensions, at };
      const outcome = await readCard(source, { clock, kept, signal });
      if (outcome.state === 'unreachable') return fail({ kind: 'network', message: outcome.reason });
      if (outcome.state === 'refused') return fail({ kind: 'refused', message: outcome.reason, fix: outcome.fix });
      const problem = await wayProblem(outcome.interface);
      if (problem !== undefined) return fail(problem);
      const client = await clients(outcome);
      const streams = outcome.card.capabilities?.streaming === true;
      const { version } = outcome.interface;
      const line = { client, clock, streams, version, pieces: piecesOf(outcome.interface), headers: headers.value };
      return ok(peerOf(line, outcome, remote));
    },
  };
}

/** Reading the older version, the SDK loses the mark of what is added, on all bindings but one. */
const piecesOf = ({ version, binding }: CardInterface): Pieces =>
  version === '0.3' && binding !== 'JSONRPC' ? 'unmarked' : 'marked';

/** A client for each interface of each card, as some keep connections open; the one that was made first goes first. */
function createClients(): (read: ReadCard) => Promise<Client> {
  const made = new Map<string, Promise<Client>>();
  return async ({ card, hash, interface: chosen }) => {
    const key = JSON.stringify([hash, chosen]);
    const client = made.get(key) ?? connect(card, chosen);
    made.set(key, client);
    const [oldest] = made.keys();
    if (made.size > limits.peerClientsKept && oldest !== undefined) made.delete(oldest);
    return await client;
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

/** How it stands then. One that had ended, or that nobody knows any more, needs no end. */
async function cancel(line: PeerLine, id: string): Promise<Result<PeerEnded, PeerFailure>> {
  try {
    const task = await withinTime(line, limits.peerCancelMs, undefined, (options) =>
      line.client.cancelTask({ tenant: '', id, metadata: undefined }, options),
    );
    return ok({ state: stateWord(task.status?.state), ...costIn(task.metadata) });
  } catch (error) {
    if (isNoTask(error)) return ok({ state: 'ended', usage: {} });
    return error instanceof TaskNotCancelableError ? await refusedToEnd(line, id) : fail(classified(error).failure);
  }
}

/** It has ended already, or it does not end for us: how it stands says which. */
async function refusedToEnd(line: PeerLine, id: string): Promise<Result<PeerEnded, PeerFailure>> {
  try {
    const task = await withinTime(line, limits.peerCancelMs, undefined, (options) =>
      line.client.getTask({ tenant: '', id, historyLength: 0 }, options),
    );
    const state = stateWord(task.status?.state);
    return ok({ state: ENDED.has(state) ? 'ended' : state, ...costIn(task.metadata) });
  } catch (error) {
    return isNoTask(error) ? ok({ state: 'ended', usage: {} }) : fail(classified(error).failure);
  }
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'rejected', 'canceled']);
