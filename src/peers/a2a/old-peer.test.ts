/** Agents of the older line, by the last SDK that speaks 0.3 and nothing else, over each of its bindings. */
import { describe, expect, it } from 'vitest';
import { startOldServer } from '../../../test/support/a2a/old-server.ts';
import { systemClock } from '../../base/clock.ts';
import { keepsNoCards } from '../cards/kept-cards.ts';
import type { Binding } from '../cards/port.ts';
import type { PeerCall, PeerOutcome, PeerTask, RemotePeer } from '../port.ts';
import { createA2aPeers } from './open.ts';

const { signal } = new AbortController();
const quiet: PeerCall = { signal, onTask: async () => undefined };

async function open(card: string, binding: Binding): Promise<RemotePeer> {
  const opened = await createA2aPeers({ clock: systemClock, env: {}, kept: keepsNoCards }).open({ card, binding }, signal);
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

const say = (
  peer: RemotePeer,
  text: string,
  more: { readonly task?: string | undefined; readonly context?: string } = {},
  call = quiet,
): Promise<PeerOutcome> => peer.send({ id: `m-${text}`, context: `c-${text}`, parts: [{ type: 'text', text }], ...more }, call);

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('an agent of 0.3 over %s', (binding) => {
  it('answers, in pieces too, asks, fails and refuses', async () => {
    await using server = await startOldServer();
    const peer = await open(server.card, binding);
    expect(await say(peer, 'Do it.')).toMatchObject({ kind: 'answer', text: 'Done: Do it.' });
    const inPieces = await say(peer, 'stream');
    expect(inPieces).toMatchObject({ kind: 'answer', text: 'One, two, three.' });
    expect(inPieces).toMatchObject({ artifacts: [{ content: 'One, two, three.' }] });
    const asked = await say(peer, 'ask');
    if (asked.kind !== 'asks') throw new Error(JSON.stringify(asked));
    expect(asked.question).toBe('Which one?');
    const { task, context } = asked;
    expect(await say(peer, 'The second.', { task, context })).toMatchObject({ text: 'You said: The second.' });
    expect(await say(peer, 'fail')).toMatchObject({ kind: 'ended', state: 'failed' });
    expect(await say(peer, 'refuse')).toMatchObject({ kind: 'ended', state: 'rejected' });
    expect(await say(peer, 'talk')).toMatchObject({ kind: 'answer', text: 'We only talk.' });
    expect(await server.begun()).toEqual(['Do it.', 'stream', 'ask', 'The second.', 'fail', 'refuse', 'talk']);
  });

  it('is cancelled at work, and whoever follows it hears so', async () => {
    await using server = await startOldServer();
    const peer = await open(server.card, binding);
    const begun = Promise.withResolvers<PeerTask>();
    const waiting = say(peer, 'wait', {}, { signal, onTask: async (task) => begun.resolve(task) });
    const task = await begun.promise;
    expect(await peer.cancel(task)).toMatchObject({ ok: true });
    expect(await waiting).toMatchObject({ kind: 'ended', state: 'canceled' });
    expect(await peer.follow(task, quiet)).toMatchObject({ kind: 'ended', state: 'canceled' });
    expect(await server.begun()).toEqual(['wait']);
  });
});
