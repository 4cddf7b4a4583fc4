/**
 * One life of a process that works on runs until it is killed. What it does to the world outside goes to a file, line by
 * line, so that the next life and the test can see it. Usage: killed-process-main.ts <plan as JSON>
 *
 * A life that is to die says so after so many steps, goes on for a few more, and then stands still: whoever kills it hits it
 * between the two, also inside a write, and however slow the machine is, it gets neither less far nor further.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunId } from '../../src/base/ids.ts';
import { present } from '../../src/base/present.ts';
import { counterName, PROJECT_SCOPE } from '../../src/engine/spending/budget.ts';
import { userText } from '../../src/events/messages.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { type Tool, textResult } from '../../src/tools/port.ts';
import { agent, calls, createWorld, reports, turnOf } from '../support/world.ts';
import type { Moment, ProcessPlan } from './killed-processes.ts';

const plan: ProcessPlan = JSON.parse(process.argv[2] ?? '');
const { folder, runs, firstRun = 0, budget, death } = plan;
const note = (file: string, line: string): void => appendFileSync(join(folder, file), `${line}\n`);
const outside = (line: string): void => note('outside.log', line);

let steps = 0;

/** Every step of the work passes here. Gives whether it may be made. */
function mayPass(moment: Moment): boolean {
  steps += 1;
  if (death === undefined) return true;
  if (steps === death.after) process.stdout.write(`now ${moment}\n`);
  return steps < death.after + death.further;
}

async function pass(moment: Moment): Promise<void> {
  if (!mayPass(moment)) await standstill();
  // Others have their turn, as they would if this took its time.
  await new Promise(setImmediate);
}

/** Nothing but this keeps the process from ending by itself. */
function standstill(): Promise<never> {
  setInterval(() => undefined, 1_000);
  return new Promise(() => {});
}

/** With a look at what has been reserved and spent, after each commit. */
function watched(ledger: Ledger): Ledger {
  return {
    ...ledger,
    async append(request) {
      // At once, if at all: what is asked of a ledger happens in this order.
      if (!mayPass('before a commit')) return await standstill();
      const appended = await ledger.append(request);
      if (budget !== undefined) {
        const held = (unit: 'calls' | 'nanoUsd'): Promise<number> => ledger.counter(counterName(PROJECT_SCOPE, unit));
        note('looks.log', JSON.stringify({ calls: await held('calls'), nanoUsd: await held('nanoUsd') }));
      }
      await pass('after a commit');
      return appended;
    },
  };
}

const tool = (name: string, replay: 'safe' | 'never'): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  replay,
  async run(input, context) {
    await pass('before an effect');
    outside(`${name} ${context.idempotencyKey}`);
    await pass('after an effect');
    return textResult(`${name} ${JSON.stringify(input)}`);
  },
});

const world = createWorld({
  path: join(folder, 'ledger.db'),
  seed: process.pid,
  agents: [agent()],
  tools: [tool('look', 'safe'), tool('act', 'never')],
  wrapLedger: watched,
  engineOptions: present({ projectBudget: budget }),
  async brain(request) {
    outside(`model ${request.idempotencyKey}`);
    await pass('in a model call');
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
  if (begun.kind === 'ended') return;
  const end = begun.kind === 'resumed' || begun.kind === 'started' ? await begun.handle.done : begun;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
}

await Promise.all(
  Array.from({ length: runs }, (_value, index) => work(`run_${String(firstRun + index).padStart(20, '0')}` as RunId)),
);
await world.close();
