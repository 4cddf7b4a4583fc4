/** Ports that nobody has, and that nobody is given meanwhile. */
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { freePorts } from './free-ports.ts';

it('are none that the system gives to whoever connects, and none twice', async () => {
  const ports = await freePorts(Array.from({ length: 200 }, () => 0));
  expect(new Set(ports).size).toBe(200);
  for (const port of ports) expect(port).toSatisfy((one: number) => one >= 15_000 && one < 32_000);
});

it('pass over one that somebody listens on', async () => {
  const [first = 0] = await freePorts([0], seededRandom(7));
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(first, '127.0.0.1', resolve));
  const [second] = await freePorts([0], seededRandom(7));
  await new Promise((resolve) => holder.close(resolve));
  expect(second).not.toBe(first);
});
