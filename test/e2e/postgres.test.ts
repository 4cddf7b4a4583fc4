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
