/** How many tasks a caller may follow at a time. */
import type { StreamResponse } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import type { Scope } from './needs.ts';
import { countStreams, streamsOf } from './room.ts';

const scopeOf = (name: string): Scope => ({ caller: { name, sees: 'own' }, tenant: '' });

async function* endless(): AsyncGenerator<StreamResponse, void, undefined> {
  for (;;) yield { payload: undefined };
}

it.each([
  ['as many as the limit says', limits.a2aStreamsPerCaller, {}],
  ['as many as the settings say', 3, { streamsPerCaller: 3 }],
])('a caller follows %s at a time, for itself alone, and one more when it has left one', async (_name, most, settings) => {
  const streams = countStreams(streamsOf({ settings }));
  const begin = async (name: string) => {
    const stream = streams.counted(scopeOf(name), endless());
    await stream.next();
    return stream;
  };
  const open = [];
  for (let count = 0; count < most; count += 1) open.push(await begin('alice'));
  await expect(begin('alice')).rejects.toThrow(
    `at most ${most} at a time (a2aStreamsPerCaller); whoever runs this server can allow more: a2a.streamsPerCaller`,
  );
  await begin('bob');
  for (const stream of open) await stream.return();
  for (let count = 0; count < most; count += 1) await begin('alice');
  await expect(begin('alice')).rejects.toThrow('a2aStreamsPerCaller');
});
