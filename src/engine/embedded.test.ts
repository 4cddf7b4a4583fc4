import { afterEach, describe, expect, it } from 'vitest';
import { agent, calls, createWorld, reports, says, turnOf, type World, type WorldOptions } from '../../test/support/world.ts';
import type { Answer, EventType } from '../events/catalogue.ts';
import { userText } from '../events/messages.ts';
import { createTranscripts } from '../projections/transcript.ts';
import { type Tool, textResult } from '../tools/port.ts';
import type { RunHandle, StartRequest } from './port.ts';
import { readAll } from './read-all.ts';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

function createdWorld(options: WorldOptions): World {
  const world = createWorld(options);
  worlds.push(world);
  return world;
}

async function start(world: World, more: Partial<StartRequest> = {}): Promise<RunHandle> {
  const started = await world.engine.start({ agent: 'worker', input: userText('Do it.'), workspace: '.', ...more });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  return started.handle;
}

async function resume(world: World, handle: RunHandle): Promise<RunHandle> {
  const resumed = await world.engine.resume(handle.run);
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  return resumed.handle;
}

async function resultOf(handle: RunHandle) {
  const end = await handle.done;
  if (end.kind !== 'ended') throw new Error(`did not end: ${JSON.stringify(end)}`);
  return end.result;
}

async function typesIn(world: World, handle: RunHandle): Promise<EventType[]> {
  return (await readAll(world.ledger, handle.session)).map((event) => event.event_type);
}

async function transcript(world: World, handle: RunHandle) {
  const transcripts = createTranscripts();
  for (const event of await readAll(world.ledger, handle.session)) transcripts.apply(event);
  return transcripts.of(handle.run);
}

/** Ends the wait that a run stopped at, and goes on. */
async function answerAndResume(world: World, handle: RunHandle, answer: Answer): Promise<RunHandle> {
  const end = await handle.done;
  if (end.kind !== 'waiting') throw new Error(`does not wait: ${JSON.stringify(end)}`);
  for (const wait of end.waits) await world.engine.answer(wait.run, wait.wait, answer);
  return await resume(world, handle);
}

describe('a run', () => {
  it('ends with a plain answer', async () => {
    const world = createdWorld({ brain: () => says('Hello.') });
    expect(await resultOf(await start(world))).toMatchObject({
      status: 'completed',
      report: { body: 'Hello.' },
      finalAgent: 'worker',
    });
  });

  it('runs tools side by side, answers in call order and reports', async () => {
    const world = createdWorld({
      brain: (asked) => (turnOf(asked) === 1 ? calls({ name: 'look' }, { name: 'act' }, { name: 'look' }) : reports('Done.')),
    });
    const handle = await start(world);
    expect(await resultOf(handle)).toMatchObject({ status: 'completed', report: { body: 'Done.' } });
    const types = await typesIn(world, handle);
    expect(types.slice(0, 5)).toEqual(['session.started', 'run.started', 'session.config', 'model.request', 'model.response']);
    expect(types.filter((type) => type === 'tool.result')).toHaveLength(3);
    expect(types.at(-1)).toBe('run.ended');
    const [, , results] = await transcript(world, handle);
    expect(results?.content.map((part) => ('id' in part ? part.id : ''))).toEqual(['c0-look', 'c1-act', 'c2-look']);
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
  });

  it('goes on with the conversation in the same session, without storing it again', async () => {
    const seen: number[] = [];
    const world = createdWorld({
      brain: (asked) => {
        seen.push(asked.messages.length);
        return says(`Answer ${seen.length}.`);
      },
    });
    const first = await start(world);
    await resultOf(first);
    const second = await start(world, { session: first.session, input: userText('And then?') });
    await resultOf(second);
    expect(seen).toEqual([1, 3]);
    expect((await transcript(world, second)).map((message) => message.role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    const requests = (await readAll(world.ledger, first.session)).filter((event) => event.event_type === 'model.request');
    expect(requests.at(-1)?.payload).toMatchObject({ added: [{ step: 'input' }] });
  });

  it('refuses a second run in a busy session by name', async () => {
    const world = createdWorld({
      brain: () => calls({ name: 'ask', input: { question: 'Which?' } }),
      tools: [question],
      agents: [agent({ tools: ['ask'] })],
    });
    const first = await start(world);
    await first.done;
    const second = await world.engine.start({ agent: 'worker', input: userText('Hi'), workspace: '.', session: first.session });
    expect(second).toMatchObject({
      kind: 'refused',
      error: { code: 'session_busy', message: expect.stringContaining(first.run) },
    });
  });

  it('starts once however often it is asked with the same id', async () => {
    const world = createdWorld({ brain: () => says('Once.') });
    const first = await start(world);
    await resultOf(first);
    const again = await start(world, { run: first.run });
    expect(await resultOf(again)).toMatchObject({ report: { body: 'Once.' } });
    expect(world.outside.modelCalls).toHaveLength(1);
  });

  it('says plainly what it cannot run yet', async () => {
    const world = createdWorld({ brain: () => says(''), agents: [agent({ dispatch: { agents: ['other'] } })] });
    const refused = await world.engine.start({ agent: 'worker', input: userText('Hi'), workspace: '.' });
    expect(refused).toMatchObject({ kind: 'refused', error: { code: 'not_yet', message: expect.stringContaining('dispatch') } });
  });
});

const question: Tool = {
  name: 'ask',
  description: 'asks',
  inputSchema: { type: 'object' },
  replay: 'safe',
  kind: 'question',
  run: async () => textResult('never called'),
};

describe('waiting', () => {
  const asks = (asked: Parameters<WorldOptions['brain']>[0]) =>
    turnOf(asked) === 1 ? calls({ name: 'act' }, { name: 'look' }) : reports('Done.');
  const careful = [agent({ permissions: { act: 'ask' } })];

  it('stops for a permission, lets the rest finish, and goes on with the answer', async () => {
    const world = createdWorld({ brain: asks, agents: careful });
    const handle = await start(world);
    expect(await handle.done).toMatchObject({
      kind: 'waiting',
      waits: [{ kind: 'permission', wait: 'turn/1/tool/0/approval', agent: 'worker' }],
    });
    expect(world.outside.effects).toEqual(['look 1']);
    const resumed = await answerAndResume(world, handle, { kind: 'approved' });
    expect(await resultOf(resumed)).toMatchObject({ status: 'completed' });
    expect(world.outside).toMatchObject({ effects: ['look 1', 'act 0'], modelCalls: { length: 2 } });
  });

  it('tells the model when the answer is no', async () => {
    const world = createdWorld({ brain: asks, agents: careful });
    const handle = await start(world);
    const resumed = await answerAndResume(world, handle, { kind: 'denied', note: 'not today' });
    await resultOf(resumed);
    expect(world.outside.effects).toEqual(['look 1']);
    expect(JSON.stringify(await transcript(world, handle))).toContain('not today');
  });

  it('remembers an approval for the rest of the session', async () => {
    const world = createdWorld({
      brain: (asked) => (turnOf(asked) < 3 ? calls({ name: 'act' }) : reports('Done.')),
      agents: careful,
    });
    const handle = await start(world);
    expect(await resultOf(await answerAndResume(world, handle, { kind: 'approved', remember: true }))).toMatchObject({
      status: 'completed',
    });
    expect(world.outside.effects).toEqual(['act 0', 'act 0']);
  });

  it('asks the user and takes the answer as the result', async () => {
    const world = createdWorld({
      brain: (asked) => (turnOf(asked) === 1 ? calls({ name: 'ask', input: { question: 'Which one?' } }) : reports('Done.')),
      tools: [question],
      agents: [agent({ tools: ['ask'] })],
    });
    const handle = await start(world);
    await resultOf(await answerAndResume(world, handle, { kind: 'text', text: 'the blue one' }));
    expect(JSON.stringify(await transcript(world, handle))).toContain('the blue one');
  });

  it('can be cancelled while it waits', async () => {
    const world = createdWorld({ brain: asks, agents: careful });
    const handle = await start(world);
    await handle.done;
    expect(await world.engine.cancel(handle.run, 'changed my mind')).toMatchObject({ kind: 'accepted' });
    expect(await world.engine.resume(handle.run)).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
    expect(world.outside.effects).toEqual(['look 1']);
  });
});

describe('signals', () => {
  it('cancels a run in the middle of a model call', async () => {
    const world = createdWorld({
      brain: (asked) =>
        new Promise((resolve) => {
          asked.signal.addEventListener('abort', () =>
            resolve({ kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } }),
          );
        }),
    });
    const handle = await start(world);
    await expect.poll(() => world.outside.modelCalls.length).toBe(1);
    await world.engine.cancel(handle.run, 'enough');
    expect(await resultOf(handle)).toMatchObject({ status: 'cancelled', report: { synthetic: true } });
  });

  it('pauses after what is under way and resumes', async () => {
    const world: World = createdWorld({
      brain: async (asked) => {
        if (turnOf(asked) === 1) {
          await world.engine.pause(paused.run, 'lunch');
          return calls({ name: 'look' });
        }
        return reports('Done.');
      },
    });
    let paused: RunHandle = { run: '' } as RunHandle;
    const started = world.engine.start({
      agent: 'worker',
      input: userText('Do it.'),
      workspace: '.',
      run: 'run_paused0000000000' as RunHandle['run'],
    });
    paused = { run: 'run_paused0000000000' } as RunHandle;
    const outcome = await started;
    if (outcome.kind !== 'started') throw new Error(JSON.stringify(outcome));
    expect(await outcome.handle.done).toEqual({ kind: 'paused', reason: 'lunch' });
    expect(await world.ledger.runs({ run: paused.run })).toMatchObject([{ state: 'paused', owner: null }]);
    expect(await resultOf(await resume(world, outcome.handle))).toMatchObject({ status: 'completed' });
    expect(world.outside.modelCalls).toHaveLength(2);
  });

  it('leaves runs resumable when it is closed', async () => {
    const world = createdWorld({
      brain: (asked) =>
        new Promise((resolve) => {
          asked.signal.addEventListener('abort', () =>
            resolve({ kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } }),
          );
          if (world.outside.modelCalls.length > 1) resolve(says('Back again.'));
        }),
    });
    const handle = await start(world);
    await expect.poll(() => world.outside.modelCalls.length).toBe(1);
    await world.engine.close();
    expect(await handle.done).toMatchObject({ kind: 'interrupted' });
    expect(await resultOf(await resume(world, handle))).toMatchObject({ status: 'completed', report: { body: 'Back again.' } });
  });
});

describe('done is checked', () => {
  it('a claim without evidence ends unverified', async () => {
    const world = createdWorld({ brain: () => reports('I wrote it.', { claims: [{ kind: 'file', path: 'made-up.txt' }] }) });
    expect(await resultOf(await start(world))).toMatchObject({ status: 'completed_unverified' });
  });

  it('a reported failure is a failure', async () => {
    const world = createdWorld({ brain: () => reports('No way.', { status: 'failure' }) });
    expect(await resultOf(await start(world))).toMatchObject({
      status: 'failed',
      error: { code: 'reported_failure' },
      report: { body: 'No way.' },
    });
  });
});
