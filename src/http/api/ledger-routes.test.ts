/** What is kept and what goes, over the API: pins, holds, what is forgotten and collected, and sessions that come in one file. */
import { describe, expect, it } from 'vitest';
import { sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { agent, says } from '../../../test/support/world.ts';
import type { RunId } from '../../base/ids.ts';

const talker = agent({ name: 'talker', tools: [], permissions: {} });
const callers = {
  oda: { name: 'oda', sees: 'everything', role: 'operator' },
  ana: { name: 'ana', sees: 'own' },
} as const;
const serve = (): Promise<ServedWorld> => serveWorld({ brain: () => says('The answer: marmalade.'), agents: [talker], callers });

async function ran(world: ServedWorld, prompt: string): Promise<{ run: string; session: string }> {
  const begun = await world.ask('/api/v1/runs', sendJson({ agent: 'talker', prompt }));
  const started = (await begun.json()) as { run: string; session: string };
  await expect.poll(async () => (await world.ledger.runs({ run: started.run as RunId }))[0]?.owner).toBe(null);
  return started;
}

const post = async (world: ServedWorld, path: string, body: object = {}, name?: string) => {
  const response = await world.ask(`/api/v1/${path}`, {
    ...sendJson(body),
    ...(name === undefined ? {} : { token: tokenOf(name) }),
  });
  return { status: response.status, value: (await response.json()) as never };
};

describe('what is kept', () => {
  it('is pinned and held under the name of whoever asks, and then nothing of it goes', async () => {
    await using world = await serve();
    const { session } = await ran(world, 'Keep this.');
    expect(await post(world, `sessions/${session}/pin`)).toMatchObject({ status: 200, value: { session, pinned: true } });
    expect(await post(world, `sessions/${session}/pin`, { pinned: false })).toMatchObject({ value: { pinned: false } });
    const held = await post(world, `sessions/${session}/hold`, { reason: 'a case' });
    expect(held).toMatchObject({ status: 200, value: { hold: { reason: 'a case', by: 'owner' } } });
    expect(await post(world, `sessions/${session}/hold`, { reason: 'twice' })).toMatchObject({
      ...{ status: 409, value: { error: { code: 'session_held' } } },
    });
    expect(await post(world, 'forget', { session, dryRun: false })).toMatchObject({
      ...{ status: 409, value: { error: { code: 'session_held' } } },
    });
    expect((await post(world, 'ledger/gc', { olderThan: '0s', dryRun: false })).value).toMatchObject({
      sessions: [],
      stays: [{ session, why: 'held by owner: a case' }],
    });
    expect(await post(world, `sessions/${session}/release`)).toMatchObject({
      value: { hold: null, holds: [{ released: { by: 'owner' } }] },
    });
    expect((await post(world, `sessions/${session}/release`)).status).toBe(409);
    for (const path of [`sessions/${session}/pin`, `sessions/${session}/release`, 'forget', 'ledger/gc'])
      expect([path, (await post(world, path, {}, 'oda')).status]).toEqual([path, 403]);
    expect((await post(world, 'sessions/ses_none/pin')).status).toBe(404);
    expect(world.errors).toEqual([]);
  });
});

describe('what goes', () => {
  it('is said first, and then it is gone, and the chain still verifies', async () => {
    await using world = await serve();
    const [one, two] = [await ran(world, 'The purple hippopotamus.'), await ran(world, 'Something else.')];
    const text = async (session: string) => await (await world.ask(`/api/v1/sessions/${session}/events`)).text();
    const planned = await post(world, 'forget', { matching: 'purple hippopotamus' });
    expect(planned).toMatchObject({ status: 200, value: { sessions: [one.session], dryRun: true } });
    expect(await text(one.session)).toContain('hippopotamus');
    expect(await post(world, 'forget', { matching: 'purple hippopotamus', dryRun: false })).toMatchObject({
      value: { dryRun: false },
    });
    expect(await text(one.session)).not.toContain('hippopotamus');
    expect(await post(world, 'forget', { run: two.run, dryRun: false })).toMatchObject({ value: { sessions: [two.session] } });
    expect((await world.ask(`/api/v1/sessions/${two.session}/events`)).status).not.toBe(500);
    // Of the others everything is told as before, to everybody.
    expect(await (await world.ask('/api/v1/costs')).json()).toMatchObject({ sessions: 1, gone: 1 });
    expect((await world.ask('/api/v1/runs', { token: tokenOf('ana') })).status).toBe(200);
    expect((await post(world, 'ledger/verify')).value).toMatchObject({ kind: 'sound' });
    expect((await post(world, 'forget', { event: `${one.session}.99999` })).status).toBe(404);
    for (const [body, status] of [
      [{ session: one.session, run: two.run }, 400],
      [{ event: 'nothing' }, 400],
      [{ matching: 'abc' }, 400],
      [{ run: 'run_none' }, 404],
      [{ session: 'ses_none' }, 404],
      [{ event: 'ses_none.1' }, 404],
    ] as const)
      expect([body, (await post(world, 'forget', body)).status]).toEqual([body, status]);
    expect((await post(world, 'ledger/gc', { olderThan: 'soon' })).status).toBe(400);
    expect((await post(world, 'ledger/gc', { olderThan: '0s' })).value).toMatchObject({ sessions: [one.session], dryRun: true });
    expect(world.errors).toEqual([]);
  });
});

describe('a session in one file', () => {
  it('goes out and comes in elsewhere, checked from its first byte to its last', async () => {
    await using world = await serve();
    await using other = await serve();
    const { run, session } = await ran(world, 'To go.');
    const out = await world.ask(`/api/v1/sessions/${session}/bundle`);
    expect([out.status, out.headers.get('content-disposition')]).toEqual([200, `attachment; filename="${session}.troupe.tar"`]);
    const bytes = new Uint8Array(await out.arrayBuffer());
    const bring = async (body: Uint8Array<ArrayBuffer>, query = '', type = 'application/octet-stream') => {
      const given = { method: 'POST', body, headers: { 'content-type': type } };
      const response = await other.ask(`/api/v1/bundles${query}`, given);
      return { status: response.status, value: (await response.json()) as never };
    };
    expect(await bring(bytes, '?check=yes')).toMatchObject({
      status: 200,
      value: { bundle: { stored: false, sessions: [{ session }] } },
    });
    expect(await other.ledger.runs({ run: run as RunId })).toEqual([]);
    // One byte of an event is another, and nothing of it is stored.
    const wrong = Uint8Array.from(bytes);
    const at = Buffer.from(wrong).indexOf('To go.');
    expect(at).toBeGreaterThan(0);
    wrong[at] = 0x74;
    expect(await bring(wrong)).toMatchObject({ status: 422, value: { error: { code: 'bundle_bad' } } });
    expect((await bring(new TextEncoder().encode('something else'))).status).toBe(422);
    expect((await bring(bytes, '', 'application/json')).status).toBe(415);
    expect(await other.ledger.runs({ run: run as RunId })).toEqual([]);
    expect(await bring(bytes, '?name=from-a-friend.tar')).toMatchObject({ value: { bundle: { stored: true } } });
    expect((await other.ledger.runs({ run: run as RunId }))[0]).toMatchObject({ session, agent: 'talker' });
    expect(await bring(bytes)).toMatchObject({ value: { bundle: { stored: false, sessions: [{ here: 'imported' }] } } });
    for (const [act, status] of [
      ['cancel', 409],
      ['pause', 409],
      ['resume', 422],
    ] as const)
      expect(await post(other, `runs/${run}/${act}`), act).toMatchObject({ status, value: { error: { code: 'imported' } } });
    const given = { method: 'POST', body: bytes, headers: { 'content-type': 'application/octet-stream' }, token: tokenOf('oda') };
    expect((await other.ask('/api/v1/bundles', given)).status).toBe(403);
    expect([...world.errors, ...other.errors]).toEqual([]);
  });
});
