/** Work that comes after `collectTimeout`: the results are put together without it, and it is neither lost nor hidden. */
import { describe, expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import {
  fastClock,
  type Group,
  type GroupRun,
  type Player,
  runGroup,
  runsOf,
} from '../../../test/support/patterns/group-on-engine.ts';
import { says } from '../../../test/support/world.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/port.ts';

const COLLECT_MS = 12_345;
const kept = closedAfterwards();

/**
 * The first time to collect is over as soon as the coder is done, and not before; after that there is all the time in the
 * world. Nothing here depends on how fast anybody is.
 */
async function play(group: Partial<Group>, player: Player): Promise<GroupRun> {
  let coderIsDone = false;
  let collections = 0;
  const waiting = new Set<() => void>();
  const clock: Clock = {
    ...fastClock,
    after(delayMs, callback, hold) {
      if (delayMs !== COLLECT_MS) return fastClock.after(delayMs, callback, hold);
      collections += 1;
      if (collections > 1) return () => undefined;
      if (coderIsDone) return fastClock.after(0, callback, hold);
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
  };
  const wrapLedger = (ledger: Ledger): Ledger => ({
    ...ledger,
    async append(batch) {
      const outcome = await ledger.append(batch);
      const done = batch.events.some(({ type, actor }) => type === 'run.ended' && actor === 'agent:coder');
      if (done) {
        coderIsDone = true;
        setImmediate(() => {
          for (const ring of waiting) ring();
        });
      }
      return outcome;
    },
  });
  const told = await runGroup({
    group: { mode: 'orchestrator', workers: ['coder', 'tester'], collectTimeout: COLLECT_MS, workerTimeout: 9e8, ...group },
    player,
    clock,
    wrapLedger,
  });
  kept(told.world);
  return told;
}

/** The tester answers only when somebody says so. */
function lateTester() {
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  return { answer: () => answer(), reply: () => asked.then(() => says('The tests are red.')) };
}

describe('a worker that is late', () => {
  it('is shown below the answer that was put together without it', async () => {
    const tester = lateTester();
    const { result, asked, events } = await play({}, (one) => {
      if (one.part === 'work' && one.agent === 'tester') return tester.reply();
      if (one.part !== 'synthesis') return undefined;
      tester.answer();
      return 'Together.';
    });
    expect(asked.find((one) => one.part === 'synthesis')?.text).toContain('No result came from: tester (still at work).');
    expect(result.report.body).toBe(
      'Together.\n\nThis came too late to be put together (collectTimeout):\n\n### tester\n\nThe tests are red.',
    );
    const [tested] = runsOf(events, 'tester');
    const ended = events.find((event) => event.event_type === 'run.ended' && event.run_id === tested);
    expect(ended?.payload).toMatchObject({ status: 'completed' });
  });

  it('is part of the next iteration', async () => {
    const tester = lateTester();
    const { result, asked } = await play({ mode: 'reflect' }, (one) => {
      if (one.part === 'replan') return '@worker:coder Mend it.';
      if (one.part === 'work' && one.agent === 'tester') return tester.reply();
      if (one.part !== 'synthesis') return undefined;
      tester.answer();
      return one.round === 1 ? 'Together.\n[[NEEDS_ITERATION]]\nTests.' : 'Together again.\n[[GROUP_REFLECT_COMPLETE]]';
    });
    const [first, second] = asked.filter((one) => one.part === 'synthesis');
    expect(first?.text).not.toContain('The tests are red.');
    expect(second?.text).toMatch(/### tester: done[\s\S]*The tests are red\./);
    expect(result.report.body).not.toContain('too late');
  });

  it('is waited for before it gets another task', async () => {
    const tester = lateTester();
    const { asked } = await play({ mode: 'reflect', maxIterations: 2 }, (one) => {
      if (one.part === 'replan') {
        tester.answer();
        return '@worker:tester Test again.';
      }
      if (one.part === 'work' && one.agent === 'tester') return one.round === 1 ? tester.reply() : says('Green now.');
      return one.part === 'synthesis' ? `Together ${one.round}.\n[[NEEDS_ITERATION]]\nTests.` : undefined;
    });
    const again = asked.filter((one) => one.agent === 'tester').at(-1);
    expect(again?.request.messages.map((message) => JSON.stringify(message)).join()).toContain('The tests are red.');
    const second = asked.filter((one) => one.part === 'synthesis').at(-1);
    expect(second?.text).toMatch(/The tests are red\.[\s\S]*Green now\./);
  });
});
