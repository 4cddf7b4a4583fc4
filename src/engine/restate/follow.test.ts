/** Following a run that others work on: a ledger that fails is said by whoever follows, and by nobody else. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { agent, calls } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import { userText } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { EngineOptions } from '../options.ts';
import { createRestateDriver } from './driver.ts';

const created = keptWorlds();
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => void process.off('unhandledRejection', note));

const down = (): TroupeError => new TroupeError('ledger_unreachable', 'The server cannot be reached.');
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

it.each<[string, (ledger: Ledger) => Partial<Ledger>]>([
  ['when it begins to look', () => ({ runs: () => Promise.reject(down()) })],
  [
    'while it listens',
    () => ({
      // biome-ignore lint/correctness/useYield: it fails before there is anything to give.
      async *tail() {
        await turns();
        throw down();
      },
    }),
  ],
])('a run whose ledger fails %s is interrupted for whoever follows it, with the reason', async (_when, broken) => {
  const world = created({ brain: () => calls({ name: 'act' }), agents: [agent({ permissions: { act: 'ask' } })] });
  const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(started.kind);
  await started.handle.done;
  const [root] = await world.ledger.runs({ run: started.handle.run });
  if (root === undefined) throw new Error('no such run');

  let failing = false;
  const ingress = {
    startRoot: async () => {
      failing = true;
    },
    startRootLater: async () => undefined,
    poke: async () => undefined,
  };
  const { ledger } = world;
  const replaced = broken(ledger);
  const sometimes = new Proxy(ledger, {
    get: (target, name) => Reflect.get(failing && name in replaced ? replaced : target, name) as unknown,
  });
  const driver = createRestateDriver({ ledger: sometimes, clock: systemClock } as unknown as EngineOptions, ingress as never);
  const outcome = await driver.takeUp?.(root);
  if (outcome?.kind !== 'resumed') throw new Error(outcome?.kind);
  expect(await outcome.handle.done).toMatchObject({ kind: 'interrupted', error: { code: 'ledger_unreachable' } });
  await turns();
  expect(unhandled).toEqual([]);
});
