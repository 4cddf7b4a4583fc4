/** Conversations as every engine keeps them: what is taken back is not heard any more, and what is condensed on request. */
import { expect } from 'vitest';
import { readAll } from '../../../src/engine/record/read-all.ts';
import { userText } from '../../../src/events/messages.ts';
import { agent, calls, says, turnOf } from '../../support/world.ts';
import { type EngineCase, resultOf, start } from './checks.ts';

export const conversationCases: readonly EngineCase[] = [
  {
    name: 'an exchange that is taken back is not heard by those that come after it',
    async play(worlds) {
      const heard: string[] = [];
      const world = await worlds.create({
        brain: (asked) => {
          heard.push(JSON.stringify(asked.messages));
          return says(`Answer ${heard.length}.`);
        },
      });
      const first = await start(world, { input: userText('Alpha?') });
      await resultOf(first);
      const say = async (text: string) => {
        const handle = await start(world, { session: first.session, input: userText(text) });
        await resultOf(handle);
        return handle.run;
      };
      const second = await say('Beta?');
      expect(await world.engine.withdraw(first.run)).toMatchObject({ kind: 'refused', error: { code: 'went_on' } });
      expect(await world.engine.withdraw(second)).toEqual({ kind: 'withdrawn' });
      expect(await world.engine.withdraw(second)).toMatchObject({ kind: 'refused', error: { code: 'went_on' } });
      const third = await say('Gamma?');
      expect(heard.at(-1)).toContain('Alpha?');
      expect(heard.at(-1)).not.toContain('Beta?');
      // Back to the beginning: each stands for what was before it.
      expect(await world.engine.withdraw(third)).toEqual({ kind: 'withdrawn' });
      expect(await world.engine.withdraw(first.run)).toEqual({ kind: 'withdrawn' });
      await say('Delta?');
      expect(['Alpha?', 'Beta?', 'Gamma?', 'Delta?'].filter((words) => heard.at(-1)?.includes(words))).toEqual(['Delta?']);
      expect((await world.ledger.verify()).kind).toBe('sound');
    },
  },
  {
    name: 'an exchange that was taken back and went on after that is heard again',
    async play(worlds) {
      const heard: string[] = [];
      const world = await worlds.create({
        agents: [agent({ maxTurns: 1 })],
        brain: (asked) => {
          heard.push(JSON.stringify(asked.messages));
          return heard.length === 1 ? calls({ name: 'look', input: { name: 'x' } }) : says('Done.');
        },
      });
      const first = await start(world, { input: userText('Alpha?') });
      expect(await resultOf(first)).toMatchObject({ status: 'failed' });
      expect(await world.engine.withdraw(first.run)).toEqual({ kind: 'withdrawn' });
      const resumed = await world.engine.resume(first.run, { maxTurns: 5 });
      expect(resumed.kind === 'resumed' && (await resumed.handle.done)).toMatchObject({ result: { status: 'completed' } });
      await resultOf(await start(world, { session: first.session, input: userText('Beta?') }));
      expect(heard.at(-1)).toContain('Alpha?');
      expect(await world.engine.withdraw(first.run)).toMatchObject({ kind: 'refused', error: { code: 'went_on' } });
    },
  },
  {
    name: 'what has not ended is not taken back',
    async play(worlds) {
      const world = await worlds.create({ brain: () => says('Yes.') });
      const released = Promise.withResolvers<void>();
      const slow = await worlds.create({
        brain: async () => {
          await released.promise;
          return says('Late.');
        },
      });
      const handle = await start(slow);
      expect(await slow.engine.withdraw(handle.run)).toMatchObject({ kind: 'refused', error: { code: 'unfinished' } });
      released.resolve();
      await resultOf(handle);
      expect(await world.engine.withdraw('run_00000000000000nobody' as typeof handle.run)).toMatchObject({
        kind: 'refused',
        error: { code: 'unknown_run' },
      });
    },
  },
  {
    name: 'what was said before is condensed on request, up to the last turn',
    async play(worlds) {
      const heard: string[] = [];
      const world = await worlds.create({
        brain: (asked) => {
          heard.push(JSON.stringify(asked.messages));
          if (heard.length % 2 === 1 && heard.length < 4) return calls({ name: 'look', input: { name: 'x' } });
          return says(`Answer ${turnOf(asked)}. ${'word '.repeat(100)}`);
        },
      });
      const first = await start(world, { input: userText('Alpha?') });
      await resultOf(first);
      const go = async (text: string, condense?: boolean) =>
        await resultOf(await start(world, { session: first.session, input: userText(text), condense }));
      await go('Beta?', true);
      const last = heard[2] ?? '';
      expect(last).toContain('Earlier steps of this work, condensed');
      expect(last).toContain('told: Alpha?');
      expect(last).not.toContain('tool-call');
      expect(last).toContain('word '.repeat(100).trim());
      await go('Gamma?');
      expect(heard.at(-1)).toContain('Earlier steps of this work, condensed');
      const summaries = (await readAll(world.ledger, first.session)).filter((event) => event.event_type === 'task.summary');
      expect(summaries).toHaveLength(1);
      expect((await world.ledger.verify()).kind).toBe('sound');
    },
  },
];
