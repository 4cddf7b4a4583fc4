/**
 * `troupe replay` as it is called: what it says and how it ends, that it reaches nothing and changes nothing, and what becomes of
 * records that are not whole.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { createTestProject, expectErrorObject, objectIn, type TestProject } from './support-project.ts';

const AGENT = '---\nname: helper\ntools: [read, write, shell, ask]\npermissions: { "*": allow }\n---\nYou help.\n';
const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });

/** Has read, written and run something, and reported what it found. */
async function played(): Promise<TestProject> {
  const project = await createTestProject('', AGENT);
  await project.write('notes.txt', 'a quince\n');
  await project.serve(
    { calls: [{ name: 'read', input: { path: 'notes.txt' } }] },
    { calls: [{ name: 'write', input: { path: 'new.txt', content: 'x\n'.repeat(60_000) } }] },
    { calls: [{ name: 'shell', input: { command: 'cat new.txt >> count; cat new.txt' } }] },
    { text: 'A quince, and many lines.' },
  );
  expect(await project.look('run', 'helper', 'Go.', '--quiet')).toMatchObject({ code: 0 });
  return project;
}

/** Every file below the folder with what is in it, but for what SQLite keeps only while the ledger is open. */
async function bytesIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const kept = files.filter((file) => file.isFile() && !file.name.endsWith('-shm'));
  const entries = kept.map(async ({ parentPath, name }) => {
    const bytes = await readFile(join(parentPath, name));
    return [join(parentPath, name), createHash('sha256').update(bytes).digest('hex')] as const;
  });
  return Object.fromEntries((await Promise.all(entries)).filter(([path]) => !path.endsWith('-wal')));
}

it('needs no model, no key, no network, no file and no agent, and changes no byte', async () => {
  await using project = await played();
  const asked = (await project.serve({ text: 'Nobody asked me.' })).requests;
  for (const name of Object.keys(project.env).filter((one) => /KEY|URL|MODEL|HOST/.test(one))) delete project.env[name];
  await rm(join(project.folder, 'agents'), { recursive: true });
  for (const name of ['notes.txt', 'new.txt', 'count', 'troupe.yaml']) await rm(join(project.folder, name));
  const before = await bytesIn(project.folder);
  // With nothing to reach but itself: a network namespace of its own, where that is allowed.
  const alone = await project.start(['replay', 'last'], { through: ['unshare', '--user', '--map-root-user', '--net'] }).ended;
  const replayed = /unshare/.test(alone.err) ? await project.troupe('replay', 'last') : alone;
  expect(replayed).toMatchObject({ code: 0, err: '' });
  expect(replayed.out).toMatch(/^Run \w{6} came to the same: 1 run, \d+ events compared\.\n$/);
  const told = objectIn((await project.troupe('replay', 'last', '--json')).out);
  expect(told).toMatchObject({ kind: 'identical', runs: 1, status: 'completed', events: expect.any(Number) });
  expect(await bytesIn(project.folder)).toEqual(before);
  expect(asked).toEqual([]);
});

/** In the file itself, as nobody does who uses it as it is meant. */
function changed(project: TestProject, sql: string): void {
  const database = new DatabaseSync(join(project.folder, '.troupe', 'ledger.db'));
  const { changes } = database.prepare(sql).run();
  database.close();
  expect(Number(changes)).toBe(1);
}

it('names the first difference, with both sides, and ends with 1', async () => {
  await using project = await played();
  changed(project, "UPDATE event SET step = 'turn/1/tool/7' WHERE type = 'tool.result' AND step = 'turn/1/tool/0'");
  const text = await project.look('replay', 'last');
  expect(text.code).toBe(1);
  expect(text.out).toMatch(
    /^The first difference: .*helper, run \w{6}, (behind )?event \d+: .*\n {2}recorded: .*\n {2}now {5}: .*\n$/,
  );
  const told = await project.look('replay', 'last', '--json');
  expect([told.code, objectIn(told.out)]).toMatchObject([1, { kind: 'different', first: { agent: 'helper' } }]);
  changed(project, "UPDATE event SET step = 'turn/1/tool/0' WHERE type = 'tool.result' AND step = 'turn/1/tool/7'");
});

it('of a run that has not ended, or that is not there, says so', async () => {
  await using project = await createTestProject('', AGENT);
  await project.script(call('ask', { question: 'Which?' }));
  expect((await project.look('run', 'helper', 'Go.')).code).toBe(5);
  const open = await project.look('replay', 'last', '--json');
  expectErrorObject(open, 'not_ended');
  expect(open.code).not.toBe(0);
  expect((await project.look('replay', 'last')).err).toMatch(/has not ended \(waiting\)[\s\S]*troupe show/);
  const nowhere = await project.look('replay', 'zzzzzz', '--json');
  expect(nowhere.code).toBe(2);
});

it('of a run whose payload is lost names what is broken', async () => {
  await using project = await played();
  const payloads = join(project.folder, '.troupe', 'ledger.db-payloads');
  const away = join(project.folder, 'away');
  await rename(payloads, away);
  const refused = async (why: RegExp): Promise<void> => {
    const lost = await project.look('replay', 'last', '--json');
    expect(lost.code).not.toBe(0);
    expect(objectIn(lost.out)).toMatchObject({ error: { code: expect.any(String), message: expect.stringMatching(why) } });
  };
  await refused(/cannot be read whole/);
  await rename(away, payloads);
  expect((await project.look('replay', 'last')).code).toBe(0);
});

it('of a run in whose record somebody has put other words shows them, and the chain says that they are forged', async () => {
  await using project = await played();
  const put = (one: string, other: string): void =>
    changed(project, `UPDATE payload SET body = replace(body, '${one}', '${other}') WHERE body LIKE '%"message":%${one}%'`);
  put('A quince', 'A medlar');
  const told = await project.look('replay', 'last', '--json');
  expect([told.code, objectIn(told.out)]).toMatchObject([
    1,
    { kind: 'different', first: { type: 'run.ended', path: 'report.body', now: 'A medlar, and many lines.' } },
  ]);
  expect((await project.look('ledger', 'verify')).code).toBe(1);
  put('A medlar', 'A quince');
});

it('of a session that was collected says that it is gone', async () => {
  await using project = await played();
  expect((await project.look('ledger', 'gc', '--older-than', '0s', '--yes')).code).toBe(0);
  const gone = await project.look('replay', 'last', '--json');
  expect(gone.code).not.toBe(0);
  expect(gone.out).toMatch(/collected|cannot be read whole/);
});

it('of events of a newer version names it', async () => {
  await using project = await played();
  changed(project, "UPDATE event SET version = 99 WHERE type = 'run.ended'");
  const newer = await project.look('replay', 'last', '--json');
  expect(newer.code).not.toBe(0);
  expect(newer.out).toMatch(/newer version/);
});
