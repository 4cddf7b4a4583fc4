/** Slots: never more at work than there are, nobody held up by whom it waits for, nobody left behind. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunId } from '../../base/ids.ts';
import { createSlots, type Slots } from './slots.ts';

const id = (name: string): RunId => `run_${name}` as RunId;
const never = new AbortController().signal;

/** Lets everything happen that can happen without anybody doing something. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Whether the promise has resolved by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  await settled();
  return over;
}

describe('slots', () => {
  it('let in as many as there are, the others in the order in which they came', async () => {
    const slots = createSlots(2);
    const entered: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) void slots.enter(id(name), never).then(() => entered.push(name));
    await settled();
    expect(entered).toEqual(['a', 'b']);
    slots.leave(id('b'));
    await settled();
    expect(entered).toEqual(['a', 'b', 'c']);
    slots.leave(id('a'));
    await settled();
    expect(entered).toEqual(['a', 'b', 'c', 'd']);
  });

  it('go to the caller who has the fewest at work, also when another has many waiting', async () => {
    const slots = createSlots(2);
    const entered: string[] = [];
    const come = (name: string, caller: string): void => void slots.enter(id(name), never, caller).then(() => entered.push(name));
    for (const name of ['a1', 'a2', 'a3', 'a4']) come(name, 'alice');
    come('b1', 'bob');
    come('b2', 'bob');
    await settled();
    expect(entered).toEqual(['a1', 'a2']);
    slots.leave(id('a1'));
    await settled();
    expect(entered).toEqual(['a1', 'a2', 'b1']);
    // What waits for others comes back in the name of its caller.
    const child = Promise.withResolvers<void>();
    const waited = slots.released(id('b1'), never, () => child.promise);
    await settled();
    expect(entered.at(-1)).toBe('b2');
    child.resolve();
    await settled();
    slots.leave(id('b2'));
    await waited;
    slots.leave(id('a2'));
    await settled();
    expect(entered).toEqual(['a1', 'a2', 'b1', 'b2', 'a3']);
  });

  it('are one per run, and leaving twice gives back one', async () => {
    const slots = createSlots(1);
    await slots.enter(id('a'), never);
    await slots.enter(id('a'), never);
    slots.leave(id('a'));
    slots.leave(id('a'));
    await slots.enter(id('b'), never);
    expect(await isOver(slots.enter(id('c'), never))).toBe(false);
  });

  it('are given back by a parent that waits, and taken again before it goes on', async () => {
    const slots = createSlots(1);
    const child = Promise.withResolvers<string>();
    await slots.enter(id('parent'), never);
    const waited = slots.released(id('parent'), never, () => child.promise);
    await slots.enter(id('child'), never);
    child.resolve('done');
    expect(await isOver(waited)).toBe(false);
    slots.leave(id('child'));
    expect(await waited).toBe('done');
    expect(await isOver(slots.enter(id('other'), never))).toBe(false);
  });

  it('are taken again also when what was waited for throws', async () => {
    const slots = createSlots(1);
    await slots.enter(id('parent'), never);
    const failing = slots.released(id('parent'), never, () => Promise.reject(new Error('interrupted')));
    await expect(failing).rejects.toThrow('interrupted');
    expect(await isOver(slots.enter(id('other'), never))).toBe(false);
  });

  it('are not needed by a run that has none to give back', async () => {
    const slots = createSlots(1);
    await slots.enter(id('other'), never);
    expect(await slots.released(id('inline'), never, async () => 7)).toBe(7);
  });

  it('are shared by two waits of one run: it goes on with the first that is over', async () => {
    const slots = createSlots(1);
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await slots.enter(id('parent'), never);
    const one = slots.released(id('parent'), never, () => first.promise);
    const two = slots.released(id('parent'), never, () => second.promise);
    await slots.enter(id('child'), never);
    first.resolve();
    expect(await isOver(one)).toBe(false);
    slots.leave(id('child'));
    await one;
    second.resolve();
    await two;
    slots.leave(id('parent'));
    expect(await isOver(slots.enter(id('next'), never))).toBe(true);
  });

  it('let two waits of one run that end at the same time come back together', async () => {
    const slots = createSlots(1);
    const both = Promise.withResolvers<void>();
    await slots.enter(id('parent'), never);
    const waits = [1, 2].map(() => slots.released(id('parent'), never, () => both.promise));
    await slots.enter(id('other'), never);
    both.resolve();
    await settled();
    slots.leave(id('other'));
    await Promise.all(waits);
  });

  it('are not waited for by whoever is aborted, who leaves the queue', async () => {
    const slots = createSlots(1);
    const abort = new AbortController();
    await slots.enter(id('a'), never);
    const aborted = slots.enter(id('b'), abort.signal);
    const next = slots.enter(id('c'), never);
    abort.abort();
    await aborted;
    slots.leave(id('a'));
    await next;
    expect(await isOver(slots.enter(id('b'), abort.signal))).toBe(true);
    expect(await isOver(slots.enter(id('d'), never))).toBe(false);
  });

  it('do not hold up a parent that is cancelled while it waits', async () => {
    const slots = createSlots(1);
    const abort = new AbortController();
    await slots.enter(id('parent'), abort.signal);
    const waited = slots.released(id('parent'), abort.signal, async () => 'over');
    await slots.enter(id('child'), never);
    abort.abort();
    expect(await waited).toBe('over');
  });
});

/**
 * A run of a made-up tree: it works for some turns, then starts its children and waits for them, one way or the other. It may ask
 * its children again (a clarification is another run that needs a slot), be left for a person and taken up again, or be
 * cancelled at some moment.
 */
interface Made {
  readonly turns: number;
  readonly waits: 'each' | 'together';
  readonly asksAgain: boolean;
  readonly approvals: number;
  readonly cancelAfter: number | undefined;
  readonly children: readonly Made[];
}

const made: fc.Memo<Made> = fc.memo((depth: number) =>
  fc.record({
    turns: fc.integer({ min: 0, max: 3 }),
    waits: fc.constantFrom<Made['waits']>('each', 'together'),
    asksAgain: fc.boolean(),
    approvals: fc.integer({ min: 0, max: 2 }),
    cancelAfter: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined, freq: 4 }),
    children: depth <= 1 ? fc.constant([]) : fc.array(made(), { maxLength: 4 }),
  }),
);

/** Plays the tree and says how many worked at the same time at most. One that was cancelled works without a slot to its end. */
async function play(slots: Slots, root: Made): Promise<number> {
  let working = 0;
  let most = 0;
  const work = async (turns: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    working += 1;
    most = Math.max(most, working);
    for (let turn = 0; turn < turns && !signal.aborted; turn += 1) await settled();
    working -= 1;
  };
  const hosted = async (name: string, signal: AbortSignal, act: () => Promise<void>): Promise<void> => {
    await slots.enter(id(name), signal);
    try {
      if (!signal.aborted) await act();
    } finally {
      slots.leave(id(name));
    }
  };
  const run = async (node: Made, name: string, above: AbortSignal): Promise<void> => {
    const own = new AbortController();
    const signal = AbortSignal.any([above, own.signal]);
    const cancelled = (async () => {
      for (let turn = 0; turn < (node.cancelAfter ?? 0); turn += 1) await settled();
      if (node.cancelAfter !== undefined) own.abort();
    })();
    // A question to a person unwinds the session: its slot is given back, and taken again in the next life.
    for (let life = 0; life < node.approvals; life += 1) {
      await hosted(name, signal, () => work(1, signal));
      await settled();
    }
    await hosted(name, signal, async () => {
      await work(node.turns, signal);
      const children = node.children.map((child, index) => run(child, `${name}.${index}`, signal));
      if (node.waits === 'together') await slots.released(id(name), signal, () => Promise.all(children));
      else for (const child of children) await slots.released(id(name), signal, () => child);
      if (node.asksAgain)
        for (const [index] of node.children.entries())
          await slots.released(id(name), signal, () => hosted(`${name}.${index}.again`, signal, () => work(node.turns, signal)));
      await work(node.turns, signal);
    });
    await cancelled;
  };
  await run(root, '0', never);
  return most;
}

describe('any tree of parents that wait for their children, for people and for clarifications', () => {
  it('comes to its end, with never more at work than there are slots', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), made(4), async (active, root) => {
        const slots = createSlots(active);
        expect(await play(slots, root)).toBeLessThanOrEqual(active);
        // All are free again.
        for (let one = 0; one < active; one += 1) await slots.enter(id(`after-${one}`), never);
        expect(await isOver(slots.enter(id('too-many'), never))).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});
