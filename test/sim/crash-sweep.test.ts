/**
 * Crash at every commit. One run with parallel tool calls is cut at each append, reopened by another process's ledger and
 * resumed, again and again until it ends. The world outside must have seen each effect that may not be repeated at most
 * once, no completed model call twice, and the conversation must be the one that the uncut run had.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { createIds } from '../../src/base/ids.ts';
import { seededRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { Message } from '../../src/events/messages.ts';
import { userText } from '../../src/events/messages.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import type { ModelRequest } from '../../src/models/port.ts';
import type { RunResult } from '../../src/patterns/steps.ts';
import { createTranscripts } from '../../src/projections/transcript.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { agent, calls, createWorld, type Outside, reports, turnOf } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process has this number, so its leases are a dead owner's. */
const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_00000000000000crash' as RunId;
const SESSION = 'ses_00000000000000crash' as SessionId;

const brain = (request: ModelRequest) => {
  const turn = turnOf(request);
  if (turn === 1)
    return calls(
      { name: 'look' },
      { name: 'act', input: { name: 'a' } },
      { name: 'act', input: { name: 'b' } },
      { name: 'look' },
    );
  if (turn === 2) return calls({ name: 'act', input: { name: 'c' } }, { name: 'nonsense' });
  if (turn === 3) return calls({ name: 'look', input: { name: 'again' } });
  return reports('All done.');
};

interface Life {
  readonly result: RunResult | undefined;
  readonly appends: number;
}

/** One process's life: starts or resumes the run, and dies after `lastAppend` appends unless it ends before. */
async function live(path: string, outside: Outside, lastAppend: number, budget: boolean): Promise<Life> {
  let appends = () => 0;
  const world = createWorld({
    path,
    outside,
    brain,
    agents: [agent(budget ? { budget: { usd: 10, tokens: 1_000_000 } } : {})],
    wrapLedger: (inner) => {
      const crashing = crashAt(inner, lastAppend);
      appends = crashing.appends;
      return crashing.ledger;
    },
    owner: { pid: DEAD_PID },
  });
  const result = await untilEnd(world);
  await world.ledger.close();
  return { result, appends: appends() };
}

async function untilEnd(world: ReturnType<typeof createWorld>): Promise<RunResult | undefined> {
  const resumed = await world.engine.resume(RUN);
  if (resumed.kind === 'ended') return resumed.result;
  if (resumed.kind === 'resumed') {
    const end = await resumed.handle.done;
    return end.kind === 'ended' ? end.result : undefined;
  }
  if (resumed.kind === 'refused') return undefined;
  const started = await world.engine.start({
    agent: 'worker',
    input: userText('Go.'),
    workspace: folder,
    run: RUN,
    session: SESSION,
  });
  if (started.kind !== 'started') return undefined;
  const end = await started.handle.done;
  return end.kind === 'ended' ? end.result : undefined;
}

async function conversation(path: string): Promise<{
  messages: Message[];
  results: readonly (string | null)[];
  doubts: number;
  sound: boolean;
}> {
  const ledger: Ledger = openSqliteLedger({
    path,
    clock: systemClock,
    ids: createIds(systemClock, seededRandom(9)),
    readOnly: true,
  });
  const events = await readAll(ledger, SESSION);
  const transcripts = createTranscripts();
  for (const event of events) transcripts.apply(event);
  const results = events.filter((event) => event.event_type === 'tool.result');
  const doubts = results.filter(({ payload }) => payload.inDoubt === true).length;
  const sound = (await ledger.verify()).kind === 'sound';
  await ledger.close();
  return { messages: transcripts.of(RUN), results: results.map(({ step }) => step), doubts, sound };
}

function checkOutside(outside: Outside): void {
  const acts = outside.effects.filter((effect) => effect.startsWith('act'));
  expect(new Set(acts).size, 'an effect that must not be repeated happened twice').toBe(acts.length);
}

describe.each([{ budget: false }, { budget: true }])('cut at every append (budget: $budget)', ({ budget }) => {
  it('ends as the uncut run does', async () => {
    const whole = join(folder, `whole-${budget}.db`);
    const uncut = await live(whole, { modelCalls: [], effects: [] }, Number.POSITIVE_INFINITY, budget);
    expect(uncut.result).toMatchObject({ status: 'completed', report: { body: 'All done.' } });
    const expected = await conversation(whole);
    expect(uncut.appends).toBeGreaterThan(8);

    for (let cut = 0; cut <= uncut.appends; cut += 1) {
      const path = join(folder, `cut-${budget}-${cut}.db`);
      const outside: Outside = { modelCalls: [], effects: [] };
      await live(path, outside, cut, budget);
      const second = await live(path, outside, Number.POSITIVE_INFINITY, budget);
      expect(second.result, `cut at ${cut}`).toMatchObject({ status: 'completed', report: { body: 'All done.' } });
      checkOutside(outside);
      const got = await conversation(path);
      expect(got.sound).toBe(true);
      // Calls that must not be repeated come one after the other, and each has its outcome once.
      expect(got.doubts).toBeLessThanOrEqual(1);
      expect(new Set(got.results).size, `recorded twice, cut at ${cut}`).toBe(got.results.length);
      if (got.doubts === 0) expect(got.messages, `cut at ${cut}`).toEqual(expected.messages);
      // Only the call that was under way can have been made again.
      expect(outside.modelCalls.length).toBeLessThanOrEqual(5);
    }
  });

  it('ends although every life is cut short', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = seededRandom(seed);
      const path = join(folder, `many-${budget}-${seed}.db`);
      const outside: Outside = { modelCalls: [], effects: [] };
      let result: RunResult | undefined;
      for (let lives = 0; lives < 60 && result === undefined; lives += 1) {
        result = (await live(path, outside, 2 + Math.floor(random.fraction() * 4), budget)).result;
      }
      expect(result, `seed ${seed}`).toMatchObject({ status: 'completed' });
      checkOutside(outside);
    }
  });
});
