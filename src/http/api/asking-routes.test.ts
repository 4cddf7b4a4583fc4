/** Questions to the ledger over the API: the answers of the command line, for whoever may ask. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { agent, type Brain, calls, reports, turnOf } from '../../../test/support/world.ts';
import type { RunId } from '../../base/ids.ts';

const writer = agent({ name: 'writer', tools: ['write'], permissions: { write: 'allow' } });
const brain: Brain = (request) =>
  turnOf(request) > 1 ? reports('Done.') : calls({ name: 'write', input: { path: 'notes.txt', content: 'one\ntwo\n' } });
const callers = {
  alice: { name: 'alice', sees: 'own' },
  vera: { name: 'vera', sees: 'everything', role: 'viewer' },
} as const;
const serve = (): Promise<ServedWorld> => serveWorld({ brain, agents: [writer], callers });

async function ran(world: ServedWorld, prompt = 'Write it.'): Promise<{ run: string; session: string }> {
  const begun = await world.ask('/api/v1/runs', sendJson({ agent: 'writer', prompt }));
  const started = (await begun.json()) as { run: string; session: string };
  await expect.poll(async () => (await world.ledger.runs({ run: started.run as RunId }))[0]?.state).toMatch(/^completed/);
  return started;
}

const read = async (world: ServedWorld, path: string, more: Parameters<ServedWorld['ask']>[1] = {}) => {
  const response = await world.ask(`/api/v1/${path}`, more);
  return { status: response.status, value: (await response.json()) as never };
};
const as = (name: string) => ({ token: tokenOf(name) });

describe('a question in SQL', () => {
  it('is answered as on the command line, and only reads', async () => {
    await using world = await serve();
    const { run, session } = await ran(world);
    const ask = (sql: string, more: object = {}, who = {}) => read(world, 'query', { ...sendJson({ sql, ...more }), ...who });
    expect(await ask('SELECT run, agent, agent FROM runs')).toMatchObject({
      status: 200,
      value: { columns: ['run', 'agent', 'agent:2'], rows: [{ run, agent: 'writer', 'agent:2': 'writer' }], cutBy: null },
    });
    expect((await ask('SELECT 1 AS one', { session }, as('vera'))).value).toMatchObject({ rows: [{ one: 1 }] });
    expect(
      (await ask('WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c', { rows: 2 })).value,
    ).toMatchObject({
      rows: [{ x: 1 }, { x: 2 }],
      cutBy: 'queryRows',
    });
    expect(await ask('DELETE FROM runs')).toMatchObject({ status: 400, value: { error: { code: 'usage' } } });
    expect((await ask('SELECT 1', { session: 'ses_none' })).status).toBe(404);
    expect((await ask('SELECT 1', {}, as('alice'))).status).toBe(403);
    expect((await ask('SELECT 1', { rows: 1_000_000 })).status).toBe(400);
    // Only so many at a time, and then again.
    const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c';
    const stopped = await Promise.all([1, 2, 3].map(() => ask(endless, { timeoutMs: 2_000 })));
    expect(stopped.map(({ status }) => status).toSorted()).toEqual([422, 422, 429]);
    expect((await ask('SELECT 1 AS one')).status).toBe(200);
    expect(world.errors).toEqual([]);
  });
});

describe('why', () => {
  it('is a chain, what was dear, how it ended, or why something was not called', async () => {
    await using world = await serve();
    const { run } = await ran(world);
    expect((await read(world, `runs/${run}/why?ask=end`)).value).toMatchObject({ kind: 'end', run, reason: expect.any(String) });
    expect((await read(world, `runs/${run}/why?ask=cost`)).value).toMatchObject({
      kind: 'cost',
      turns: [{ turn: 1 }, { turn: 2 }],
    });
    expect((await read(world, `runs/${run}/why?ask=not_called&name=shell`)).value).toMatchObject({
      ...{ kind: 'not_called', name: 'shell', called: false, runs: [{ run, agent: 'writer' }] },
    });
    expect((await read(world, `runs/${run}/why?ask=not_called`)).status).toBe(400);
    expect((await read(world, `runs/${run}/why?ask=else`)).status).toBe(400);
    expect(((await read(world, `runs/${run}/why`)).value as readonly object[]).length).toBeGreaterThan(1);
    expect((await read(world, `runs/${run}/why?ask=end`, as('alice'))).status).toBe(404);
  });
});

describe('blame', () => {
  it('says who wrote each line of a file of the workspace, and of no other', async () => {
    await using world = await serve();
    const { run, session } = await ran(world, 'Write the notes.');
    const blame = await read(world, 'blame?file=notes.txt', as('vera'));
    expect(blame.value).toMatchObject({
      ...{ path: 'notes.txt', asRecorded: true },
      lines: [
        { line: 1, certain: true },
        { line: 2, certain: true },
      ],
      changes: [{ run, session, agent: 'writer', turn: 1, prompt: 'Write the notes.' }],
    });
    expect(((await read(world, 'blame?file=notes.txt&line=2')).value as { lines: object[] }).lines).toHaveLength(1);
    expect((await read(world, 'blame?file=notes.txt&line=9')).status).toBe(404);
    await mkdir(join(world.folder, '..', 'troupe-outside'), { recursive: true });
    await writeFile(join(world.folder, '..', 'troupe-outside', 'secret.txt'), 'a secret\n');
    for (const file of ['../troupe-outside/secret.txt', '/etc/passwd', 'nowhere.txt'])
      expect(await read(world, `blame?file=${encodeURIComponent(file)}`)).toMatchObject({ status: 400 });
    expect((await read(world, 'blame?file=notes.txt', as('alice'))).status).toBe(403);
  });
});

describe('a replay', () => {
  it('comes to the same, for whoever works with all of the project', async () => {
    await using world = await serve();
    const { run } = await ran(world);
    expect(await read(world, `runs/${run}/replay`, sendJson({}))).toMatchObject({
      status: 200,
      value: { kind: 'identical', run },
    });
    expect((await read(world, `runs/${run}/replay`, { ...sendJson({}), ...as('vera') })).status).toBe(403);
    expect((await read(world, 'runs/run_none/replay', sendJson({}))).status).toBe(404);
  });
});

describe('what is around the ledger', () => {
  it('is which models there are, and where spans go', async () => {
    await using world = await serve();
    await ran(world);
    const models = await read(world, 'models?offline=yes');
    expect((models.value as { models: object[] }).models.length).toBeGreaterThan(3);
    expect((await read(world, 'models?provider=nobody')).status).toBe(400);
    expect((await read(world, 'models', as('vera'))).status).toBe(403);
    expect((await read(world, 'telemetry')).value).toEqual({ state: 'off' });
    expect((await read(world, 'telemetry/backfill', sendJson({ since: '7d' }))).status).toBe(400);
    expect((await read(world, 'telemetry/backfill', sendJson({}))).status).toBe(400);
    expect((await read(world, 'telemetry/backfill', sendJson({ since: 'soon' }))).status).toBe(400);
  });
});
