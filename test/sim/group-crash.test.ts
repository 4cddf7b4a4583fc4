/**
 * Crash at every commit of a loop of three iterations with four workers and a judge. Each time another process takes it up
 * in its iteration: answers that had arrived are used, workers that never started are started, nobody is asked twice what
 * was answered, and no answer of an earlier iteration stands in for a later one.
 */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { childRunId, createIds, type RunId, type SessionId } from '../../src/base/ids.ts';
import { seededRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { textOf, userText } from '../../src/events/messages.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import type { RunResult } from '../../src/patterns/steps.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { acting, fastClock, groupAgents, judges, only, payloads } from '../support/patterns/group-on-engine.ts';
import { createWorld, type Outside } from '../support/world.ts';

/** No process has this number, so its leases are a dead owner's. */
const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_0000000000000groupcut' as RunId;
const SESSION = 'ses_0000000000000groupcut' as SessionId;
const WORKERS = ['ann', 'ben', 'cleo', 'dan'];
const ITERATIONS = 3;
const NEVER = Number.POSITIVE_INFINITY;

const agents = groupAgents({ mode: 'reflect', workers: WORKERS, evaluator: 'judge' }, [...WORKERS, 'judge']);

const brain = acting(
  ({ part, round }) => (part === 'evaluate' ? judges(round < ITERATIONS ? 0.5 + round / 10 : 0.95) : undefined),
  WORKERS,
);

interface Play {
  readonly ledger: Ledger;
  readonly outside: Outside;
}

function newPlay(): Play {
  const ids = createIds(systemClock, seededRandom(5));
  const ledger = openSqliteLedger({ path: ':memory:', clock: systemClock, ids, validate: true, owner: { pid: DEAD_PID } });
  return { ledger, outside: { modelCalls: [], effects: [] } };
}

/** One process's life: starts or resumes the loop, and dies after `lastAppend` appends unless it ends before. */
async function live({ ledger, outside }: Play, lastAppend: number): Promise<{ result: RunResult | undefined; appends: number }> {
  const crashing = crashAt(ledger, lastAppend);
  const world = createWorld({ ledger: crashing.ledger, clock: fastClock, outside, agents, brain });
  const request = { agent: 'lead', input: userText('Build it.'), workspace: '.', run: RUN, session: SESSION };
  const started = await world.engine.start(request);
  const end = started.kind === 'started' ? await started.handle.done : undefined;
  await world.close();
  return { result: end?.kind === 'ended' ? end.result : undefined, appends: crashing.appends() };
}

/** What everybody was told, without the fences that differ from life to life. */
function toldTo(events: readonly LedgerEvent[]): string[] {
  return only(events, 'run.started')
    .map(({ run_id, payload }) => {
      const text = payload.input.role === 'user' ? textOf(payload.input.content) : '';
      return `${run_id} ${payload.agent} ${payload.continues}\n${text.replaceAll(/\b[0-9a-z]{12}\b/g, 'fence')}`;
    })
    .sort();
}

function checkLoop(events: readonly LedgerEvent[]): void {
  expect(payloads(events, 'group.ended')).toMatchObject([{ reason: 'goal_met', iterations: ITERATIONS, outcome: 'met' }]);
  expect(payloads(events, 'group.evaluated').map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
  expect(payloads(events, 'group.planned').map(({ accepted }) => accepted)).toEqual([true, true, true]);
  const starts = only(events, 'run.started').map((event) => event.run_id);
  const ends = only(events, 'run.ended').map((event) => event.run_id);
  expect(new Set(starts).size).toBe(starts.length);
  expect(ends.toSorted()).toEqual(starts.toSorted());
  for (let iteration = 1; iteration <= ITERATIONS; iteration += 1) {
    const synthesis = only(events, 'run.started').find(
      (event) => event.run_id === childRunId(RUN, `iteration/${iteration}/synthesis`),
    );
    const shown = synthesis?.payload.input.role === 'user' ? textOf(synthesis.payload.input.content) : '';
    for (const worker of WORKERS) {
      const run = childRunId(RUN, `iteration/${iteration}/work/${worker}`);
      const ended = only(events, 'run.ended').find((event) => event.run_id === run);
      expect(ended?.payload.report.body).toContain(`${worker} has done in round ${iteration}`);
      expect(shown).toContain(ended?.payload.report.body);
    }
    expect(shown).not.toContain(`in round ${iteration - 1}`);
  }
}

/** A call that was answered, and whose answer was kept, is not made again. */
function checkCalls({ outside }: Play, lives: number): void {
  const again = outside.modelCalls.length - new Set(outside.modelCalls).size;
  expect(again).toBeLessThanOrEqual(WORKERS.length * (lives - 1));
}

describe('a loop of three iterations with four workers', () => {
  it('ends as if nothing had happened, wherever it is cut', async () => {
    const whole = newPlay();
    const uncut = await live(whole, NEVER);
    const expected = await readAll(whole.ledger, SESSION);
    expect(uncut.result).toMatchObject({ status: 'completed' });
    checkLoop(expected);
    expect(new Set(whole.outside.modelCalls).size).toBe(ITERATIONS * (WORKERS.length + 3));
    await whole.ledger.close();

    for (let cut = 1; cut <= uncut.appends; cut += 1) {
      const play = newPlay();
      await live(play, cut);
      const { result } = await live(play, NEVER);
      const events = await readAll(play.ledger, SESSION);
      const sound = await play.ledger.verify();
      await play.ledger.close();
      expect(result, `cut at ${cut}`).toEqual(uncut.result);
      expect(sound.kind).toBe('sound');
      checkLoop(events);
      checkCalls(play, 2);
      expect(toldTo(events), `cut at ${cut}`).toEqual(toldTo(expected));
    }
  });

  it('ends although every life is cut short', async () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const random = seededRandom(seed);
      const play = newPlay();
      let result: RunResult | undefined;
      let lives = 0;
      for (; lives < 200 && result === undefined; lives += 1)
        result = (await live(play, 3 + Math.floor(random.fraction() * 12))).result;
      expect(result, `seed ${seed}`).toMatchObject({ status: 'completed' });
      checkLoop(await readAll(play.ledger, SESSION));
      checkCalls(play, lives);
      await play.ledger.close();
    }
  });
});
