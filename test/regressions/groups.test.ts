/**
 * The forty-seven ways in which groups are known to break elsewhere. Each has a test with its number in its name, here or
 * where the thing lives, or a reason why it cannot happen; the list below is checked to be complete.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { userText } from '../../src/events/messages.ts';
import { memberOfGroup, roleInTree } from '../../src/events/run-origin.ts';
import type { ModelOutcome } from '../../src/models/port.ts';
import { parseAssignments } from '../../src/patterns/group/assignments.ts';
import { nudge } from '../../src/patterns/group/prompts.ts';
import { saysReflectionComplete } from '../../src/patterns/group/sentinels.ts';
import { checkStall, noStall } from '../../src/patterns/group/stall.ts';
import { closedAfterwards } from '../support/kept-worlds.ts';
import {
  acting,
  breaks,
  fastClock,
  type GroupRun,
  groupAgents,
  hangs,
  only,
  type Player,
  payloads,
  runGroup,
  runsOf,
  sendTo,
} from '../support/patterns/group-on-engine.ts';
import { createWorld, says, type World } from '../support/world.ts';

const ORGANISATION = ['test/e2e/groups.test.ts', 'src/projections/groups.test.ts', 'test/e2e/groups-members.test.ts'];
const HERE = ['test/regressions/groups.test.ts', 'test/regressions/groups-crash.test.ts'];

/** Where each number is proved, or why it cannot happen. */
const PROOFS: Readonly<Record<number, readonly string[] | { readonly cannot: string }>> = {
  1: HERE,
  2: HERE,
  3: ORGANISATION,
  4: ORGANISATION,
  5: ORGANISATION,
  6: ORGANISATION,
  7: ORGANISATION,
  8: ORGANISATION,
  9: ORGANISATION,
  10: ['src/agents/presets/file.test.ts'],
  11: HERE,
  12: HERE,
  13: HERE,
  14: HERE,
  15: HERE,
  16: HERE,
  17: HERE,
  18: HERE,
  19: HERE,
  20: HERE,
  21: HERE,
  22: HERE,
  23: HERE,
  24: HERE,
  25: HERE,
  26: ORGANISATION,
  27: ORGANISATION,
  28: ORGANISATION,
  29: ORGANISATION,
  30: HERE,
  31: HERE,
  32: HERE,
  33: HERE,
  34: HERE,
  35: HERE,
  36: {
    cannot:
      'There is no handle to a model process that could grow stale: each call is a request of its own, and a broken connection ' +
      'is one of the failures that are tried again (35).',
  },
  37: HERE,
  38: HERE,
  39: HERE,
  40: HERE,
  41: HERE,
  42: HERE,
  43: ORGANISATION,
  44: {
    cannot:
      'Nothing looks for orphans: an answer belongs to the run that asked for it, and that run is either under way or over. What ' +
      'a killed process left is taken up from the ledger (22, 23, 24).',
  },
  45: ORGANISATION,
  46: HERE,
  47: HERE,
};

const ROOT = join(import.meta.dirname, '../..');

function testsFor(number: number, files: readonly string[]): string[] {
  const named = new RegExp(String.raw`regressions? (?:\d+, )*(?:\d+ and )?${number}\b`);
  return files.filter((file) => {
    try {
      return named.test(readFileSync(join(ROOT, file), 'utf8'));
    } catch {
      return false;
    }
  });
}

describe('the list of regressions', () => {
  it('has all forty-seven regressions of groups', () => {
    expect(Object.keys(PROOFS).map(Number)).toEqual(Array.from({ length: 47 }, (_, index) => index + 1));
  });

  it.each(Object.entries(PROOFS).map(([number, proof]) => [Number(number), proof] as const))(
    '%i is proved, or cannot happen',
    (number, proof) => {
      if ('cannot' in proof) expect(proof.cannot.length).toBeGreaterThan(40);
      else expect(testsFor(number, proof), `a test named "regression ${number}" in one of ${proof.join(', ')}`).not.toEqual([]);
    },
  );
});

const kept = closedAfterwards();

const WORKERS = ['coder', 'tester'];
const DONE = 'Together.\n[[GROUP_REFLECT_COMPLETE]]';
const RUN = 'run_000000000000regression' as RunId;
const SESSION = 'ses_000000000000regression' as SessionId;

const finishing =
  (player: Player): Player =>
  async (asked) =>
    (await player(asked)) ?? (asked.part === 'synthesis' ? DONE : undefined);

async function play(mode: 'orchestrator' | 'reflect', player: Player, more: object = {}): Promise<GroupRun> {
  const told = await runGroup({ group: { mode, workers: WORKERS, workerTimeout: 20_000, ...more }, player: finishing(player) });
  kept(told.world);
  return told;
}

const nothing: Player = () => undefined;
const at = (events: readonly LedgerEvent[], type: LedgerEvent['event_type']): number =>
  events.findIndex((event) => event.event_type === type);

describe('ends and beginnings', () => {
  it('regression 1: when a run says that it is over, the next can begin at once, also after an error', async () => {
    for (const player of [nothing, (({ part }) => (part === 'plan' ? breaks() : undefined)) satisfies Player]) {
      const told = await play('orchestrator', player);
      const next = await sendTo(told.world, 'Again.', told.session);
      expect(next.session).toBe(told.session);
    }
  });

  it.each([
    ['completed', nothing],
    ['failed', (({ part }) => (part === 'plan' ? breaks() : undefined)) satisfies Player],
  ] as const)('regression 2: every run ends in one place, once, and leaves nothing behind (%s)', async (status, player) => {
    const { events, result, world, session } = await play('orchestrator', player);
    expect(result.status).toBe(status);
    const starts = only(events, 'run.started').map((event) => event.run_id);
    expect(
      only(events, 'run.ended')
        .map((event) => event.run_id)
        .toSorted(),
    ).toEqual(starts.toSorted());
    expect(await world.engine.waits(starts[0] as RunId)).toEqual([]);
    expect((await sendTo(world, 'Again.', session)).session).toBe(session);
  });

  it('regression 41: the loop says that it has ended before its run ends, however it ends', async () => {
    const players: Player[] = [
      nothing,
      ({ part }) => (part === 'plan' ? breaks() : undefined),
      ({ part }) => (part === 'plan' || part === 'nudge' ? 'No.' : undefined),
    ];
    for (const player of players) {
      const { events } = await play('reflect', player);
      const root = only(events, 'run.started')[0]?.run_id;
      const ended = events.findIndex((event) => event.event_type === 'run.ended' && event.run_id === root);
      expect(at(events, 'group.ended')).toBeGreaterThan(-1);
      expect(at(events, 'group.ended')).toBeLessThan(ended);
    }
  });
});

describe('assignments', () => {
  const tasks = (text: string, workers: readonly string[]): Record<string, string> =>
    Object.fromEntries(parseAssignments(text, workers).assignments.map(({ worker, task }) => [worker, task]));

  it('regression 11: names with spaces', () => {
    expect(tasks('@worker:Code Reviewer Look at it.', ['Code Reviewer'])).toEqual({ 'Code Reviewer': 'Look at it.' });
  });

  it('regression 12: worker-1 never gets the task of worker-10', () => {
    expect(tasks('@worker:worker-10\nTen.', ['worker-1', 'worker-10'])).toEqual({ 'worker-10': 'Ten.' });
    expect(tasks('@worker:worker-10\nTen.', ['worker-1'])).toEqual({});
    expect(tasks('@worker:worker-1\nOne.', ['worker-10'])).toEqual({});
  });

  it('regression 13: the form shown in the nudge is itself understood', () => {
    const shown = nudge({ unknown: [], empty: [], taken: [] }, [{ name: 'Code Reviewer', agent: 'x' }]);
    expect(Object.keys(tasks(shown, ['Code Reviewer']))).toEqual(['Code Reviewer']);
  });

  it('regression 14: two blocks for one worker are merged', () => {
    expect(tasks('@worker:coder A\n@end\n@worker:coder B\n@end', WORKERS)).toEqual({ coder: 'A\n\n---\n\nB' });
  });

  it('regression 15: a missing @end is fine, and the last block runs to the end', () => {
    expect(tasks('@worker:coder\nA\n@worker:tester\nB\n\nC', WORKERS)).toEqual({ coder: 'A', tester: 'B\n\nC' });
  });

  it('regression 16: malformed JSON falls through to text', () => {
    expect(tasks('[{"worker": "coder", "task": "A"\n@worker:tester B', WORKERS)).toEqual({ tester: 'B' });
  });

  it('regression 42: a request for one worker uses one worker', async () => {
    const { asked, events } = await play('orchestrator', ({ part }) =>
      part === 'plan' ? '@worker:coder All of it.' : undefined,
    );
    expect(asked[0]?.text).toContain('Use as few workers as the request needs');
    expect(only(events, 'run.started').filter(({ payload }) => roleInTree(payload) === 'worker')).toHaveLength(1);
  });
});

describe('words that end a loop', () => {
  it('regression 17: not in a worker’s answer', async () => {
    const { events } = await playReflect(({ part }) => (part === 'work' ? 'Fine.\n[[GROUP_REFLECT_COMPLETE]]' : undefined), {
      maxIterations: 2,
    });
    expect(payloads(events, 'group.ended')).toMatchObject([{ reason: 'max_iterations' }]);
  });

  it('regression 18: an agent’s own only on a line of its own', () => {
    expect(saysReflectionComplete('This will surpass it: [[REFLECTION_COMPLETE]] soon.')).toBe(false);
    expect(saysReflectionComplete('Good.\n  [[reflection_complete]]  \n')).toBe(true);
  });
});

/** A loop that does not finish by itself. */
async function playReflect(player: Player, more: object = {}): Promise<GroupRun> {
  const told = await runGroup({ group: { mode: 'reflect', workers: WORKERS, ...more }, player });
  kept(told.world);
  return told;
}

describe('workers in trouble', () => {
  it('regression 19: who failed or said nothing has been attempted, and the end is accepted', async () => {
    const { events } = await play('reflect', ({ part, agent }) =>
      part === 'work' ? (agent === 'coder' ? breaks() : says('')) : undefined,
    );
    expect(payloads(events, 'group.ended')).toMatchObject([{ reason: 'goal_met', iterations: 1 }]);
    expect(runsOf(events, 'coder')).toHaveLength(1);
  });

  it.each(['orchestrator', 'reflect'] as const)(
    'regression 20: all failed, and it is still put together with the errors (%s)',
    async (mode) => {
      const { asked } = await play(mode, ({ part, agent }) => (part === 'work' ? breaks(`${agent} broke`) : undefined));
      expect(asked.find((one) => one.part === 'synthesis')?.text).toMatch(/coder broke[\s\S]*tester broke/);
    },
  );

  it.each(['orchestrator', 'reflect'] as const)(
    'regression 21: one is stuck, and the others’ results count (%s)',
    async (mode) => {
      const { asked, result } = await play(mode, (one) =>
        one.part === 'work' && one.agent === 'tester' ? hangs(one) : undefined,
      );
      expect(asked.find((one) => one.part === 'synthesis')?.text).toContain('coder has done');
      expect(result.report.body).toContain('Nothing came from: tester.');
    },
  );

  it('regression 30: nothing is cut short: a long answer stays whole, and the fullest answer of one’s own counts', async () => {
    const long = `begin ${'x'.repeat(100_000)} end`;
    const told = await play('orchestrator', ({ part, agent }) => (part === 'work' && agent === 'coder' ? long : undefined));
    expect(told.asked.find((one) => one.part === 'synthesis')?.text).toContain(long);
    const direct = await play('orchestrator', ({ part }) =>
      part === 'plan' ? 'The whole answer.' : part === 'nudge' ? 'See above.' : undefined,
    );
    expect(direct.result.report.body).toBe('The whole answer.');
  });

  it('regression 31: nobody waits for a timer before an answer counts', async () => {
    const told = await runGroup({
      group: { mode: 'orchestrator', workers: WORKERS },
      player: finishing(nothing),
      clock: { ...systemClock, after: () => () => undefined },
    });
    kept(told.world);
    expect(told.result.status).toBe('completed');
  });

  it('regression 32: answers that come at once are not lost', async () => {
    const names = Array.from({ length: 16 }, (_, index) => `w-${index}`);
    const workers = names.map((name) => ({ agent: 'coder', name }));
    const told = await runGroup({
      group: { mode: 'orchestrator', workers },
      player: finishing(({ part }) => (part === 'work' ? 'At once.' : undefined)),
    });
    kept(told.world);
    expect(told.asked.find((one) => one.part === 'synthesis')?.text.split('At once.')).toHaveLength(17);
  });

  it('regression 34: who failed can be asked again', async () => {
    const { events } = await playReflect(
      ({ part, agent, round }) => (part === 'work' && agent === 'coder' && round === 1 ? breaks() : undefined),
      { maxIterations: 2 },
    );
    const [first, second] = runsOf(events, 'coder');
    const status = (run: RunId | undefined) => only(events, 'run.ended').find((event) => event.run_id === run)?.payload.status;
    expect([status(first), status(second)]).toEqual(['failed', 'completed']);
  });

  it('regression 35: passing trouble is tried again within the task', async () => {
    let calls = 0;
    const { events } = await play('orchestrator', ({ part, agent }): ModelOutcome | undefined =>
      part === 'work' && agent === 'coder' && ++calls === 1
        ? { kind: 'failed', error: { kind: 'network', message: 'not ready' } }
        : undefined,
    );
    expect(calls).toBe(2);
    expect(runsOf(events, 'coder')).toHaveLength(1);
  });

  it('regression 37: trying again makes no new members', async () => {
    let failures = 0;
    const { events } = await playReflect(
      ({ part, agent }) =>
        part === 'synthesis' && ++failures <= 2 ? breaks() : part === 'work' && agent === 'coder' ? breaks() : undefined,
      { maxIterations: 2 },
    );
    const members = only(events, 'run.started').flatMap(({ payload }) => memberOfGroup(payload) ?? []);
    expect([...new Set(members)].toSorted()).toEqual(['coder', 'lead', 'tester']);
  });
});

describe('the loop', () => {
  it('regression 38: an error repeats the iteration, three in a row end it, and a success forgets them', async () => {
    let failures = 0;
    const forgiven = await playReflect(({ part }) => (part === 'synthesis' && ++failures % 3 !== 0 ? breaks() : undefined), {
      maxIterations: 3,
    });
    expect(payloads(forgiven.events, 'group.ended')).toMatchObject([{ reason: 'max_iterations', iterations: 3 }]);
    const broken = await playReflect(({ part, round }) => (part === 'synthesis' && round === 2 ? breaks() : undefined));
    expect(payloads(broken.events, 'group.ended')).toMatchObject([{ reason: 'error_budget', iterations: 2, outcome: 'missed' }]);
  });

  it('regression 39: every end but a met goal is marked, and a loop under way is not started over', async () => {
    const limited = await playReflect(nothing, { maxIterations: 1 });
    expect(payloads(limited.events, 'group.ended')).toMatchObject([{ outcome: 'missed' }]);
    let second: unknown;
    let worldOf: World | undefined;
    const busy = await held(
      async () => {
        second = await worldOf?.engine.start({ agent: 'lead', input: userText('Me too.'), workspace: '.', session: SESSION });
      },
      (world) => {
        worldOf = world;
      },
    );
    expect(second).toMatchObject({ kind: 'refused', error: { code: 'session_busy' } });
    expect(payloads(busy, 'group.ended')).toHaveLength(1);
  });

  it('regression 40: two in a row are a stall; other words, and a new count, begin anew', () => {
    const once = checkStall(checkStall(noStall, 'a', false).state, 'a', false);
    expect(once.verdict).toBe('warn');
    expect(checkStall(once.state, 'a', false).verdict).toBe('stalled');
    expect(checkStall(once.state, 'other words', false).state.consecutive).toBe(0);
    expect(checkStall(noStall, 'a', false).verdict).toBe('moving');
  });
});

/** Runs a loop and does something in the middle of its first task. */
async function held(meanwhile: () => Promise<void>, made: (world: World) => void): Promise<readonly LedgerEvent[]> {
  let done = false;
  const player: Player = async ({ part }) => {
    if (part === 'work' && !done) {
      done = true;
      await meanwhile();
    }
    return part === 'synthesis' ? DONE : undefined;
  };
  const world = createWorld({
    clock: fastClock,
    agents: groupAgents({ mode: 'reflect', workers: WORKERS }),
    brain: acting(player, WORKERS),
  });
  kept(world);
  made(world);
  const started = await world.engine.start({ agent: 'lead', input: userText('Go.'), workspace: '.', run: RUN, session: SESSION });
  if (started.kind === 'started') await started.handle.done;
  return await readAll(world.ledger, SESSION);
}
