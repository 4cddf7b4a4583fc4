/** A stuck or failed worker never blocks: what is there is put together, what is missing is named. */
import { describe, expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import {
  breaks,
  fastClock,
  type Group,
  type GroupRunOptions,
  hangs,
  type Player,
  payloads,
  runGroup,
  runsOf,
} from '../../../test/support/patterns/group-on-engine.ts';
import { agent, says, type World } from '../../../test/support/world.ts';
import type { ModelOutcome } from '../../models/port.ts';

const kept = closedAfterwards();

async function play(group: Partial<Group>, player: Player, more: Partial<GroupRunOptions> = {}) {
  const told = await runGroup({
    group: { mode: 'orchestrator', workers: ['coder', 'tester'], ...group },
    player: (asked) => player(asked) ?? (asked.part === 'synthesis' ? 'Together.\n[[GROUP_REFLECT_COMPLETE]]' : undefined),
    ...more,
  });
  kept(told.world);
  return told;
}

/** It does not even hear that it should stop. */
const deaf = (): Promise<ModelOutcome> => new Promise(() => undefined);

describe.each(['orchestrator', 'reflect'] as const)('%s', (mode) => {
  it('one stuck worker: partial results after its time', async () => {
    const { result, asked, events } = await play({ mode, workerTimeout: 20_000 }, (one) =>
      one.part === 'work' && one.agent === 'tester' ? hangs(one) : undefined,
    );
    const shown = asked.find((one) => one.part === 'synthesis')?.text;
    expect(shown).toContain('### coder: done');
    expect(shown).toContain('coder has done in round 1');
    expect(shown).toMatch(/### tester: failed[\s\S]*It was not done within 20s \(workerTimeout\)\./);
    expect(shown).toContain('No result came from: tester.');
    expect(result).toMatchObject({
      status: 'completed',
      report: { body: expect.stringContaining('Nothing came from: tester.') },
    });
    const [tester] = runsOf(events, 'tester');
    const ended = events.find((event) => event.event_type === 'run.ended' && event.run_id === tester);
    expect(ended?.payload).toMatchObject({ status: 'failed', error: { code: 'timed_out' } });
  });

  it('one failed worker: the error is shown', async () => {
    const { asked, result } = await play({ mode }, ({ part, agent: name }) =>
      part === 'work' && name === 'coder' ? breaks('no key for it') : undefined,
    );
    expect(asked.find((one) => one.part === 'synthesis')?.text).toMatch(/### coder: failed[\s\S]*no key for it/);
    expect(result.report.body).toContain('Nothing came from: coder.');
  });

  it('all failed: it is still put together, with the errors', async () => {
    const { asked, result } = await play({ mode }, ({ part, agent: name }) =>
      part === 'work' ? breaks(`${name} is broken`) : undefined,
    );
    const shown = asked.find((one) => one.part === 'synthesis')?.text;
    expect(shown).toContain('coder is broken');
    expect(shown).toContain('tester is broken');
    expect(shown).toContain('No result came from: coder, tester.');
    expect(result.report.body).toContain('Nothing came from: coder, tester.');
  });

  it('an agent that does not exist is found before anything begins', async () => {
    await expect(play({ mode }, () => undefined, { others: ['coder', 'judge'] })).rejects.toThrow(
      'there is no agent named tester',
    );
  });

  it('what nobody can put together is given as it is', async () => {
    const long = `begin ${'x'.repeat(100_000)} end`;
    const { result } = await play({ mode }, ({ part, agent: name }) => {
      if (part === 'synthesis') return breaks('it does not fit');
      return part === 'work' && name === 'coder' ? long : undefined;
    });
    expect(result.status).toBe('failed');
    expect(result.report.body).toContain(long);
    expect(result.report.body).toContain('tester has done in round 1');
    expect(result.report.body).toContain('it does not fit');
  });

  it('a name nobody has is asked for again, and named at the end', async () => {
    const { result, asked } = await play({ mode }, ({ part }) =>
      part === 'plan' || part === 'nudge' ? '@worker:coder Write it.\n@worker:stranger Help.' : undefined,
    );
    expect(asked.filter((one) => one.part === 'nudge')).toHaveLength(3);
    expect(asked.find((one) => one.part === 'synthesis')?.text).toContain('No result came from: stranger.');
    expect(result.report.body).toContain('Nothing came from: stranger.');
  });
});

describe('single pass', () => {
  it('says so when the orchestrator’s own words are the answer, and takes the fullest of them', async () => {
    const { result, events } = await play({}, ({ part }) =>
      part === 'plan' ? 'A long answer of my own.' : part === 'nudge' ? 'I did.' : undefined,
    );
    expect(result).toMatchObject({ status: 'completed', report: { body: 'A long answer of my own.' } });
    const plans = payloads(events, 'group.planned');
    expect(plans).toHaveLength(4);
    expect(plans.map((one) => one.direct === true)).toEqual([false, false, false, true]);
  });

  it('does not take tasks for strangers as an answer', async () => {
    const { result } = await play({}, ({ part }) => (part === 'plan' || part === 'nudge' ? '@worker:stranger Go.' : undefined));
    expect(result).toMatchObject({ status: 'failed', error: { code: 'no_assignments' } });
  });

  it('cannot count an answer that rests on nothing as checked', async () => {
    const { result } = await play({}, ({ part }) => (part === 'work' ? breaks() : undefined));
    expect(result).toMatchObject({ status: 'completed_unverified', error: { code: 'all_workers_failed' } });
  });

  it('gives the results as they are when nobody can put them together', async () => {
    const { result } = await play({}, ({ part }) => (part === 'synthesis' ? breaks('gone') : undefined));
    expect(result.status).toBe('failed');
    expect(result.report.body).toMatch(
      /could not be put together[\s\S]*### coder\n\ncoder has done[\s\S]*### tester\n\ntester has done/,
    );
  });

  it('goes on although a model does not even hear that it should stop', async () => {
    const { result } = await play({ workerTimeout: 20_000 }, ({ part, agent: name }) =>
      part === 'work' && name === 'tester' ? deaf() : undefined,
    );
    expect(result.report.body).toContain('Nothing came from: tester.');
  });
});

describe.each(['broadcast', 'sequential'] as const)('%s', (mode) => {
  const answers: Player = ({ agent: name }) => (name === 'coder' ? breaks('no key') : says(`${name} is fine.`));

  it('keeps what there is', async () => {
    const { result } = await play({ mode }, answers);
    expect(result.status).toBe('completed');
    expect(result.report.body).toMatch(
      mode === 'broadcast'
        ? /### coder \(failed\)[\s\S]*no key[\s\S]*tester is fine/
        : /^tester is fine\.\n\nNothing came from: coder\.$/,
    );
  });

  it('is cancelled when it is cancelled, with what there was', async () => {
    const { acting, groupAgents } = await import('../../../test/support/patterns/group-on-engine.ts');
    const { createWorld } = await import('../../../test/support/world.ts');
    const { userText } = await import('../../events/messages.ts');
    const world = createWorld({
      clock: fastClock,
      agents: groupAgents({ mode, workers: ['coder', 'tester'] }),
      brain: acting(async (one) => {
        if (one.agent === 'coder') return 'coder was quick.';
        await world.engine.cancel(RUN, 'enough');
        return await hangs(one);
      }),
    });
    kept(world);
    const started = await world.engine.start({ agent: 'lead', input: userText('Go.'), workspace: '.', run: RUN });
    const end = started.kind === 'started' ? await started.handle.done : started;
    expect(end).toMatchObject({
      kind: 'ended',
      result: { status: 'cancelled', report: { body: expect.stringContaining('coder was quick.') } },
    });
  });
});

const RUN = 'run_000000000000000partial' as Parameters<World['engine']['cancel']>[0];

describe('what workers are told', () => {
  it('the orchestrator sees names, models and expertise; the worker charter, context, request and task', async () => {
    const agents = [
      agent({
        name: 'lead',
        tools: [],
        group: {
          mode: 'orchestrator',
          workers: [{ agent: 'coder', name: 'Ann', charter: 'You write. You do it well.', model: 'test/other' }, 'tester'],
          sharedContext: { text: 'We use tabs.' },
          routingContext: { text: 'Tests go to tester.' },
        },
      }),
      agent({ name: 'coder', tools: [] }),
      agent({ name: 'tester', tools: [], description: 'Finds bugs. Also in tests.', models: ['test/tiny'] }),
    ];
    const { asked } = await play({ workers: ['Ann', 'tester'] }, () => undefined, { agents });
    const plan = asked.find((one) => one.part === 'plan')?.text ?? '';
    expect(plan).toContain('- Ann (model test/other): You write.\n- tester (model test/tiny): Finds bugs.');
    expect(plan).toContain('Use as few workers as the request needs');
    expect(plan).toContain('Tests go to tester.');
    const task = asked.find((one) => one.agent === 'coder')?.text ?? '';
    expect(task).toMatch(
      /^You write\. You do it well\.[\s\S]*We use tabs\.[\s\S]*## Original User Request[\s\S]*Build it\.[\s\S]*## Your Assigned Task\n\nDo part 1 of Ann\.$/,
    );
  });

  it('a group in a group has members of its own, also when they are called the same', async () => {
    const agents = [
      agent({ name: 'lead', tools: [], group: { mode: 'sequential', workers: ['coder', 'inner', 'last'] } }),
      agent({ name: 'inner', tools: [], group: { mode: 'broadcast', workers: ['coder'] } }),
      agent({ name: 'coder', tools: [] }),
      agent({ name: 'last', tools: [] }),
    ];
    const { asked } = await play({ mode: 'sequential' }, () => says('yes'), { agents });
    const coders = asked.filter((one) => one.agent === 'coder');
    expect(coders.map((one) => one.request.messages.length)).toEqual([1, 1]);
  });
});
