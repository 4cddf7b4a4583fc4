/** How many tasks a caller may follow at a time. */
import type { StreamResponse } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import type { Scope } from './needs.ts';
import { countStreams } from './room.ts';

const scopeOf = (name: string): Scope => ({ caller: { name, sees: 'own' }, tenant: '' });

async function* endless(): AsyncGenerator<StreamResponse, void, undefined> {
  for (;;) yield { payload: undefined };
}

it('a caller follows so many tasks at a time, for itself alone, and one more when it has left one', async () => {
  const streams = countStreams();
  const begin = async (name: string) => {
    const stream = streams.counted(scopeOf(name), endless());
    await stream.next();
    return stream;
  };
  const open = [];
  for (let count = 0; count < limits.a2aStreamsPerCaller; count += 1) open.push(await begin('alice'));
  await expect(begin('alice')).rejects.toThrow('a2aStreamsPerCaller');
  await begin('bob');
  for (const stream of open) await stream.return();
  for (let count = 0; count < limits.a2aStreamsPerCaller; count += 1) await begin('alice');
  await expect(begin('alice')).rejects.toThrow('a2aStreamsPerCaller');
});
