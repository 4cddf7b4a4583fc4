/**
 * The way to an agent that lives elsewhere. What was begun at an address goes on there and nowhere else: a card may say something
 * else by now, and another server knows nothing of the task, or is none of those that were meant.
 */
import { fail, type Result } from '../../base/result.ts';
import type { PeerFailure, RemotePeer } from '../../peers/port.ts';
import type { PeerRecorder } from './recorder.ts';

export async function openPeer(
  { tree, setup, tasks }: Pick<PeerRecorder, 'tree' | 'setup' | 'tasks'>,
  signal: AbortSignal,
): Promise<Result<RemotePeer, PeerFailure>> {
  const { remote } = setup.definition;
  if (tree.peers === undefined || remote === undefined)
    return fail({ kind: 'refused', message: 'Agents that live elsewhere cannot be asked here.' });
  const begunAt = tasks.openAt();
  const opened = await tree.peers.open(remote, signal, begunAt);
  // In the words of the ledger, from which secrets are taken out.
  if (!opened.ok || begunAt === undefined || tree.redact(opened.value.address) === begunAt) return opened;
  return fail({
    kind: 'refused',
    message: `its task is at ${begunAt}, which its card does not name any more, and is not asked for at ${opened.value.address}`,
    fix: 'see why the card has changed; once it names that address again ask anew, or end the task with whoever runs the agent',
  });
}
