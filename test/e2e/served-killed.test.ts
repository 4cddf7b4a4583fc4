/**
 * A server that is killed with kill -9 while many read its streams and a prompt waits: everybody who comes back to the next one
 * ends with exactly the ledger, what waited is worked on, and the token of the owner stands in nothing that was said or kept.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { present } from '../../src/base/present.ts';
import { type Listener, listenTo } from '../support/http/sse.ts';
import { agentWith, createTestProject, type TestProject } from './support-project.ts';

const TOKEN = 'owner-token-0123456789abcdef';
const READERS = 24;

async function serve(project: TestProject) {
  const serving = project.start(['serve', '--port', '0']);
  await serving.says('HTTP API:');
  const { origin } = new URL((await project.look('console')).out.trim());
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const ask = (path: string, more: RequestInit = {}): Promise<Response> =>
    fetch(new URL(`/api/v1/${path}`, origin), { ...more, headers: { ...headers, ...more.headers } });
  const post = async <Value>(path: string, body: object = {}): Promise<Value> =>
    (await (await ask(path, { method: 'POST', body: JSON.stringify(body) })).json()) as Value;
  return { serving, ask, post };
}

type Served = Awaited<ReturnType<typeof serve>>;

/** Comes back with the last id that it has, as a browser does. */
async function read({ ask }: Served, session: string, before: Listener | undefined): Promise<Listener> {
  const headers: Record<string, string> = present({ 'last-event-id': before?.lastId() });
  return listenTo(await ask(`sessions/${session}/stream?payloads=all&deltas=no`, { headers }));
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

it('whoever reads a server that is killed ends with exactly the ledger, and what waited is worked on', async () => {
  await using project = await createTestProject('', agentWith('tools: [shell]\npermissions: { shell: allow }'));
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  const model = await project.serve(
    { calls: [{ name: 'shell', input: { command: 'echo once >> made.txt' } }] },
    // The one that nobody hears any more, and what is asked again.
    () => isLetGo.then(() => ({ text: 'First.' })),
    () => isLetGo.then(() => ({ text: 'First.' })),
    { text: 'Second.' },
  );
  project.env['TROUPE_TOKEN'] = TOKEN;
  const first = await serve(project);
  const { session } = await first.post<{ session: string }>('runs', { agent: 'helper', prompt: 'Make it.' });
  const readers: Listener[] = [];
  for (let index = 0; index < READERS; index += 1) readers.push(await read(first, session, undefined));
  await expect.poll(() => model.requests.length).toBe(2);
  expect(await first.post(`sessions/${session}/prompts`, { text: 'And then.' })).toMatchObject({ outcome: 'queued', before: 1 });
  // Refused, and not found: what is said of it must not have the token either.
  expect((await first.ask(`nothing?token=${TOKEN}`)).status).toBe(404);
  await expect.poll(() => Math.min(...readers.map((one) => one.events().length))).toBeGreaterThan(3);
  first.serving.kill('SIGKILL');
  const { out, err } = await first.serving.ended;
  await Promise.all(readers.map(({ ended }) => ended));
  letGo();
  const second = await serve(project);
  const again: Listener[] = [];
  for (const reader of readers) again.push(await read(second, session, reader));
  const ends = async (): Promise<number> => {
    const { events } = (await (await second.ask(`sessions/${session}/events?limit=1000&payloads=all`)).json()) as {
      events: { event_type: string; run_id: string; payload: { report?: { body: string } } }[];
    };
    return events.filter(({ event_type }) => event_type === 'run.ended').length;
  };
  await expect.poll(ends).toBe(2);
  expect(await readFile(join(project.folder, 'made.txt'), 'utf8')).toBe('once\n');
  const page = await (await second.ask(`sessions/${session}/events?limit=1000&payloads=all`)).text();
  const { events } = JSON.parse(page) as { events: object[] };
  const whole = events.map((event) => JSON.stringify(event));
  for (const [index, reader] of readers.entries()) {
    const all = () => [...reader.events(), ...(again[index]?.events() ?? [])];
    await expect.poll(() => all().length).toBe(whole.length);
    expect(all().map((text) => JSON.stringify(JSON.parse(text)))).toEqual(whole);
  }
  second.serving.kill('SIGTERM');
  const last = await second.serving.ended;
  for (const said of [out, err, last.out, last.err]) expect(said).not.toContain(TOKEN);
  const kept = await filesBelow(project.folder);
  expect(kept.length).toBeGreaterThan(3);
  for (const file of kept) expect([file, (await readFile(file)).includes(TOKEN)]).toEqual([file, false]);
  expect((await project.look('ledger', 'verify')).code).toBe(0);
});
