import { expect, it } from 'vitest';
import { payloads } from '../../../test/support/patterns/group-on-engine.ts';
import { agent, calls, createWorld, reports, says, turnOf } from '../../../test/support/world.ts';
import { sleep, systemClock } from '../../base/clock.ts';
import { userText } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { type Tool, textResult } from '../../tools/port.ts';
import { readAll } from '../record/read-all.ts';

it('what somebody else changes meanwhile is not the loop’s own progress', async () => {
  let changes = 0;
  let asked = 0;
  let loopEnded = false;
  const change: Tool = {
    name: 'change',
    description: 'Changes a file.',
    inputSchema: { type: 'object' },
    replay: 'safe',
    async run() {
      changes += 1;
      const payload = { path: 'a.ts', before: null, after: `content ${changes}`, addedLines: 1, removedLines: 0, diff: '' };
      return { ...textResult('changed'), evidence: [{ type: 'file.diff', payload }] };
    },
  };
  const world = createWorld({
    tools: [change],
    agents: [
      agent({ name: 'lead', tools: [], group: { mode: 'broadcast', workers: ['loop', 'busy'] } }),
      agent({ name: 'loop', tools: [], group: { mode: 'reflect', maxIterations: 5 } }),
      agent({ name: 'busy', tools: ['change'] }),
    ],
    brain: async (request) => {
      const turn = turnOf(request);
      const until = async (reached: () => boolean): Promise<void> => {
        while (!reached() && !loopEnded) await sleep(systemClock, 1);
      };
      // In turn: each answer of the loop comes after another change by the other one.
      if (request.agent === 'busy') {
        await until(() => asked >= turn);
        return turn <= 6 ? calls({ name: 'change', input: { turn } }) : reports('busy is done');
      }
      asked = turn;
      await until(() => changes >= turn);
      return says('The same.');
    },
  });
  const started = await world.engine.start({ agent: 'lead', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const { session, done } = started.handle;
  const stop = new AbortController();
  const watching = (async () => {
    for await (const event of world.ledger.tail(session, 0, stop.signal)) loopEnded ||= event.event_type === 'group.ended';
  })();
  await done;
  stop.abort();
  await watching;
  const events = await readAll(world.ledger, session);
  await world.close();
  expect(changes).toBe(6);
  expect(payloads(events, 'group.ended')).toMatchObject([{ reason: 'stalled', iterations: 3 }]);
});

it('asking again reads what is new since, however long the work has lasted', async () => {
  const asked: number[] = [];
  const counted = (ledger: Ledger): Ledger => ({
    ...ledger,
    async read(query) {
      const events = await ledger.read(query);
      // Nobody else asks for what was tested and for pauses at once.
      if (query.types?.includes('test.report') === true && query.types.includes('run.paused')) asked.push(events.length);
      return events;
    },
  });
  let changes = 0;
  const change: Tool = {
    name: 'change',
    description: 'Changes a file.',
    inputSchema: { type: 'object' },
    replay: 'safe',
    async run() {
      changes += 1;
      const payload = { path: 'a.ts', before: null, after: `content ${changes}`, addedLines: 1, removedLines: 0, diff: '' };
      return { ...textResult('changed'), evidence: [{ type: 'file.diff', payload }] };
    },
  };
  const rounds = 12;
  const world = createWorld({
    tools: [change],
    agents: [agent({ name: 'loop', tools: ['change'], maxTurns: 100, group: { mode: 'reflect', maxIterations: rounds } })],
    wrapLedger: counted,
    brain: (request) =>
      request.messages.at(-1)?.role === 'user'
        ? calls(...Array.from({ length: 5 }, () => ({ name: 'change', input: { round: turnOf(request) } })))
        : says(`Version ${changes}, ${'new '.repeat(changes)}. [[NEEDS_ITERATION]] More of ${changes * 7}.`),
  });
  const started = await world.engine.start({ agent: 'loop', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  await started.handle.done;
  const events = await readAll(world.ledger, started.handle.session);
  await world.close();
  expect(payloads(events, 'group.ended')).toMatchObject([{ iterations: rounds }]);
  expect(changes).toBe(5 * rounds);
  expect(asked.length).toBeGreaterThanOrEqual(rounds);
  // Each event once: five changes and the start of a part in each round, and nothing of the rounds before.
  expect(Math.max(...asked)).toBeLessThanOrEqual(10);
});
