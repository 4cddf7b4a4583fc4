/**
 * One life of a process that works on runs until it is killed. What it does to the world outside goes to a file, line by
 * line, so that the next life and the test can see it. Usage: life-main.ts <folder> <runs> <first run> [calls budget]
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunId } from '../../src/base/ids.ts';
import { userText } from '../../src/events/messages.ts';
import { type Tool, textResult } from '../../src/tools/port.ts';
import { agent, calls, createWorld, reports, turnOf } from '../support/world.ts';

const [folder = '', runs = '1', first = '0', budget] = process.argv.slice(2);
const outside = (line: string): void => appendFileSync(join(folder, 'outside.log'), `${line}\n`);

const tool = (name: string, replay: 'safe' | 'never'): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  replay,
  async run(input, context) {
    await delay(3);
    outside(`${name} ${context.idempotencyKey}`);
    return textResult(`${name} ${JSON.stringify(input)}`);
  },
});

const world = createWorld({
  path: join(folder, 'ledger.db'),
  seed: process.pid,
  agents: [agent()],
  tools: [tool('look', 'safe'), tool('act', 'never')],
  parts: budget === undefined ? {} : { projectBudget: { calls: Number(budget), usd: Number(budget) * 0.02 } },
  async brain(request) {
    outside(`model ${request.idempotencyKey}`);
    await delay(4);
    const turn = turnOf(request);
    return turn < 5 ? calls({ name: 'look', input: { turn } }, { name: 'act', input: { turn } }) : reports('Done.');
  },
});

async function work(run: RunId): Promise<void> {
  const resumed = await world.engine.resume(run);
  const begun =
    resumed.kind === 'unknown'
      ? await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: folder, run })
      : resumed;
  if (begun.kind === 'refused') throw new Error(`${begun.error.code}: ${begun.error.message}`);
  if (begun.kind === 'resumed' || begun.kind === 'started') await begun.handle.done;
}

process.stdout.write('ready\n');
await Promise.all(
  Array.from({ length: Number(runs) }, (_value, index) =>
    work(`run_${String(Number(first) + index).padStart(20, '0')}` as RunId),
  ),
);
await world.close();
