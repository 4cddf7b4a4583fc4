/** What a task left behind, as peers get it: its answer as it was meant, and its files while they are what the runs left. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Artifact } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, request, said, taskIn } from '../../../test/support/a2a/peer.ts';
import { ALICE, served } from '../../../test/support/a2a/served.ts';
import { eventList, ROOT, SESSION, started } from '../../../test/support/event-list.ts';
import { sdkServer } from '../../../test/support/peers/sdk-server.ts';
import { limits } from '../../base/limits.ts';
import { createRedactor } from '../../base/secrets/redact.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { foldTasks, initialTasks, taskOfRun } from '../../projections/tasks/tasks.ts';
import { artifactsOut } from './artifacts-out.ts';

let folder = '';
let workspace = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-left-'));
  workspace = join(folder, 'work');
  await mkdir(workspace);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const hash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

const { text: redact } = createRedactor([{ name: 'DB_PASSWORD', value: 'blue-4711-Xy!harbour' }]);

interface Left {
  readonly items?: Payloads['artifact.manifest']['items'];
  readonly report?: Payloads['run.ended']['report'];
  readonly status?: Payloads['run.ended']['status'];
}

/** What peers get of a task that ended so. */
async function leftBy({ items = [], report = { format: 'text', body: 'Done.' }, status = 'completed' }: Left) {
  const list = eventList();
  list.add('session.started', { workspace });
  started(list, 'maker');
  list.add('artifact.manifest', { items });
  list.add('run.ended', { status, report, finalAgent: 'maker', verification: { state: 'unchecked' } });
  const task = taskOfRun(list.events.reduce(foldTasks, initialTasks()), ROOT);
  if (task === undefined) throw new Error('There is no task');
  const asked = { message: 'm1', digest: 'd' };
  const found = { id: ROOT, run: ROOT, session: SESSION, agent: 'maker', context: 'talk', asked, by: 'alice' };
  return await artifactsOut(
    { ledger: { read: async () => list.events } as never, artifacts: undefined as never, redact },
    task,
    found,
  );
}

/** A file as it was left. */
async function left(path: string, content: string | Uint8Array) {
  await writeFile(join(workspace, path), content);
  return { path, sha256: hash(content) };
}

/** In short: what it is called, and of its one part the name, the type and what is in it. */
const shown = ({ name, parts }: Artifact) => {
  expect(parts).toHaveLength(1);
  const [{ filename, mediaType, content } = { filename: '', mediaType: '', content: undefined }] = parts;
  return [name, filename, mediaType, content?.$case, content?.value];
};

describe('the answer', () => {
  it.each([
    ['json', '{"lights":[1,2]}', ['result', '', 'application/json', 'data', { lights: [1, 2] }]],
    ['json', '{"lights":', ['result', '', 'text/plain', 'text', '{"lights":']],
    ['text', '{"lights":1}', ['result', '', 'text/plain', 'text', '{"lights":1}']],
    ['markdown', '# On', ['result', '', 'text/markdown', 'text', '# On']],
  ] as const)('in %s is what it is: %s', async (format, body, as) => {
    expect((await leftBy({ report: { format, body } })).map(shown)).toEqual([as]);
  });

  it('of a task that failed is none, and its files are there', async () => {
    const item = await left('half.txt', 'half');
    const came = await leftBy({ status: 'failed', items: [item] });
    expect(came.map(({ name }) => name)).toEqual(['half.txt']);
  });
});

describe('a file that a run left', () => {
  const binary = Uint8Array.from([0, 255, 1, 254]);
  it('comes with its bytes, its name, its type and its hash', async () => {
    const items = [await left('notes.md', 'Grüße\n'), await left('bits.bin', binary)];
    const [, bits, notes, ...more] = await leftBy({ items });
    if (bits === undefined || notes === undefined) throw new Error('They are not there');
    expect(more).toEqual([]);
    expect(shown(bits)).toEqual(['bits.bin', 'bits.bin', 'application/octet-stream', 'raw', Buffer.from(binary)]);
    expect(shown(notes)).toEqual(['notes.md', 'notes.md', 'text/plain', 'raw', Buffer.from('Grüße\n')]);
    expect(notes.metadata).toEqual({ path: 'notes.md', sha256: hash('Grüße\n') });
    // Of the same file the same id, whoever looks and whenever.
    const [, same] = await leftBy({ items: items.slice(0, 1) });
    expect(same?.artifactId).toBe(notes.artifactId);
    expect(bits.artifactId).not.toBe(notes.artifactId);
  });

  const about = (path: string, sha256: string | null, why: unknown) => ['application/json', 'data', { path, sha256, why }];
  it.each([
    ['deleted by the run', { path: 'gone.txt', sha256: null }, 'The run deleted this file'],
    ['removed since', { path: 'missing.txt', sha256: hash('x') }, 'The file does not exist'],
    ['changed since', { path: 'changed.txt', sha256: hash('before') }, expect.stringContaining('has changed since the run')],
    ['outside', { path: '../outside.txt', sha256: hash('secret') }, expect.stringContaining('outside')],
    ['too large', { path: 'large.txt', sha256: hash('x') }, expect.stringContaining(`at most ${limits.resourceBytes}`)],
  ])('and that is %s comes as the reason why it does not', async (_how, item, why) => {
    await left('../outside.txt', 'secret');
    await left('changed.txt', 'after');
    await left('large.txt', Buffer.alloc(limits.resourceBytes + 1));
    const [, file] = await leftBy({ items: [item] });
    expect(file === undefined ? [] : shown(file).slice(2)).toEqual(about(item.path, item.sha256, why));
  });

  const key = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD';
  it.each([
    ['holds a key', 'settings.conf', `A=1\nKEY=${key}\n`, 'looks like a secret'],
    ['holds a value of our own', 'db.ini', 'pw: blue-4711-Xy!harbour\n', 'looks like a secret'],
    ['holds a key among bytes', 'dump.bin', Buffer.concat([Buffer.of(0, 255, 254), Buffer.from(key)]), 'looks like a secret'],
    ['holds a key in letters of two bytes', 'wide.txt', Buffer.from(key, 'utf16le'), 'looks like a secret'],
    ['is called like one that does', 'deploy.pem', 'nothing\n', 'may hold secrets'],
    ['is called so in another case', 'ID_RSA', 'nothing\n', 'may hold secrets'],
  ])('and that %s comes as the reason why it does not', async (_how, path, content, why) => {
    const [, file] = await leftBy({ items: [await left(path, content)] });
    expect(file === undefined ? [] : shown(file).slice(2)).toEqual(about(path, hash(content), expect.stringContaining(why)));
  });

  it('comes while there is room for it: the bytes of all together are bounded', async () => {
    const rest = 10;
    const items = [
      await left('a.bin', Buffer.alloc(limits.resourceBytes - rest)),
      await left('b.txt', 'x'.repeat(rest + 1)),
      await left('c.txt', 'x'.repeat(rest)),
    ];
    const [, first, second, third] = await leftBy({ items });
    const kinds = [first, second, third].map((file) => file?.parts[0]?.content?.$case);
    expect(kinds).toEqual(['raw', 'data', 'raw']);
    expect(second?.parts[0]?.content?.value).toMatchObject({ why: expect.stringContaining('(resourceBytes)') });
  });

  it.each([0, 3])('comes as one of at most so many, and %i more are said to be left out', async (more) => {
    const names = Array.from({ length: limits.a2aFilesPerTask + more }, (_, index) => `n${String(index).padStart(3, '0')}.txt`);
    const items = await Promise.all(names.map((name) => left(name, name)));
    const [, ...files] = await leftBy({ items });
    const whole = files.filter(({ parts }) => parts[0]?.content?.$case === 'raw');
    expect(whole.map(({ name }) => name)).toEqual(names.slice(0, limits.a2aFilesPerTask));
    expect(files.slice(whole.length).map(({ parts }) => parts[0]?.content?.value)).toEqual(
      more === 0 ? [] : [{ leftOut: more, why: expect.stringContaining('(a2aFilesPerTask)') }],
    );
  });
});

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('over %s', (binding) => {
  it('a file that a run wrote is an artifact, asked for or streamed', async () => {
    await using server = await served({
      agents: { maker: 'description: Makes files\ntools: [write]\nisolation: inline\na2a: true' },
      settings: 'permissions: { "*": allow }\n',
      play: ({ toolResults, body }) => {
        const path = JSON.stringify(body).includes('Once more.') ? 'again.txt' : 'out.txt';
        return toolResults === 0 ? { calls: [{ name: 'write', input: { path, content: 'Made.\n' } }] } : { text: 'Done.' };
      },
    });
    const file = (name: string) => [name, name, 'text/plain', 'raw', Buffer.from('Made.\n')];
    const client = await server.client(ALICE, binding);
    const task = taskIn(await client.sendMessage(request(said('Make it.'))));
    expect(task.artifacts.map(shown)).toEqual([['result', '', 'text/markdown', 'text', 'Done.'], file('out.txt')]);
    const updates = await collect(client.sendMessageStream(request(said('Once more.'))));
    const streamed = updates.flatMap(({ payload }) => (payload?.$case === 'artifactUpdate' ? [payload.value.artifact] : []));
    expect(streamed.flatMap((one) => (one?.name === 'again.txt' ? [shown(one)] : []))).toEqual([file('again.txt')]);
    expect(server.errors).toEqual([]);
  });

  it('a file that an agent elsewhere made for the task is an artifact, also when that one is gone', async () => {
    const far = await sdkServer();
    await using server = await served({
      agents: { far: `a2a: "${far.card}"` },
      settings: 'a2a: { agents: [far] }\n',
    });
    const client = await server.client(ALICE, binding);
    const { id } = taskIn(await client.sendMessage(request(said('file'))));
    await far[Symbol.asyncDispose]();
    const { artifacts } = await client.getTask({ tenant: '', id });
    const [answer, map, ...more] = artifacts.map(shown);
    expect(answer?.at(-1)).toMatch(/^Here it is\.\n\[file map\.bin, .*, 5 bytes, kept as artifact:\/\/docs\/map\.bin\]$/);
    expect([map, ...more]).toEqual([['map.bin', 'map.bin', 'application/octet-stream', 'raw', Buffer.from([0, 255, 1, 254, 7])]]);
    expect(artifacts[1]?.metadata).toMatchObject({ ref: 'artifact://docs/map.bin', madeBy: 'far' });
    expect(server.errors).toEqual([]);
  });
});
