/** What was typed before a question is dropped, but for Ctrl-C: whoever wants out is not asked first. */
import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { eventLoopTurn } from '../../base/clock.ts';
import { dropTypedAhead } from './type-ahead.ts';

/** Stands in for a terminal, whose keys come one round of the event loop after it is read: when they come can be said here. */
class Keys extends EventEmitter {
  isTTY = true;
  isRaw = false;
  readonly modes: boolean[] = [];
  readonly #typed: readonly string[];
  constructor(...typed: readonly string[]) {
    super();
    this.#typed = typed;
  }
  setRawMode(raw: boolean): this {
    this.modes.push(raw);
    return this;
  }
  resume(): this {
    void (async () => {
      for (const piece of this.#typed) {
        await eventLoopTurn();
        this.emit('data', Buffer.from(piece));
      }
    })();
    return this;
  }
  pause(): this {
    return this;
  }
}

it.each([
  [['yes', '\r', 'yes\r'], 'dropped'],
  [[], 'dropped'],
  [['\u0003'], 'interrupted'],
  [['ye', 's\r\u0003no', 'x'], 'interrupted'],
])('of %j', async (typed, said) => {
  const keys = new Keys(...typed);
  expect(await dropTypedAhead(keys as unknown as Parameters<typeof dropTypedAhead>[0])).toBe(said);
  expect(keys.modes).toEqual([true, false]);
  expect(keys.listenerCount('data')).toBe(0);
});
