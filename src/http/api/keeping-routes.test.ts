/** Searching, what a request contained, tasks, executors and rules, over the API with a real engine behind it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendJson, startApi, tokenOf } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { agent, says } from '../../../test/support/world.ts';
import type { RunId } from '../../base/ids.ts';
import { exportPieces } from '../../cli/export/pieces.ts';
import { matchOf } from '../../front/search/search-index.ts';

const talker = agent({ name: 'talker', tools: [], permissions: {} });
const callers = { alice: { name: 'alice', sees: 'own' }, bob: { name: 'bob', sees: 'own' } } as const;
const serve = (): Promise<ServedWorld> => serveWorld({ brain: () => says('The answer: marmalade.'), agents: [talker], callers });

const read = async (world: ServedWorld, path: string, name?: string) => {
  const response = await world.ask(`/api/v1/${path}`, name === undefined ? {} : { token: tokenOf(name) });
  return { status: response.status, value: (await response.json()) as never };
};

async function ran(world: ServedWorld, prompt: string, name?: string): Promise<{ run: string; session: string }> {
  const token = name === undefined ? {} : { token: tokenOf(name) };
  const begun = await world.ask('/api/v1/runs', { ...sendJson({ agent: 'talker', prompt }), ...token });
  const started = (await begun.json()) as { run: string; session: string };
  await expect.poll(async () => (await world.ledger.runs({ run: started.run as RunId }))[0]?.state).toBe('completed');
  return started;
}

describe('searching', () => {
  it('finds words of all sessions that one may see, newest first, page by page, and follows what is new', async () => {
    await using world = await serve();
    const [one, two] = [
      await ran(world, 'Tell me of the purple Hippopotamus, please'),
      await ran(world, 'hippos again', 'alice'),
    ];
    type Found = { found: { session: string; text: string; type: string }[]; complete: boolean; next: number | null };
    const find = async (query: string, name?: string) =>
      (await read(world, `search?query=${encodeURIComponent(query)}`, name)).value as Found;
    expect(await find('purple hippo')).toMatchObject({ found: [{ session: one.session, type: 'run.started' }], complete: true });
    expect((await find('purple hippo')).found[0]?.text).toContain('Hippopotamus');
    expect((await find('hippo')).found.map(({ session }) => session)).toEqual([two.session, one.session]);
    expect((await find('hippo', 'alice')).found.map(({ session }) => session)).toEqual([two.session]);
    expect((await find('hippo', 'bob')).found).toEqual([]);
    const first = (await read(world, 'search?query=hippo&limit=1')).value as Found;
    expect(first.found).toHaveLength(1);
    expect((await read(world, `search?query=hippo&limit=1&before=${first.next}`)).value).toMatchObject({
      found: [{ session: one.session }],
    });
    expect((await find('marmalade')).found.length).toBeGreaterThan(1);
    const three = await ran(world, 'a zebra now');
    expect((await find('zebra')).found.map(({ session }) => session)).toEqual([three.session]);
    for (const query of ['"', 'AND', '*', 'NEAR(', 'purple -hippo', 'text:purple'])
      expect((await find(query)).complete).toBe(true);
    expect(existsSync(join(world.project.config.home, 'search.db'))).toBe(true);
    expect(world.errors).toEqual([]);
  });

  it('takes nothing of a query for an operator', () => {
    expect(matchOf('a "b OR c* (d')).toBe('"a" "b" "OR" "c" "d"*');
  });
});

describe('an export', () => {
  it('is the document of the command line, as a download, for whoever may see the session', async () => {
    await using world = await serve();
    const { run, session } = await ran(world, 'Say it, <b>please</b>.', 'alice');
    const get = async (path: string, name = 'alice') => {
      const response = await world.ask(`/api/v1/${path}`, { token: tokenOf(name) });
      return { status: response.status, kind: response.headers.get('content-disposition'), text: await response.text() };
    };
    const [row] = await world.ledger.runs({ run: run as RunId });
    if (row === undefined) throw new Error('it ran');
    for (const [format, ending] of [
      ['markdown', 'md'],
      ['print', 'html'],
      ['jsonl', 'jsonl'],
      ['html', 'html'],
      ['atif', 'atif.json'],
    ] as const) {
      for (const [path, extent] of [
        [`sessions/${session}`, { row, whole: true }],
        [`runs/${run}`, { row, whole: false }],
      ] as const) {
        const exported = await get(`${path}/export?format=${format}`);
        expect(exported).toMatchObject({ status: 200, kind: `attachment; filename="${path.split('/')[1]}.${ending}"` });
        expect(exported.text).toContain('The answer: marmalade.');
        // Of the file only the time of its making differs.
        let written = '';
        if (format !== 'html') for await (const piece of exportPieces(world.ledger, extent, format, 0)) written += piece;
        if (format !== 'html') expect(exported.text).toBe(written);
        expect((await get(`${path}/export?format=${format}`, 'bob')).status).toBe(404);
      }
    }
    expect((await get(`runs/${run}/export?format=pdf`)).status).toBe(400);
    // What a download cannot be is said before it begins.
    const damaged = { ...world.ledger, verify: async () => ({ kind: 'broken', why: 'at event 2', at: 2 }) as never };
    await using other = await startApi({
      ledger: { ...damaged, close: async () => undefined },
      more: { project: { ...world.project, ledger: damaged }, documents: exportPieces },
    });
    const refused = await other.ask(`/api/v1/sessions/${session}/export?format=html`);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('at event 2')]);
    expect(world.errors).toEqual([]);
  });
});

describe('what is kept', () => {
  it('is what a request contained, tasks, executors and rules', async () => {
    await using world = await serve();
    const { run, session } = await ran(world, 'What is it?');
    const context = await read(world, `runs/${run}/context`);
    expect(context).toMatchObject({
      value: {
        run,
        session,
        turn: 1,
        byOrigin: expect.arrayContaining([expect.objectContaining({ origin: 'input', parts: 1 })]),
      },
    });
    expect((await read(world, `runs/${run}/context?turn=9`)).status).toBe(404);
    expect(await read(world, 'tasks')).toMatchObject({ value: { tasks: [{ id: run, state: 'completed' }], next: null } });
    expect(await read(world, `tasks/${run}`)).toMatchObject({ value: { id: run, sessionId: session } });
    expect((await read(world, `tasks/${run}`, 'bob')).status).toBe(404);
    expect(await read(world, 'tasks', 'bob')).toMatchObject({ value: { tasks: [] } });
    const cancel = await world.ask(`/api/v1/tasks/${run}/cancel`, sendJson({}));
    expect(await cancel.json()).toEqual({ id: run, outcome: 'ended', live: false });
    const executors = (await read(world, 'executors')).value as { executors: { name: string }[] };
    expect(executors.executors.map(({ name }) => name)).toContain('claude-code');
    expect((await world.ask('/api/v1/executors/nobody/probe', sendJson({}))).status).toBe(404);
    await world.project.rules.add({ tool: 'shell', pattern: 'ls' });
    expect(await read(world, 'permissions')).toMatchObject({
      value: { rules: expect.arrayContaining([expect.objectContaining({ from: 'remembered', tool: 'shell', pattern: 'ls' })]) },
    });
    const removed = await world.ask('/api/v1/permissions/remove', sendJson({ tool: 'shell', pattern: 'ls' }));
    expect(await removed.json()).toMatchObject({ removed: [{ tool: 'shell', pattern: 'ls' }] });
    expect(world.project.rules.rules()).toEqual([]);
    expect(world.errors).toEqual([]);
  });
});

describe('an example', () => {
  it('is run once for a key', async () => {
    await using world = await serve();
    const run = async (key: string) => {
      const response = await world.ask('/api/v1/examples/fixer/runs', sendJson({}, { 'idempotency-key': key }));
      return (await response.json()) as { run: string; before: boolean };
    };
    const first = await run('e-1');
    expect(await run('e-1')).toEqual({ ...first, before: true });
    const roots = await world.ledger.runs({ roots: true });
    expect([first.before, roots.map(({ run: id }) => id)]).toEqual([false, [first.run]]);
    await expect.poll(async () => (await world.ledger.runs({ run: first.run as RunId }))[0]?.endedAt ?? null).not.toBeNull();
    expect(world.errors).toEqual([]);
  });
});
