/** What must hold after a crash: those of the known regressions of groups (test/regressions/groups.test.ts) that are about it. */

import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../src/base/ids.ts';
import { seededRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import { loopOnlyAs, roleInTree } from '../../src/events/run-origin.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import { crashAt } from '../support/ledger/crash.ts';
import {
  acting,
  breaks,
  fastClock,
  groupAgents,
  only,
  type Player,
  payloads,
  runsOf,
} from '../support/patterns/group-on-engine.ts';
import { createWorld, type Outside } from '../support/world.ts';

const WORKERS = ['coder', 'tester'];
const RUN = 'run_000000000000regression' as RunId;
const SESSION = 'ses_000000000000regression' as SessionId;
const nothing: Player = () => undefined;

const finishing =
  (player: Player): Player =>
  async (asked) =>
    (await player(asked)) ?? (asked.part === 'synthesis' ? 'Together.\n[[GROUP_REFLECT_COMPLETE]]' : undefined);

/** No process has this number, so its leases are a dead owner's. */
const DEAD_PID = 2 ** 22 + 1;

function openLedger() {
  const ids = createIds(systemClock, seededRandom(3));
  return openSqliteLedger({ path: ':memory:', clock: systemClock, ids, validate: true, owner: { pid: DEAD_PID } });
}

type Shared = ReturnType<typeof openLedger>;

/** One process's life with one prompt; it dies after so many appends. */
async function live(
  ledger: Shared,
  outside: Outside,
  prompt: { run: RunId; text: string },
  lastAppend: number,
  player: Player = nothing,
) {
  const agents = groupAgents({ mode: 'orchestrator', workers: WORKERS });
  const crashing = crashAt(ledger, lastAppend);
  const world = createWorld({
    clock: fastClock,
    ledger: crashing.ledger,
    outside,
    agents,
    brain: acting(finishing(player), WORKERS),
  });
  const request = { agent: 'lead', input: userText(prompt.text), workspace: '.', run: prompt.run, session: SESSION };
  const started = await world.engine.start(request);
  const end = started.kind === 'started' ? await started.handle.done : undefined;
  await world.close();
  return { end, appends: crashing.appends() };
}

const FIRST = { run: RUN, text: 'First.' };
const SECOND = { run: 'run_0000000000000regressi2' as RunId, text: 'Second.' };

describe('after a crash', () => {
  it('regression 22: what will be done is written before it is begun, and over when it is over', async () => {
    const ledger = openLedger();
    let checked = 0;
    await live(ledger, { modelCalls: [], effects: [] }, FIRST, Number.POSITIVE_INFINITY, async ({ part, agent }) => {
      if (part !== 'work') return undefined;
      const events = await readAll(ledger, SESSION);
      expect(payloads(events, 'group.planned')).toMatchObject([{ accepted: true }]);
      expect(runsOf(events, agent)).toHaveLength(1);
      checked += 1;
      return agent === 'tester' ? breaks() : undefined;
    });
    expect(checked).toBe(2);
    const events = await readAll(ledger, SESSION);
    expect(only(events, 'run.ended')).toHaveLength(only(events, 'run.started').length);
    await ledger.close();
  });

  it('regressions 23, 24: only answers to this very task count, and who never started is started', async () => {
    const uncut = await live(openLedger(), { modelCalls: [], effects: [] }, FIRST, Number.POSITIVE_INFINITY);
    for (let cut = 1; cut <= uncut.appends; cut += 1) {
      const ledger = openLedger();
      const outside = { modelCalls: [], effects: [] };
      await live(ledger, outside, FIRST, Number.POSITIVE_INFINITY);
      await live(ledger, outside, SECOND, cut);
      const shown: string[] = [];
      const { end } = await live(ledger, outside, SECOND, Number.POSITIVE_INFINITY);
      expect(end, `cut at ${cut}`).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
      const events = await readAll(ledger, SESSION);
      for (const { payload } of only(events, 'run.started'))
        if (loopOnlyAs(payload) === 'speaker') shown.push(JSON.stringify(payload.input));
      expect(shown).toHaveLength(2);
      for (const worker of WORKERS) {
        expect(runsOf(events, worker), `cut at ${cut}`).toHaveLength(2);
        expect(shown[1]).toContain(`${worker} has done in round 2`);
        expect(shown[1]).not.toContain(`${worker} has done in round 1`);
      }
      await ledger.close();
    }
  });

  it('regression 25: assignments are understood after a resume, and the orchestrator is nobody’s worker', async () => {
    const player: Player = ({ part }) =>
      part === 'plan'
        ? '@worker:lead Do it yourself.\n@worker:coder Help.'
        : part === 'nudge'
          ? '@worker:tester Test.'
          : undefined;
    const uncut = await live(openLedger(), { modelCalls: [], effects: [] }, FIRST, Number.POSITIVE_INFINITY, player);
    for (let cut = 1; cut <= uncut.appends; cut += 2) {
      const ledger = openLedger();
      const outside = { modelCalls: [], effects: [] };
      await live(ledger, outside, FIRST, cut, player);
      await live(ledger, outside, FIRST, Number.POSITIVE_INFINITY, player);
      const events = await readAll(ledger, SESSION);
      expect(payloads(events, 'group.planned')).toMatchObject([
        { unknown: ['lead'] },
        { accepted: true, assignments: [{ worker: 'coder' }, { worker: 'tester' }] },
      ]);
      const worked = only(events, 'run.started').flatMap(({ payload }) =>
        roleInTree(payload) === 'worker' ? [payload.agent] : [],
      );
      expect(worked).toEqual(['coder', 'tester']);
      await ledger.close();
    }
  });

  it('regression 33: whoever was replaced changes nothing any more', async () => {
    const ledger = openLedger();
    let letGo = (): void => undefined;
    let reached = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const inWork = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const agents = groupAgents({ mode: 'orchestrator', workers: WORKERS });
    const slow: Player = async ({ part, agent }) => {
      if (part !== 'work' || agent !== 'tester') return undefined;
      reached();
      await gate;
      return 'The late answer of somebody who was replaced.';
    };
    const old = createWorld({ clock: fastClock, ledger, agents, brain: acting(finishing(slow), WORKERS) });
    const started = await old.engine.start({ agent: 'lead', input: userText('Go.'), workspace: '.', run: RUN, session: SESSION });
    await inWork;
    const { end } = await live(ledger, { modelCalls: [], effects: [] }, { run: RUN, text: 'Go.' }, Number.POSITIVE_INFINITY);
    expect(end).toMatchObject({ kind: 'ended' });
    letGo();
    expect(started.kind === 'started' ? await started.handle.done : started).toMatchObject({ kind: 'lost' });
    const events = await readAll(ledger, SESSION);
    expect(JSON.stringify(events)).not.toContain('somebody who was replaced');
    expect(only(events, 'run.ended')).toHaveLength(only(events, 'run.started').length);
    await old.close();
    await ledger.close();
  });

  it('regression 46: a ledger that cannot be written stops the run and breaks nothing', async () => {
    const ledger = openLedger();
    const outside = { modelCalls: [], effects: [] };
    const { end } = await live(ledger, outside, FIRST, 6);
    expect(end).toMatchObject({ kind: 'interrupted', reason: expect.stringContaining('the power is gone') });
    expect((await live(ledger, outside, FIRST, Number.POSITIVE_INFINITY)).end).toMatchObject({ kind: 'ended' });
    expect((await ledger.verify()).kind).toBe('sound');
    await ledger.close();
  });

  it('regression 47: what was said is kept with its turn: a restart asks nobody twice', async () => {
    const uncut = await live(openLedger(), { modelCalls: [], effects: [] }, FIRST, Number.POSITIVE_INFINITY);
    for (let cut = 1; cut <= uncut.appends; cut += 1) {
      const ledger = openLedger();
      const outside: Outside = { modelCalls: [], effects: [] };
      await live(ledger, outside, FIRST, cut);
      const kept = only(await readAll(ledger, SESSION), 'model.response').map((event) => `${event.run_id}/${event.step}`);
      const before = outside.modelCalls.length;
      await live(ledger, outside, FIRST, Number.POSITIVE_INFINITY);
      expect(outside.modelCalls.slice(before).filter((key) => kept.includes(key))).toEqual([]);
      const answers = only(await readAll(ledger, SESSION), 'model.response').map((event) => `${event.run_id}/${event.step}`);
      expect(new Set(answers).size).toBe(answers.length);
      await ledger.close();
    }
  });
});
