import { describe, expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import type { Brain } from '../../../test/support/world.ts';
import { agent, calls, createWorld, says, turnOf } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { systemClock } from '../../base/clock.ts';
import { createIds, type RunId } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import type { AssistantLimits } from '../../engine/options.ts';
import type { Caller } from '../port.ts';
import { createAssistants } from './assistants.ts';

const kept = closedAfterwards();

const FOR_THE_OWNER = /^For whoever runs the server: [A-Z]/;
const SECRET = 'hunter2-hunter2';

function setUp(brain: Brain, limits: Partial<AssistantLimits> = {}, talker = agent({ name: 'talker', tools: [] })) {
  const world = kept(createWorld({ agents: [talker], brain, engineOptions: { assistants: limits } }));
  const assistants = createAssistants({
    ...{ engine: world.engine, ledger: world.ledger, clock: systemClock, ids: createIds(systemClock, systemRandom) },
    ...{ workspace: '.', limits },
    redact: (text) => text.replaceAll(SECRET, '[redacted]'),
    registry: async () => {
      throw new Error('nobody looks for agents here');
    },
  });
  return { world, assistants };
}

const alice: Caller = { kind: 'client', name: 'alice' };
const bob: Caller = { kind: 'client', name: 'bob' };
const call = (idempotencyKey?: string) => ({ signal: new AbortController().signal, idempotencyKey });
const task = (run_mode: 'async' | 'sync' = 'sync') => ({ assistant_id: 'talker', query: 'Talk.', run_mode });
const never: Brain = (request) =>
  new Promise((resolve) => {
    const stopped = { kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } } as const;
    request.signal.addEventListener('abort', () => resolve(stopped));
  });

describe('spawning for a client', () => {
  it('happens once for a call and its repetition, and for each client', async () => {
    const { world, assistants } = setUp(() => says('Hello.'));
    const first = await assistants.spawn(alice, task(), call('one'));
    const again = await assistants.spawn(alice, task(), call('one'));
    const other = await assistants.spawn(bob, task(), call('one'));
    expect(first).toMatchObject({ ok: true, value: { status: 'finished', answer: 'Hello.' } });
    expect(again).toEqual(first);
    expect(other.ok && first.ok && other.value.process_id !== first.value.process_id).toBe(true);
    expect(world.outside.modelCalls).toHaveLength(2);
  });

  it('refuses a key that was used for another task, and repeats one also at the limit', async () => {
    const { world, assistants } = setUp(never, { perParent: 1 });
    const first = await assistants.spawn(alice, task('async'), call('one'));
    expect(await assistants.spawn(alice, task('async'), call('one'))).toEqual(first);
    expect(await assistants.spawn(alice, { ...task('async'), query: 'Sing.' }, call('one'))).toMatchObject({
      ok: false,
      error: { code: 'key_reused', message: expect.stringContaining('another task') },
    });
    expect(await world.ledger.runs({})).toHaveLength(1);
  });

  it('stops at the limit, however many calls come at once', async () => {
    const { world, assistants } = setUp(never, { perParent: 2 });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => assistants.spawn(alice, task('async'), call())));
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(2);
    expect(await world.ledger.runs({})).toHaveLength(2);
    expect((await assistants.spawn(bob, task('async'), call())).ok).toBe(true);
  });

  it('says which setting it was when it took too long, unless its own budget is shorter', async () => {
    const late = setUp(never, { lifetimeMs: 10 });
    const spawned = await late.assistants.spawn(alice, task(), call());
    expect(spawned).toMatchObject({
      ok: true,
      value: { status: 'failed', answer: expect.stringContaining('(assistants.lifetime)') },
    });
    const poor = setUp(never, { lifetimeMs: 60_000 }, agent({ name: 'talker', tools: [], budget: { wall: 10 } }));
    expect(await poor.assistants.spawn(alice, task(), call())).toMatchObject({
      value: { status: 'failed', answer: expect.stringContaining('(budget.wall)') },
    });
  });

  it('gives an answer without the secrets in it', async () => {
    const { assistants } = setUp(() => says(`The key is ${SECRET}.`));
    expect(await assistants.spawn(alice, task(), call())).toMatchObject({
      ok: true,
      value: { answer: 'The key is [redacted].' },
    });
  });

  it('is refused for somebody whose name nobody could tell from the caller’s own', async () => {
    const { assistants } = setUp(() => says('Hello.'));
    const named = { kind: 'client', name: 'talker' } as const;
    expect(await assistants.spawn(named, task(), call())).toMatchObject({ ok: false, error: { code: 'own_name' } });
  });

  it('says what to do to somebody who has only these tools', async () => {
    const { assistants } = setUp(() => says('Hello.'));
    expect(await assistants.spawn(alice, { ...task(), assistant_id: 'nobody' }, call())).toMatchObject({
      ok: false,
      error: { code: 'no_agent', fix: 'Use an id from list_assistant or search_assistant.' },
    });
  });

  it('tells what only the owner can mend as something for whoever runs the server', async () => {
    const refusal = async (broken: AgentDefinition) => {
      const { assistants } = setUp(() => says('Hello.'), undefined, broken);
      return await assistants.spawn(alice, { ...task(), assistant_id: broken.name }, call());
    };
    const talker = (changes: Partial<AgentDefinition>) => agent({ name: 'talker', tools: [], ...changes });
    expect(await refusal(talker({ agents: ['nobody'] }))).toMatchObject({
      error: { code: 'missing_agent', message: expect.stringContaining('nobody'), fix: expect.stringMatching(FOR_THE_OWNER) },
    });
    expect(await refusal(talker({ advisors: ['talker'] }))).toMatchObject({
      error: { code: 'circle', fix: expect.stringMatching(FOR_THE_OWNER) },
    });
    for (const name of ['user', 'User', 'ＵＳＥＲ']) {
      expect(await refusal(talker({ name }))).toMatchObject({
        error: { code: 'bad_name', message: expect.stringContaining('the person'), fix: expect.stringMatching(FOR_THE_OWNER) },
      });
    }
  });

  it('is refused beyond the limit, with the name of the setting', async () => {
    const { assistants } = setUp(never, { perParent: 1 });
    expect(await assistants.spawn(alice, task('async'), call())).toMatchObject({ ok: true, value: { status: 'starting' } });
    const refused = await assistants.spawn(alice, task('async'), call());
    expect(refused).toMatchObject({ ok: false, error: { code: 'too_many_assistants' } });
    expect(JSON.stringify(refused)).toContain('assistants.perParent');
    expect((await assistants.spawn(bob, task('async'), call())).ok).toBe(true);
  });

  it('holds no place among those at work while it waits for somebody, and is free again once it has ended', async () => {
    const asks: Brain = (asked) => (turnOf(asked) === 1 ? calls({ name: 'act' }) : says('Done.'));
    const bounds = { perParent: 1, waiting: 2 };
    const { world, assistants } = setUp(asks, bounds, agent({ name: 'talker', permissions: { act: 'ask' } }));
    const first = await assistants.spawn(alice, task(), call());
    if (!first.ok) throw new Error(JSON.stringify(first));
    const { process_id } = first.value;
    const [row] = await world.ledger.runs({ run: process_id as RunId });
    const [asked] = row === undefined ? [] : await world.ledger.read({ session: row.session, types: ['approval.asked'] });
    const question_id = asked?.event_type === 'approval.asked' ? `${asked.run_id}/${asked.payload.wait}` : '';
    expect((await assistants.spawn(alice, task(), call())).ok).toBe(true);
    expect(await assistants.spawn(alice, task(), call())).toMatchObject({
      error: { code: 'too_many_assistants', message: 'Not spawned: one client may have 2 assistants that wait for somebody.' },
    });
    expect(await assistants.answer(alice, { process_id, answer: 'yes' }, call())).toMatchObject({ ok: true });
    await expect.poll(async () => (await world.ledger.runs({ run: process_id as RunId }))[0]?.state).toBe('completed');
    // Whoever comes later is told who was first.
    const second = { process_id, answer: 'yes' };
    expect(await assistants.answer(alice, { ...second, question_id }, call())).toMatchObject({
      error: { code: 'answered', message: expect.stringMatching(/^Somebody else has answered this question: alice, at 20/) },
    });
    expect(await assistants.answer(alice, second, call())).toMatchObject({
      error: { code: 'no_question', message: expect.stringContaining('was answered by alice, at 20') },
    });
    expect((await assistants.spawn(alice, task(), call())).ok).toBe(true);
  });

  it('goes on when nobody waits any more, and can be cancelled then', async () => {
    const { world, assistants } = setUp(never);
    const stop = new AbortController();
    const waiting = assistants.spawn(alice, task(), { signal: stop.signal });
    await expect.poll(() => world.outside.modelCalls).toHaveLength(1);
    stop.abort();
    const left = await waiting;
    if (!left.ok) throw new Error(left.error.message);
    expect(left.value.status).toBe('running');
    const { process_id } = left.value;
    expect(await assistants.cancel(bob, { process_id }, call())).toMatchObject({ ok: false, error: { code: 'unknown_process' } });
    expect(await assistants.cancel(alice, { process_id }, call())).toEqual({ ok: true, value: { success: true } });
  });
});
