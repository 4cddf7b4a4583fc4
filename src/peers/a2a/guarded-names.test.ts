/** Names of gRPC interfaces that lead elsewhere each time they are asked for: only what was looked at is ever connected to. */
import { createServer } from 'node:net';
import { AgentCard } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { OWNER, served } from '../../../test/support/a2a/served.ts';
import { fail, ok } from '../../base/result.ts';
import type { FindAddresses } from '../../network/follow.ts';
import { connect } from './connect.ts';

/** Stands for a public place; the other for one inside. */
const OUTSIDE = '127.0.0.1';
const INSIDE = '127.0.0.2';
/** More often than a peer that is down is looked up while a few calls fail. */
const MANY = 100;

/** A name server that gives the next answer each time, and a guard that judges what it gave. */
function changingNames(answers: readonly string[]): { readonly find: FindAddresses; readonly asked: string[] } {
  const asked: string[] = [];
  const find: FindAddresses = async (host) => {
    const address = answers[Math.min(asked.length, answers.length - 1)] ?? INSIDE;
    asked.push(host);
    if (address === INSIDE) return fail({ kind: 'refused', message: `${host} is at ${address}, which is not a public address` });
    return ok([{ address, family: 4 }]);
  };
  return { find, asked };
}

it.each([
  { name: 'first outside, then inside', answers: [OUTSIDE, INSIDE], reached: true },
  { name: 'inside', answers: [INSIDE], reached: false },
])('a name that is $name', async ({ answers, reached }) => {
  await using there = await served({ play: () => ({ text: 'Sun.' }) });
  const json: unknown = await (await there.fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })).json();
  const card = AgentCard.fromJSON(json);
  const port = card.supportedInterfaces
    .find((one) => one.protocolBinding === 'GRPC')
    ?.url.split(':')
    .at(-1);
  let trapped = 0;
  const trap = createServer((socket) => {
    trapped += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(Number(port), INSIDE, resolve));
  const { find, asked } = changingNames(answers);
  const url = `http://changing.test:${port}`;
  const client = await connect(card, { url, binding: 'GRPC', version: '1.0', tenant: '', inside: false, plain: true }, find);
  const asking = client.getTask(
    { tenant: '', id: 'none', historyLength: 0 },
    { serviceParameters: { authorization: `Bearer ${OWNER}` } },
  );
  // Whoever says that there is no such task was reached.
  await expect(asking).rejects.toThrow(reached ? /not found|no task/i : /not a public address/);
  expect(asked[0]).toBe('changing.test');
  expect(trapped).toBe(0);
  await new Promise((resolve) => trap.close(resolve));
});

it('a peer that is down is looked up once in a while, and everything else goes on', async () => {
  await using there = await served({ play: () => ({ text: 'Sun.' }) });
  const json: unknown = await (await there.fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })).json();
  const card = AgentCard.fromJSON(json);
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, OUTSIDE, resolve));
  const at = closed.address();
  await new Promise((resolve) => closed.close(resolve));
  const url = `http://down.test:${typeof at === 'object' ? at?.port : ''}`;
  let asked = 0;
  // Without an end to its answers, a loop that never pauses would never let this test fail.
  const find: FindAddresses = async () => {
    asked += 1;
    return asked > MANY ? await new Promise(() => {}) : ok([{ address: OUTSIDE, family: 4 }]);
  };
  const client = await connect(card, { url, binding: 'GRPC', version: '1.0', tenant: '', inside: false, plain: true }, find);
  for (let times = 0; times < 3; times += 1)
    await expect(client.getTask({ tenant: '', id: 'none', historyLength: 0 })).rejects.toThrow(/UNAVAILABLE|ECONNREFUSED/);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(MANY);
});
