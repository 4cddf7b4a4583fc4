/**
 * What every implementation of the steps port must do, as data: patterns to run and what must come of them. Each case is
 * also cut at every append and resumed; the result must be the same.
 */
import { deepStrictEqual, ok as holds, rejects } from 'node:assert/strict';
import { messageOf } from '../../../src/base/errors.ts';
import { Interruption } from '../../../src/engine/interruption.ts';
import { userText } from '../../../src/events/messages.ts';
import type { Steps } from '../../../src/patterns/steps.ts';

export interface StepsCase {
  readonly name: string;
  /** Runs as the root; its children are agents named `quick` (says what it is asked), `slow` (never answers) and `broken`. */
  pattern(steps: Steps, world: { readonly counts: Map<string, number> }): Promise<string>;
  readonly expected: string;
}

const ask = (text: string) => userText(text);
/** What the children here are to their parents. */
const CHILD = { kind: 'pattern', role: 'child' } as const;

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** What the steps fail with. That the run cannot go on just now is no failure: patterns let it pass. */
async function failureOf(steps: () => Promise<unknown>): Promise<string> {
  try {
    await steps();
  } catch (error) {
    if (error instanceof Interruption) throw error;
    return messageOf(error);
  }
  return 'nothing';
}

export const stepsConformance: readonly StepsCase[] = [
  {
    name: 'a step happens once and keeps its value',
    expected: '7 7',
    async pattern(steps, { counts }) {
      const first = await steps.step('draw', async () => {
        count(counts, 'draw');
        return 7;
      });
      const second = await steps.step('draw-again', async () => first);
      return `${first} ${second}`;
    },
  },
  {
    name: 'children answer in the order of their handles',
    expected: 'a|b|c',
    async pattern(steps) {
      const handles = [];
      for (const name of ['a', 'b', 'c']) handles.push(await steps.start(`child/${name}`, 'quick', ask(name), CHILD));
      return (await steps.all(handles)).map((result) => result.report.body).join('|');
    },
  },
  {
    name: 'settled tells how each ended, all throws for the first that failed',
    expected: 'failed completed',
    async pattern(steps) {
      const bad = await steps.start('bad', 'broken', ask('x'), CHILD);
      const good = await steps.start('good', 'quick', ask('y'), CHILD);
      const failure = await failureOf(() => steps.all([good, bad]));
      holds(/bad:/.test(failure), failure);
      return (await steps.settled([bad, good])).map((result) => result.status).join(' ');
    },
  },
  {
    name: 'a race has one winner for ever and the losers are cancelled',
    expected: '1 completed cancelled',
    async pattern(steps) {
      const slow = await steps.start('slow', 'slow', ask('zzz'), CHILD);
      const quick = await steps.start('quick', 'quick', ask('me'), CHILD);
      const { index, result } = await steps.race('first', [slow, quick]);
      const [loser] = await steps.settled([slow]);
      return `${index} ${result.status} ${loser?.status}`;
    },
  },
  {
    name: 'who is not in time goes on, is late for ever and can be joined later',
    expected: 'late completed, then cancelled',
    async pattern(steps) {
      const slow = await steps.start('slow', 'slow', ask('zzz'), CHILD);
      const quick = await steps.start('quick', 'quick', ask('me'), CHILD);
      await steps.settled([quick]);
      const [late, inTime] = await steps.collect('collected', [slow, quick], 5);
      const another = await steps.start('another', 'quick', ask('me too'), CHILD);
      await steps.race('end', [another, slow]);
      const [joined] = await steps.settled([slow]);
      return `${late === undefined ? 'late' : late.status} ${inTime?.status}, then ${joined?.status}`;
    },
  },
  {
    name: 'next tells of those that have ended, for ever, and lets the others go on',
    expected: '1 me; 1 again; then cancelled',
    async pattern(steps) {
      const slow = await steps.start('slow', 'slow', ask('zzz'), CHILD);
      const quick = await steps.start('quick', 'quick', ask('me'), CHILD);
      const [first] = (await steps.next('first', [slow, quick])).ended;
      const again = await steps.start('again', 'quick', ask('again'), CHILD);
      const [second] = (await steps.next('second', [slow, again])).ended;
      const another = await steps.start('another', 'quick', ask('me too'), CHILD);
      await steps.race('end', [another, slow]);
      const [joined] = await steps.settled([slow]);
      const told = [first, second].map((one) => `${one?.index} ${one?.result.report.body}`);
      return `${told.join('; ')}; then ${joined?.status}`;
    },
  },
  {
    name: 'a time comes before a child that is not done',
    expected: 'nothing, then me',
    async pattern(steps) {
      const slow = await steps.start('slow', 'slow', ask('zzz'), CHILD);
      const due = (await steps.now('began')) + 5;
      const early = await steps.next('early', [slow], { until: due });
      holds((await steps.now('later')) >= due, 'it was told before its time');
      const quick = await steps.start('quick', 'quick', ask('me'), CHILD);
      const { ended } = await steps.next('late', [slow, quick], { until: due + 3_600_000 });
      holds((await steps.worked('worked', quick)) >= 0, 'it was worked on');
      await steps.stop(slow, 'enough');
      await steps.settled([slow]);
      const told = early.ended.length === 0 ? 'nothing' : 'something';
      return `${told}, then ${ended[0]?.result.report.body}`;
    },
  },
  {
    name: 'everybody in time is collected as settled would',
    expected: 'a|b',
    async pattern(steps) {
      const handles = [];
      for (const name of ['a', 'b']) handles.push(await steps.start(`child/${name}`, 'quick', ask(name), CHILD));
      const results = await steps.collect('collected', handles, 3_600_000);
      return results.map((result) => result?.report.body).join('|');
    },
  },
  {
    name: 'now and sleep are recorded',
    expected: 'later',
    async pattern(steps) {
      const before = await steps.now('before');
      await steps.sleep('nap', 5);
      const after = await steps.now('after');
      holds(after >= before + 5, `${after} is not 5 ms after ${before}`);
      return 'later';
    },
  },
  {
    name: 'a wait that nobody answers in time gives nothing, for ever',
    expected: 'undefined undefined',
    async pattern(steps) {
      const answer = await steps.wait('question', { question: 'Anybody?', timeoutMs: 5 });
      const again = await steps.step('remembered', async () => String(answer));
      return `${String(answer)} ${again}`;
    },
  },
  {
    name: 'a key cannot be used twice',
    expected: 'refused',
    async pattern(steps) {
      await steps.step('once', async () => 1);
      await rejects(() => steps.step('once', async () => 2), /used twice/);
      deepStrictEqual(await steps.step('other', async () => [1, { two: 2 }]), [1, { two: 2 }]);
      return 'refused';
    },
  },
];
