/** Webhooks with a real engine, and real addresses that are told: what, signed how, and what after a crash. */
import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { type Receiver, startReceiver } from '../../../test/support/a2a/receiver.ts';
import { sendJson } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { agent, type Brain, calls, reports, says, turnOf } from '../../../test/support/world.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { webhooksOf } from '../../cli/serving/webhooks.ts';
import { tellWebhooks, type Webhook } from './webhooks.ts';

const agents = [
  agent({ name: 'talker', tools: [], permissions: {} }),
  agent({ name: 'spender', tools: ['write'], permissions: { write: 'allow' }, budget: { calls: 2 } }),
  agent({ name: 'writer', tools: ['write'], permissions: { write: 'ask' } }),
];
const brain: Brain = (request) => {
  if (JSON.stringify(request.messages).includes('fail'))
    return { kind: 'failed', error: { kind: 'invalid_request', message: 'no' } };
  if (!request.tools.some(({ name }) => name === 'write')) return says('said');
  return turnOf(request) > 1 ? reports('done\r\nX-Evil: 1') : calls({ name: 'write', input: { path: 'a.txt', content: 'one' } });
};
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

const hookTo = ({ url }: Receiver, more: object = {}): readonly Webhook[] =>
  webhooksOf([{ name: 'one', url, secretEnv: 'S', private: true, ...more }], { S: SECRET });

/** Tells until it is stopped. */
function telling(
  { project }: ServedWorld,
  hooks: readonly Webhook[],
  clock: Clock,
): AsyncDisposable & { readonly errors: Error[] } {
  const stop = new AbortController();
  const errors: Error[] = [];
  const { ledger, engine } = project;
  const needs = {
    ledger,
    engine,
    clock,
    stopping: stop.signal,
    origin: () => 'http://here',
    onError: (error: Error) => void errors.push(error),
  };
  const done = tellWebhooks(needs, hooks);
  return {
    errors,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await done;
    },
  };
}

/** Timers ring at once, but for how long an address may take: that is nothing that should pass here. */
const hasty = (): Clock => ({
  ...systemClock,
  after: (ms, callback) => systemClock.after(ms === limits.a2aPushMs ? PATIENCE_MS : 0, callback),
});

const start = (world: ServedWorld, name: string, prompt = 'go') => world.ask('/api/v1/runs', sendJson({ agent: name, prompt }));
const kinds = ({ told }: Receiver): readonly unknown[] => told.map(({ body }) => body['type']);

it('tell who is needed, what ended and failed, and when a budget is nearly used up, signed and with a link', async () => {
  await using world = await serveWorld({ brain, agents });
  await using receiver = await startReceiver();
  await using _telling = telling(world, hookTo(receiver), hasty());
  await start(world, 'talker');
  await expect.poll(() => kinds(receiver)).toEqual(['troupe.ended']);
  await start(world, 'talker', 'fail');
  await expect.poll(() => kinds(receiver)).toEqual(['troupe.ended', 'troupe.failed']);
  await start(world, 'spender');
  await expect.poll(() => kinds(receiver).slice(2).toSorted()).toEqual(['troupe.budget', 'troupe.ended']);
  await start(world, 'writer');
  await expect.poll(() => kinds(receiver)[4]).toBe('troupe.needs_you');
  const { headers, body } = receiver.told[4] ?? { headers: {}, body: {} };
  expect(body).toMatchObject({
    data: { agent: 'writer', title: 'writer asks for a permission', link: expect.stringMatching(/^http:\/\/here\/answer\/run_/) },
  });
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${JSON.stringify(body)}`;
  const key = Buffer.from(SECRET.slice(6), 'base64');
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  expect(new Set(receiver.told.map((one) => one.headers['webhook-id'])).size).toBe(5);
});

it('go on after a crash with what was not told, and tell nothing that was before them or was answered meanwhile', async () => {
  await using world = await serveWorld({ brain, agents });
  await using receiver = await startReceiver();
  await start(world, 'talker');
  await expect.poll(async () => (await world.ledger.runs({ states: ['completed'] })).length).toBe(1);
  await (async () => {
    await using _first = telling(world, hookTo(receiver), hasty());
    await expect.poll(async () => (await world.ledger.stats()).sessions).toBe(2);
  })();
  // Nobody tells now: as after kill -9.
  await start(world, 'talker');
  await start(world, 'writer');
  await expect.poll(async () => (await world.ledger.runs({ states: ['completed'] })).length).toBe(2);
  await expect.poll(async () => ((await (await world.ask('/api/v1/inbox')).json()) as object[]).length).toBe(1);
  const [wait] = (await (await world.ask('/api/v1/inbox')).json()) as [{ run: string; wait: string; shown: string }];
  const answer = { wait: wait.wait, answer: { kind: 'approved' }, shown: wait.shown };
  expect((await world.ask(`/api/v1/runs/${wait.run}/answers`, sendJson(answer))).status).toBe(200);
  await expect.poll(async () => (await world.ledger.runs({ roots: true })).every(({ endedAt }) => endedAt !== null)).toBe(true);
  await using _second = telling(world, hookTo(receiver), hasty());
  // Two more, one after the other: when the second of them is told, whatever was there before the first was looked at.
  for (const _more of [1, 2]) {
    const { run } = (await (await start(world, 'talker')).json()) as { run: string };
    await expect.poll(() => receiver.told.map(({ body }) => (body['data'] as { run: string }).run)).toContain(run);
  }
  expect(kinds(receiver)).toEqual(Array(4).fill('troupe.ended'));
  expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
});

it('tell of the others when one was forgotten', async () => {
  await using world = await serveWorld({ brain, agents });
  await using receiver = await startReceiver();
  await using tells = telling(world, hookTo(receiver), hasty());
  await start(world, 'talker');
  await expect.poll(() => kinds(receiver)).toEqual(['troupe.ended']);
  const [row] = await world.ledger.runs({ roots: true });
  const parts = row === undefined ? [] : [{ session: row.session }];
  const forget = () => world.ledger.forget({ parts, by: 'ana', at: 1, dryRun: false });
  await expect.poll(async () => (await forget()).kind).toBe('forgotten');
  await using again = telling(world, hookTo(receiver, { name: 'two' }), hasty());
  await expect.poll(async () => (await world.ledger.stats()).sessions).toBe(3);
  await start(world, 'talker');
  await expect.poll(() => kinds(receiver)).toEqual(Array(3).fill('troupe.ended'));
  expect([...tells.errors, ...again.errors]).toEqual([]);
});

it('are tried again, given up in the end, and reach nobody inside unless that is said', async () => {
  await using world = await serveWorld({ brain, agents });
  await using receiver = await startReceiver(500);
  await using giving = telling(world, hookTo(receiver), hasty());
  await using inside = telling(world, hookTo(receiver, { name: 'two', private: false }), hasty());
  await start(world, 'talker');
  await expect.poll(() => [giving.errors.length, inside.errors.length]).toEqual([1, 1]);
  expect([receiver.refused, giving.errors[0]?.message]).toEqual([limits.a2aPushAttempts, 'webhook one: it answered 500']);
  expect(inside.errors[0]?.message).toContain('not a public address');
  expect(() => webhooksOf([{ name: 'x', url: 'https://x.example', secretEnv: 'NONE' }], {})).toThrow('fewer than 16 bytes');
});

it('speak to ntfy as it wants to be spoken to: a text, with its title and its link in headers', async () => {
  await using world = await serveWorld({ brain, agents });
  await using receiver = await startReceiver();
  const headers = { Title: '{title}: {text}', Click: '{link}', Tags: 'robot' };
  await using _telling = telling(world, hookTo(receiver, { as: 'text', headers, events: ['ended'] }), hasty());
  await start(world, 'spender');
  await expect.poll(() => receiver.told.length).toBe(1);
  const [told] = receiver.told;
  expect(told?.headers).toMatchObject({
    title: expect.stringContaining('spender has ended'),
    tags: 'robot',
    'content-type': 'text/plain; charset=utf-8',
  });
  expect([told?.headers['click'], told?.headers['x-evil']]).toEqual([
    expect.stringMatching(/^http:\/\/here\/sessions\/ses_/),
    undefined,
  ]);
  expect(told?.body).toContain('done');
});
