/** The command line on a ledger in Postgres: the same commands, moving a ledger there, and no password anywhere. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/json.ts';
import { type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';
import { createTestProject, type Ended } from './support-project.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

function json({ out }: Ended): JsonObject {
  const parsed = parseJson(out);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error(`not an object: ${out}`);
  return parsed.value;
}

it('runs, shows, verifies and copies as it does in a file', async () => {
  await using project = await createTestProject();
  await project.script({ text: 'Hello there.' });
  const all: Ended[] = [];
  const troupe = async (...args: readonly string[]): Promise<Ended> => {
    const ended = await project.troupe(...args);
    all.push(ended);
    return ended;
  };
  expect(await troupe('run', 'helper', 'in the file')).toMatchObject({ code: 0 });
  const url = server.address('cli');
  const copied = await troupe('ledger', 'copy', 'sqlite:.troupe/ledger.db', url, '--json');
  expect(json(copied)).toMatchObject({ sessions: 1, verified: { kind: 'sound' } });

  project.env['TROUPE_LEDGER'] = url;
  const ran = await troupe('run', 'helper', 'on the server');
  expect(ran).toMatchObject({ code: 0, out: 'Hello there.\n' });
  expect(ran.err).toContain('postgres://tester@127.0.0.1');
  expect((await troupe('ps', '--all')).out.match(/helper/g)).toHaveLength(2);
  expect(json(await troupe('show', 'last', '--json'))).toMatchObject({ ledger: expect.stringContaining('postgres://tester@') });
  expect(json(await troupe('ledger', 'stats', '--json'))).toMatchObject({ sessions: 2, runs: 2 });
  expect(await troupe('ledger', 'verify')).toMatchObject({ code: 0, out: expect.stringContaining('sound') });
  expect((await troupe('doctor')).out).toMatch(/ok +ledger: .* in 2 sessions at postgres:/);
  expect((await troupe('query', 'SELECT count(*) AS n, sum(output_tokens > 0) AS counted FROM turns', '--csv')).out).toBe(
    'n,counted\n2,2\n',
  );
  const back = await troupe('ledger', 'copy', url, 'sqlite:back.db');
  expect(back).toMatchObject({ code: 0, out: expect.stringMatching(/of 2 sessions to .*sound/) });
  expect(readdirSync(join(project.folder, '.troupe')).some((name) => name.includes('postgres'))).toBe(false);

  project.env['TROUPE_LEDGER'] = url.replace(`:${server.port}/`, ':1/');
  const gone = await troupe('ps');
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('Start the server') });
  const printed = all.map(({ out, err }) => out + err).join('');
  expect(printed).not.toContain('a-password-of-tests');
});

it('plays again, forks, compares, gives out, takes in, collects and forgets as it does in a file', async () => {
  await using project = await createTestProject('permissions: { write: allow }\nretention: { events: { tool.result: 1ms } }\n');
  project.env['TROUPE_LEDGER'] = server.address('later');
  await project.script({ toolCalls: [{ name: 'write', input: { path: 'out.txt', content: 'zebra\n' } }] }, { text: 'Written.' });
  const look = async (code: number, ...args: readonly string[]): Promise<string> => {
    const ended = await project.look(...args);
    expect(ended.code, `${args.join(' ')}: ${ended.err}`).toBe(code);
    return `${ended.out}\n${ended.err}`;
  };
  await look(0, 'run', 'helper', 'Write it.', '--quiet');
  const [{ session = '' } = {}] = JSON.parse((await project.look('sessions', '--json')).out) as { session?: string }[];
  expect(await look(0, 'replay', session)).toContain('came to the same');
  expect(await look(0, 'fork', session, '--at', 'turn 1', '--quiet')).toContain('Written.');
  expect(await look(0, 'replay', 'last')).toContain('came to the same');
  expect(await look(0, 'diff', session, 'last', '--exit-code')).toContain('They are the same');
  expect(await look(0, 'blame', 'out.txt:1')).toContain('helper, turn 1');
  await look(0, 'test', 'add', session, '--name', 'kept', '--frozen');
  expect(await look(0, 'test', 'kept')).toContain('✓ kept');
  for (const [sql, why, more] of [
    ['UPDATE runs SET agent = 1', 'Only SELECT can be asked', []],
    ['WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n', 'queryMs', ['--timeout', '1s']],
  ] as const)
    expect(await look(2, 'query', sql, ...more)).toContain(why);
  await look(0, 'export', session, '--bundle', '-o', 'out.tar');
  project.env['TROUPE_LEDGER'] = server.address('elsewhere');
  expect(await look(0, 'import', 'out.tar')).toMatch(/imported: \d+ events/);
  expect(await look(0, 'replay', 'last')).toContain('came to the same');
  project.env['TROUPE_LEDGER'] = server.address('later');
  expect(await look(0, 'ledger', 'gc', '--yes')).toMatch(/and 2 events of others/);
  expect(await look(2, 'replay', session)).toContain('was forgotten at');
  expect(await look(0, 'forget', session, '--yes')).toMatch(/^forgotten: \d+ events/m);
  expect(await look(0, 'ledger', 'verify')).toMatch(/sound: .* forgotten/);
});
