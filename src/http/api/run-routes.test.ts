/** Runs over the API, with a real engine behind it: started, steered and answered, each once, by whoever may, with their name. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ApiServer, sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { listenTo } from '../../../test/support/http/sse.ts';
import { agent, type Brain, calls, reports, says, turnOf } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import type { EventType } from '../../events/catalogue.ts';
import { createLiveChannel } from '../../live/live-channel.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';

const writer = agent({ name: 'writer', tools: ['write'], permissions: { write: 'ask' } });
const talker = agent({ name: 'talker', tools: [], permissions: {} });

const brain: Brain = (request) => {
  if (!request.tools.some(({ name }) => name === 'write')) return says('said');
  return turnOf(request) > 1 ? reports('done') : calls({ name: 'write', input: { path: 'a.txt', content: 'one' } });
};

const callers: Readonly<Record<string, McpCaller>> = {
  oda: {
    name: 'oda',
    sees: 'everything',
    role: 'operator',
    answersForAll: true,
    rights: { commands: [], answers: true, approves: false },
  },
  vera: {
    name: 'vera',
    sees: 'everything',
    role: 'viewer',
    rights: { spawn: [], commands: [], answers: false, approves: false },
  },
  alice: { name: 'alice', sees: 'own', rights: { commands: [], answers: true, approves: true } },
  bob: { name: 'bob', sees: 'own', rights: { commands: [], answers: true, approves: false } },
};

const serve = () => serveWorld({ brain, agents: [writer, talker], callers });

interface Started {
  readonly run: RunId;
  readonly session: SessionId;
  readonly before: boolean;
}

const start = async (server: ApiServer, body: object, more: Record<string, string> = {}, token?: string): Promise<Started> => {
  const response = await server.ask('/api/v1/runs', { ...sendJson(body, more), token });
  expect([response.status, await response.clone().text()]).toEqual([201, expect.stringContaining('run_')]);
  return (await response.json()) as Started;
};

const stateOf = async (world: ServedWorld, run: string): Promise<string | undefined> =>
  (await world.ledger.runs({ run: run as RunId }))[0]?.state;

const payloads = async ({ ledger }: ServedWorld, { session, run }: Started, type: EventType): Promise<readonly unknown[]> =>
  (await ledger.read({ session, run, types: [type] })).map(({ payload }) => payload);

async function openWait(
  world: ServedWorld,
  token?: string,
): Promise<{ run: string; wait: string; shown: string; request: string }> {
  await expect.poll(async () => ((await (await world.ask('/api/v1/inbox', { token })).json()) as object[]).length).toBe(1);
  const [wait] = (await (await world.ask('/api/v1/inbox', { token })).json()) as [never];
  return wait;
}

describe('runs', () => {
  it('are started with the name of who did, and once however often a request is repeated', async () => {
    await using world = await serve();
    const key = { 'idempotency-key': 'k-1' };
    const first = await start(world, { agent: 'talker', prompt: 'hello' }, key);
    expect(first.before).toBe(false);
    // As after a server that died before it could answer.
    await using again = await world.again();
    expect(await start(again, { agent: 'talker', prompt: 'hello' }, key)).toEqual({ ...first, before: true });
    for (const other of [{ prompt: 'else' }, { prompt: 'hello', session: 'ses_no' }]) {
      const refused = await world.ask('/api/v1/runs', sendJson({ agent: 'talker', ...other }, key));
      expect([refused.status, await refused.json()]).toMatchObject([422, { error: { code: 'key_reused' } }]);
    }
    await expect.poll(() => stateOf(world, first.run)).toBe('completed');
    expect(await payloads(world, first, 'run.started')).toMatchObject([
      { origin: { kind: 'person', client: 'api', name: 'owner' } },
    ]);
    expect(await world.ledger.runs({})).toHaveLength(1);
    const listed = (await (await world.ask('/api/v1/runs')).json()) as { run: string }[];
    expect(listed.map(({ run }) => run)).toEqual([first.run]);
    const shown = await (await world.ask(`/api/v1/runs/${first.run}`)).json();
    expect(shown).toMatchObject({ run: first.run, status: 'completed', report: { body: 'said' }, tree: [{ agent: 'talker' }] });
    expect(await start(world, { agent: 'talker', prompt: 'more', session: first.session })).toMatchObject({
      session: first.session,
    });
    expect((await world.ask('/api/v1/runs', sendJson({ agent: 'nobody', prompt: 'x' }))).status).toBe(404);
    expect((await world.ask('/api/v1/runs', sendJson({ agent: 'talker', prompt: 'x', session: 'ses_no' }))).status).toBe(404);
  });

  it('wait until somebody approves what they saw; of two the first counts, and the other is told whose it was', async () => {
    await using world = await serve();
    const started = await start(world, { agent: 'writer', prompt: 'write' });
    const wait = await openWait(world);
    const path = `/api/v1/runs/${wait.run}/answers`;
    const approve = (more: object, key: string, token?: string) => {
      const body = { wait: wait.wait, answer: { kind: 'approved' }, ...more };
      return world.ask(path, { ...sendJson(body, { 'idempotency-key': key }), token });
    };
    expect((await approve({}, 'a')).status).toBe(422);
    expect(await (await approve({ shown: 'f'.repeat(64) }, 'b')).json()).toMatchObject({ error: { code: 'other' } });
    expect((await approve({ shown: wait.shown }, 'c', tokenOf('vera'))).status).toBe(403);
    expect((await approve({ shown: wait.shown }, 'c', tokenOf('oda'))).status).toBe(403);
    expect((await approve({ shown: wait.shown }, 'c', tokenOf('alice'))).status).toBe(404);
    const both = await Promise.all([approve({ shown: wait.shown }, 'd'), approve({ shown: wait.shown }, 'e')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const lost = both.find(({ status }) => status === 409);
    expect(await lost?.json()).toMatchObject({
      error: { code: 'answered', first: { by: 'owner', where: 'api', answer: { kind: 'approved' } } },
    });
    await expect.poll(() => stateOf(world, started.run)).toBe('completed');
    expect(await readFile(join(world.folder, 'a.txt'), 'utf8')).toBe('one');
    // Whoever was first and did not hear of it asks again, also after the end.
    const won = both[0]?.status === 200 ? 'd' : 'e';
    expect((await approve({ shown: wait.shown }, won)).status).toBe(200);
    const other = await world.ask(path, sendJson({ wait: wait.wait, answer: { kind: 'denied' } }, { 'idempotency-key': won }));
    expect([other.status, await other.json()]).toMatchObject([422, { error: { code: 'key_reused' } }]);
    expect(await payloads(world, started, 'approval.answered')).toMatchObject([{ by: 'owner', where: 'api', shown: wait.shown }]);
  });

  it('make a call with another input, or not at all', async () => {
    await using world = await serve();
    const changed = await start(world, { agent: 'writer', prompt: 'write' });
    const wait = await openWait(world);
    const input = { path: 'b.txt', content: 'two' };
    const edit = { wait: wait.wait, answer: { kind: 'approved', input }, shown: wait.shown };
    expect((await world.ask(`/api/v1/runs/${wait.run}/answers`, sendJson(edit))).status).toBe(200);
    await expect.poll(() => stateOf(world, changed.run)).toBe('completed');
    expect(await readFile(join(world.folder, 'b.txt'), 'utf8')).toBe('two');
    const denied = await start(world, { agent: 'writer', prompt: 'write' });
    const second = await openWait(world);
    const no = { wait: second.wait, answer: { kind: 'denied', note: 'not now' } };
    expect((await world.ask(`/api/v1/runs/${second.run}/answers`, sendJson(no))).status).toBe(200);
    await expect.poll(() => stateOf(world, denied.run)).toBe('completed');
    await expect(readFile(join(world.folder, 'a.txt'))).rejects.toThrow();
  });

  it('are paused, told, resumed, cancelled and done again, by name', async () => {
    await using world = await serve();
    const started = await start(world, { agent: 'writer', prompt: 'write' });
    await openWait(world);
    const post = async (what: string, body: object, more = {}) =>
      await (await world.ask(`/api/v1/runs/${started.run}/${what}`, sendJson(body, more))).json();
    const key = { 'idempotency-key': 'm-1' };
    const said = await post('messages', { text: 'be brief' }, key);
    expect(await post('messages', { text: 'be brief' }, key)).toEqual(said);
    expect(await post('messages', { text: 'be long' }, key)).toMatchObject({ error: { code: 'key_reused' } });
    expect(await payloads(world, started, 'message.sent')).toMatchObject([
      { content: 'be brief', person: { by: 'owner', where: 'api' } },
    ]);
    expect(await post('retry', {})).toMatchObject({ error: { code: 'not_ended' } });
    expect(await post('cancel', { reason: 'enough' })).toMatchObject({ signal: 'cancel', outcome: 'accepted' });
    await expect.poll(() => stateOf(world, started.run)).toBe('cancelled');
    expect(await payloads(world, started, 'run.signalled')).toEqual([
      { signal: 'cancel', reason: 'enough', by: 'owner', where: 'api' },
    ]);
    expect(await post('cancel', {})).toMatchObject({ outcome: 'ended' });
    expect(await post('resume', {})).toMatchObject({ run: started.run });
    const retry = { 'idempotency-key': 'r-1' };
    const again = (await post('retry', {}, retry)) as Started;
    expect(await post('retry', {}, retry)).toEqual({ ...again, before: true });
    expect(await payloads(world, again, 'run.started')).toMatchObject([{ retries: started.run }]);
    const fork = { 'idempotency-key': 'f-1' };
    const forked = (await post('fork', { at: 'start', prompt: 'Else.' }, fork)) as Started;
    expect(forked).toMatchObject({ before: false, from: { run: started.run } });
    expect(await post('fork', { at: 'start' }, fork)).toMatchObject({ run: forked.run, session: forked.session, before: true });
    expect(await post('fork', { at: 'turn 99' })).toMatchObject({ error: { code: 'fork_place' } });
    expect(await post('fork', { colour: 'red' })).toMatchObject({ error: { code: expect.any(String) } });
  });

  it('are seen and steered by whoever may, and do not exist for others', async () => {
    await using world = await serve();
    const own = await start(world, { agent: 'writer', prompt: 'write' }, {}, tokenOf('alice'));
    const wait = await openWait(world, tokenOf('alice'));
    expect(await payloads(world, own, 'run.started')).toMatchObject([{ origin: { kind: 'client', by: 'alice' } }]);
    const look = async (name: string) => (await world.ask(`/api/v1/runs/${own.run}`, { token: tokenOf(name) })).status;
    expect([await look('alice'), await look('bob'), await look('vera'), await look('oda')]).toEqual([200, 404, 200, 200]);
    const list = async (name: string, path: string) =>
      ((await (await world.ask(`/api/v1/${path}`, { token: tokenOf(name) })).json()) as object[]).length;
    for (const path of ['runs', 'inbox', 'sessions'])
      expect([path, await list('alice', path), await list('bob', path), await list('vera', path)]).toEqual([path, 1, 0, 1]);
    const cancel = async (name: string) =>
      (await world.ask(`/api/v1/runs/${own.run}/cancel`, { ...sendJson({}), token: tokenOf(name) })).status;
    expect([await cancel('bob'), await cancel('vera')]).toEqual([404, 403]);
    const events = async (name: string) => {
      const response = await world.ask(`/api/v1/sessions/${own.session}/events`, { token: tokenOf(name) });
      return response.status;
    };
    expect([await events('alice'), await events('bob')]).toEqual([200, 404]);
    for (const path of [`costs?run=${own.run}`, `costs?session=${own.session}`, `sessions/${own.session}/artifacts`]) {
      const status = async (name: string) => (await world.ask(`/api/v1/${path}`, { token: tokenOf(name) })).status;
      expect([path, await status('alice'), await status('bob')]).toEqual([path, 200, 404]);
    }
    const approve = { wait: wait.wait, answer: { kind: 'approved' }, shown: wait.shown };
    const always = { ...approve, answer: { kind: 'approved', remember: true, scope: 'project' } };
    const ruled = await world.ask(`/api/v1/runs/${wait.run}/answers`, { ...sendJson(always), token: tokenOf('alice') });
    expect([ruled.status, await ruled.json()]).toMatchObject([403, { error: { code: 'not_yours' } }]);
    const answered = await world.ask(`/api/v1/runs/${wait.run}/answers`, { ...sendJson(approve), token: tokenOf('alice') });
    expect(answered.status).toBe(200);
    await expect.poll(() => stateOf(world, own.run)).toBe('completed');
    expect(
      (await world.ask('/api/v1/runs', { ...sendJson({ agent: 'talker', prompt: 'x' }), token: tokenOf('vera') })).status,
    ).toBe(403);
    const chosen = { ...sendJson({ agent: 'talker', prompt: 'x', model: 'test/model' }), token: tokenOf('bob') };
    expect((await world.ask('/api/v1/runs', chosen)).status).toBe(403);
    expect(await cancel('oda')).toBe(200);
  });

  it.each([{ budget: { usd: 100 } }, { model: 'scripted:../elsewhere.yaml' }, { maxTurns: 1_000 }])(
    'go on with %j for the owner alone',
    async (terms) => {
      await using world = await serve();
      const own = await start(world, { agent: 'talker', prompt: 'x' }, {}, tokenOf('alice'));
      await expect.poll(() => stateOf(world, own.run)).toBe('completed');
      const resume = async (name: string, body: object) => {
        const response = await world.ask(`/api/v1/runs/${own.run}/resume`, { ...sendJson(body), token: tokenOf(name) });
        return [response.status, await response.text()];
      };
      for (const name of ['alice', 'oda']) {
        expect(await resume(name, terms)).toEqual([403, expect.stringContaining('not_yours')]);
        await expect.poll(() => resume(name, {})).toEqual([200, expect.stringContaining('ended')]);
      }
    },
  );
});

describe('what there is', () => {
  it('is told as the command line tells it, to the owner', async () => {
    await using world = await serve();
    const { run, session } = await start(world, { agent: 'writer', prompt: 'write' });
    const { wait, shown } = await openWait(world);
    await world.ask(`/api/v1/runs/${run}/answers`, sendJson({ wait, answer: { kind: 'approved' }, shown }));
    await expect.poll(() => stateOf(world, run)).toBe('completed');
    const read = async (path: string) => await (await world.ask(`/api/v1/${path}`)).json();
    expect(await read(`costs?run=${run}`)).toMatchObject({ sessions: 1, total: { calls: 2 } });
    expect(await read('sessions')).toMatchObject([{ session, agent: 'writer', prompt: 'write' }]);
    expect(await read('ledger')).toMatchObject({ sessions: 1 });
    expect(await (await world.ask('/api/v1/ledger/verify', sendJson({}))).json()).toMatchObject({ kind: 'sound' });
    expect((await world.ask('/api/v1/ledger', { token: tokenOf('oda') })).status).toBe(403);
    const left = (await read(`sessions/${session}/artifacts`)) as { ref: string; type: string }[];
    const patch = left.find(({ type }) => type === 'patch');
    const bytes = await world.ask(`/api/v1/sessions/${session}/artifact?ref=${encodeURIComponent(patch?.ref ?? '')}`);
    expect([bytes.status, bytes.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(bytes.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(await bytes.text()).toContain('+one');
    const why = (await read(`runs/${run}/why`)) as { type: string; event: string }[];
    expect([why[0]?.type, why.at(-1)?.type]).toEqual(['run.ended', 'session.started']);
    expect(await read(`runs/${run}/why?event=${why[1]?.event}`)).toEqual(why.slice(1));
    expect((await world.ask(`/api/v1/runs/${run}/why?event=ses_other.1`)).status).toBe(400);
    expect(await read(`runs/${run}/manifest`)).toMatchObject({ items: [{ path: 'a.txt' }] });
    expect(await read(`runs/${run}/diff?with=${run}`)).toEqual({ same: true, files: [] });
    const both = new URLSearchParams({ left: patch?.ref ?? '', right: patch?.ref ?? '' });
    expect(await read(`sessions/${session}/artifact/diff?${both}`)).toEqual({ same: true, files: [] });
    const pin = (pinned: boolean) => world.ask(`/api/v1/sessions/${session}/artifact/pin`, sendJson({ ref: patch?.ref, pinned }));
    expect(await (await pin(true)).json()).toMatchObject({ ref: patch?.ref, pinned: true });
    const pins = await world.ledger.read({ session: session as SessionId, types: ['artifact.pinned'] });
    expect(pins.map(({ payload }) => payload)).toEqual([{ ref: patch?.ref, pinned: true, by: 'owner' }]);
    for (const ref of ['../../etc/passwd', 'artifact://../x', '/etc/passwd', 'a.txt', `${patch?.ref}/../..`])
      expect((await world.ask(`/api/v1/sessions/${session}/artifact?ref=${encodeURIComponent(ref)}`)).status).toBe(404);
    const metrics = await (await world.ask('/metrics')).text();
    expect(metrics).toMatch(/^troupe_ledger_sessions 1$/m);
    expect((await world.ask('/metrics', { token: '' })).status).toBe(401);
    expect(world.errors).toEqual([]);
  });
});

describe('what is being said', () => {
  it('is streamed while it comes, without an id, from this process and from another', async () => {
    await using world = await serve();
    const { session } = await start(world, { agent: 'talker', prompt: 'hello' });
    const stop = new AbortController();
    const listener = listenTo(await world.ask(`/api/v1/sessions/${session}/stream`, { signal: stop.signal }), stop);
    await expect.poll(() => listener.frames.length).toBeGreaterThan(0);
    const elsewhere = createLiveChannel({
      ...{ folder: join(world.project.config.home, 'live'), random: systemRandom, redact: (text) => text },
      watch: () => () => undefined,
    });
    await expect.poll(() => elsewhere.outside() !== undefined).toBe(true);
    const piece = { session, run: 'run_1' as RunId, agent: 'talker', turn: 1, attempt: 1, terminal: true, offset: 0 };
    elsewhere.outside()?.({ ...piece, delta: { type: 'text', text: 'word by word ' } });
    elsewhere.outside()?.({ ...piece, session: 'ses_other' as SessionId, delta: { type: 'text', text: 'not here ' } });
    const deltas = () => listener.frames.filter(({ event }) => event === 'delta');
    await expect.poll(deltas).toHaveLength(1);
    expect(deltas()[0]?.id).toBeUndefined();
    expect(JSON.parse(deltas()[0]?.data ?? '')).toMatchObject({ run: 'run_1', delta: { text: 'word by word ' } });
    listener.stop();
    // Nobody listens any more: no model is asked to stream.
    await expect.poll(() => elsewhere.outside()).toBeUndefined();
    await elsewhere.close();
  });
});
