import { expect, it } from 'vitest';
import { payloads } from '../../../test/support/patterns/group-play.ts';
import { agent, calls, createWorld, reports, says, turnOf } from '../../../test/support/world.ts';
import { sleep, systemClock } from '../../base/clock.ts';
import { userText } from '../../events/messages.ts';
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
