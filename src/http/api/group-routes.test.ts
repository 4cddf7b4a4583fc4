/** What the API has of the whole project, with a real engine behind it: health, agents, groups, threads, assistants. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { agent, says } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { ORGANISATION } from '../../projections/groups.ts';

const talker = agent({ name: 'talker', tools: [], permissions: {} });
const pair = agent({
  ...{ name: 'pair', tools: [], permissions: {} },
  group: {
    mode: 'broadcast',
    workers: [
      { agent: 'talker', name: 'ann' },
      { agent: 'talker', name: 'ben' },
    ],
  },
} as Parameters<typeof agent>[0]);

const serve = (): Promise<ServedWorld> => serveWorld({ brain: () => says('said'), agents: [talker, pair] });
const read = async (world: ServedWorld, path: string) => {
  const response = await world.ask(`/api/v1/${path}`);
  return { status: response.status, value: (await response.json()) as never };
};
const post = async (world: ServedWorld, path: string, body: object, more: Record<string, string> = {}) => {
  const response = await world.ask(`/api/v1/${path}`, sendJson(body, more));
  return { status: response.status, value: (await response.json()) as { prompt: string; session: string } };
};

describe('groups over the API', () => {
  it('are made, prompted once a key by name, worked on, renamed and deleted', async () => {
    await using world = await serve();
    expect(await post(world, 'groups', { name: 'Two', agent: 'pair' })).toMatchObject({
      ...{ status: 201, value: { kind: 'group', name: 'Two', mode: 'broadcast' } },
    });
    expect(await post(world, 'groups', { name: 'Two', agent: 'pair' })).toMatchObject({ status: 422 });
    expect(await post(world, 'groups', { name: 'X', agent: 'nobody' })).toMatchObject({ status: 404 });
    expect(await post(world, 'groups', { name: 'X', preset: 'nothing' })).toMatchObject({ status: 404 });
    const key = { 'idempotency-key': 'p-1' };
    const sent = await post(world, 'groups/Two/prompts', { text: 'hello' }, key);
    expect(sent).toMatchObject({ status: 201, value: { outcome: 'started', before: 0, standing: 'working' } });
    expect((await post(world, 'groups/Two/prompts', { text: 'hello' }, key)).value.prompt).toBe(sent.value.prompt);
    const later = await post(world, 'groups/Two/prompts', { text: 'and then', member: 'ann' });
    const ended = async (run: string) => (await world.ledger.runs({ run: run as RunId }))[0]?.state;
    // Nobody has to stay with it: what waits is worked on after what was under way.
    await expect.poll(() => ended(sent.value.prompt)).toMatch(/^completed/);
    await expect.poll(() => ended(later.value.prompt)).toMatch(/^completed/);
    const [begun] = await world.ledger.read({ session: sent.value.session as SessionId, types: ['run.started'], limit: 1 });
    expect(begun?.payload).toMatchObject({ origin: { kind: 'group', person: { by: 'owner', where: 'api' } } });
    expect(await read(world, 'groups')).toMatchObject({ value: { groups: [{ name: 'Two', state: 'idle', queued: 0 }] } });
    expect(await read(world, 'groups/Two')).toMatchObject({ value: { members: [{ name: 'ann' }, { name: 'ben' }], queue: [] } });
    expect((await post(world, 'groups/Two/prompts', { text: 'x', member: 'nobody' })).status).toBe(404);
    expect(await post(world, 'groups/Two/pause', {})).toMatchObject({ value: { signal: 'pause', outcome: 'idle' } });
    expect(await post(world, 'groups/Two/resume', {})).toMatchObject({ value: { outcome: 'idle' } });
    expect(await post(world, 'groups/Two/rename', { name: 'Duo' })).toMatchObject({ value: { kind: 'group', name: 'Duo' } });
    expect(await post(world, 'groups/Duo/move', { pinned: true })).toMatchObject({ value: { pinned: true } });
    expect((await post(world, 'groups/Duo/prompts', { text: 'something else' }, key)).status).toBe(422);
    expect(await (await world.ask('/api/v1/groups/Duo', { method: 'DELETE' })).json()).toMatchObject({ deleted: true });
    expect((await read(world, 'groups/Duo')).status).toBe(404);
    expect((await read(world, 'presets')).value).toMatchObject({ presets: expect.arrayContaining([]) });
    // Who did what stands in the ledger.
    const changes = await world.ledger.read({
      session: ORGANISATION,
      types: ['group.created', 'group.renamed', 'group.pinned', 'group.deleted'],
    });
    expect(changes.map(({ event_type, payload }) => [event_type, payload])).toMatchObject(
      ['group.created', 'group.renamed', 'group.pinned', 'group.deleted'].map((type) => [type, { by: 'owner', where: 'api' }]),
    );
    expect(world.errors).toEqual([]);
  });

  it('are made once a key, folders too', async () => {
    await using world = await serve();
    const key = (name: string) => ({ 'idempotency-key': name });
    const first = await post(world, 'groups', { name: 'Two', agent: 'pair' }, key('a'));
    expect(await post(world, 'groups', { name: 'Two', agent: 'pair' }, key('a'))).toEqual(first);
    expect(await post(world, 'groups', { name: 'Other', agent: 'pair' }, key('a'))).toMatchObject({
      status: 422,
      value: { error: { code: 'key_reused' } },
    });
    expect((await post(world, 'groups', { name: 'Two', agent: 'pair' }, key('b'))).status).toBe(422);
    const folder = await post(world, 'groups', { name: 'Shelf' }, key('c'));
    expect(folder).toMatchObject({ status: 201, value: { kind: 'folder', name: 'Shelf' } });
    expect(await post(world, 'groups', { name: 'Shelf' }, key('c'))).toEqual(folder);
    expect(await read(world, 'groups')).toMatchObject({ value: { groups: [{ name: 'Two' }] } });
  });
});

describe('what a person looks at', () => {
  it('is how the server is, who there is, and what is wrong with whom', async () => {
    await using world = await serve();
    await mkdir(join(world.folder, 'agents'));
    const text = '---\ndescription: Sums up.\nagents: [talker]\n---\nSum up.\n';
    await writeFile(join(world.folder, 'agents/summer.md'), text);
    await writeFile(join(world.folder, 'agents/broken.md'), '---\ndescription: Broken.\nmaxTurn: 3\n---\nX.\n');
    expect(await read(world, 'agents/summer')).toMatchObject({
      value: { name: 'summer', sound: true, text, uses: [{ to: 'talker' }], reaches: { entries: ['summer'] } },
    });
    const broken = (await read(world, 'agents/check')).value as { errors: number };
    expect(broken.errors).toBeGreaterThan(0);
    expect((await read(world, 'agents/nobody')).status).toBe(404);
    expect(await read(world, 'agents/graph')).toMatchObject({
      value: { edges: expect.arrayContaining([expect.objectContaining({ from: 'summer', to: 'talker' })]) },
    });
    const health = await read(world, 'health');
    expect(health).toMatchObject({
      value: { version: '0.0.0', engine: { kind: 'here' }, ledger: { kind: 'sqlite' }, workers: null, quota: [] },
    });
    expect(health.value).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([expect.objectContaining({ about: 'agents' })]),
    });
    const started = await post(world, 'runs', { agent: 'talker', prompt: 'x' });
    expect(await read(world, `sessions/${started.value.session}/threads`)).toMatchObject({ value: { threads: [] } });
    expect(await read(world, 'assistants')).toMatchObject({ value: [] });
    expect(world.errors).toEqual([]);
  });

  it('shows a client the threads of what it has spawned', async () => {
    const callers = { alice: { name: 'alice', sees: 'own' } } as const;
    await using world = await serveWorld({ brain: () => says('said'), agents: [talker], callers });
    const begun = await world.ask('/api/v1/runs', { ...sendJson({ agent: 'talker', prompt: 'x' }), token: tokenOf('alice') });
    const { run, session } = (await begun.json()) as { run: string; session: string };
    const asked = async (path: string) => await (await world.ask(`/api/v1/${path}`, { token: tokenOf('alice') })).json();
    await expect
      .poll(() => asked('assistants'))
      .toMatchObject([{ process: run, session, status: 'finished', spawnedBy: 'alice' }]);
    expect(await asked(`sessions/${session}/threads`)).toMatchObject({ threads: [{ process: run, agent: 'talker' }] });
  });
});
