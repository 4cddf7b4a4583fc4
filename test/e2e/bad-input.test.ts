/**
 * What somebody may give to forks, replays, tests, queries and imports that nothing can be made of: each is refused in words,
 * with what to do, nothing is left half done, and the ledger is as it was.
 */
import { mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { tarEnd, tarHeader, tarPadding } from '../../src/bundles/tar.ts';
import { createTestProject, expectErrorObject, type TestProject } from './support-project.ts';

const AGENT = '---\nname: helper\ntools: [read, write, ask]\npermissions: { "*": allow }\n---\nYou help.\n';
const MIB = 1024 * 1024;

/** With a run of two turns. */
async function worked(): Promise<TestProject> {
  const project = await createTestProject('', AGENT);
  await project.script({ toolCalls: [{ name: 'write', input: { path: 'new.txt', content: 'x\n' } }] }, { text: 'Done.' });
  expect(await project.look('run', 'helper', 'Write.', '--quiet')).toMatchObject({ code: 0 });
  return project;
}

/** What was given, the code of the error, and what it says. */
type Row = readonly [args: readonly string[], code: string, says: RegExp];

/** Each is refused as the row says; afterwards everything is as it was. */
async function refuses(project: TestProject, rows: readonly Row[]): Promise<void> {
  const seen = async () => [(await project.look('ledger', 'stats', '--json')).out, (await readdir(project.folder)).toSorted()];
  const before = await seen();
  for (const [args, code, says] of rows) {
    const refused = await project.look(...args, '--json');
    const given = args.map((word) => word.slice(0, 80)).join(' ');
    expect([given, refused.code === 0], refused.out).toEqual([given, false]);
    expectErrorObject(refused, code);
    expect(refused.out, given).toMatch(says);
    expect(refused.out + refused.err, given).not.toMatch(/\n\s+at .*\(.*:\d+:\d+\)/);
  }
  expect(await seen()).toEqual(before);
  expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0 });
}

it('a fork where there is no place, or with what nothing can be made of', async () => {
  await using project = await worked();
  await writeFile(join(project.folder, 'file.txt'), 'x');
  const fork = (...more: readonly string[]): readonly string[] => ['fork', 'last', ...more];
  await refuses(project, [
    [fork('--at', '0'), 'fork_place', /before the start/],
    [fork('--at', '-3'), 'fork_place', /before the start/],
    [fork('--at', '4000'), 'fork_place', /behind the end/],
    [fork('--at', '99999999999999999999'), 'fork_place', /behind the end/],
    [fork('--at', '1e3'), 'fork_place', /There is no 1e3/],
    [fork('--at', ' '), 'fork_place', /name one of these/],
    [fork('--at', 'turn 9'), 'fork_place', /start, turn 1/],
    [fork('--at', 'turn 0'), 'fork_place', /has no turn 0/],
    [fork('--at', 'turn/9/tool/0'), 'fork_place', /name one of these/],
    [fork('--at', '../../etc/passwd'), 'fork_place', /name one of these/],
    [fork('--at', 'ses_01kf2x9m3b7d9ta4vw0x.3'), 'fork_place', /another session/],
    [fork('--at', 'x'.repeat(10_000)), 'fork_place', /name one of these/],
    [fork('--at', 'turn 1', '--set', 'prompt=Else.'), 'fork_set', /--at start/],
    [fork('--at', 'start', '--set', 'result=none'), 'fork_set', /the nearest are/],
    [fork('--set', 'answer=yes'), 'fork_set', /none in this session/],
    [fork('--set', 'answer=yes', '--set', 'result=x'), 'fork_set', /one answer or one result/],
    [fork('--set', `prompt=${'x'.repeat(limits.promptBytes + 1)}`), 'usage', /promptBytes/],
    [fork('--set', 'agent=none.md'), 'usage', /none\.md/],
    [fork('--set', 'agent=file.txt'), 'unknown_agent', /file\.txt/],
    [fork('--in', 'none'), 'usage', /none/],
    [fork('--in', 'file.txt'), 'usage', /file\.txt/],
    [['fork', 'run_01kf2x9m3b7d9ta4vw0x'], 'unknown_run', /run_01kf2x9m3b7d9ta4vw0x/],
    [['fork', 'last; rm -rf /'], 'unknown_run', /last; rm/],
  ]);
});

it('SQL that writes, reaches out of the tables, or does not come to an end', async () => {
  await using project = await worked();
  const query = (sql: string, ...more: readonly string[]): readonly string[] => ['query', sql, ...more];
  const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n';
  await refuses(project, [
    [query("WITH a AS (SELECT 1) INSERT INTO runs (run) SELECT 'x' FROM a"), 'usage', /Only SELECT/],
    [query(`ATTACH '${join(project.folder, '.troupe/ledger.db')}' AS own`), 'usage', /Only SELECT/],
    [query(`VACUUM INTO '${join(project.folder, 'copy.db')}'`), 'usage', /Only SELECT/],
    [query(endless, '--timeout', '1s'), 'query_time', /1\s?s/],
    [query('SELECT count(*) FROM runs', '--timeout', 'for ever'), 'usage', /timeout/],
    [query(''), 'usage', /empty/],
  ]);
});

describe('a replay, a fork, a test and a bundle', () => {
  /** What model answers say, destroyed in one way or another. */
  const destroyed = [
    ['gone', 'DELETE FROM payload WHERE id IN (SELECT payload FROM event WHERE type = ?)'],
    ['cut off', 'UPDATE payload SET body = substr(body, 1, 9) WHERE id IN (SELECT payload FROM event WHERE type = ?)'],
  ] as const;
  it.each(destroyed)('of a run of which a payload is %s', async (_how, sql) => {
    await using project = await worked();
    const database = new DatabaseSync(join(project.folder, '.troupe/ledger.db'));
    database.prepare(sql).run('model.response');
    database.close();
    const before = (await readdir(project.folder)).toSorted();
    for (const args of [
      ['replay', 'last'],
      ['fork', 'last', '--no-run'],
      ['test', 'add', 'last', '--frozen', '--name', 'kept'],
      ['diff', 'last', 'last'],
      ['export', 'last', '--bundle', '-o', 'a.tar'],
    ]) {
      const refused = await project.look(...args);
      expect([args, refused.code === 0], refused.out).toEqual([args, false]);
      expect(refused.out + refused.err, args.join(' ')).toMatch(/ledger|payload|record/);
      expect(refused.out + refused.err, args.join(' ')).not.toMatch(/\n\s+at .*\(.*:\d+:\d+\)/);
    }
    expect((await readdir(project.folder)).toSorted()).toEqual(before);
  });
});

it('tests of a newer version, and what is no test', async () => {
  await using project = await worked();
  const test = 'agent: helper\nprompt: Go.\n';
  for (const [content, says] of [
    [`version: 99\n${test}`, /newer version/],
    [`version: yes\n${test}`, /version/],
    [`${test}colour: red\n`, /colour/],
    ['agent: [', /YAML/],
    ['\0\0\0', /kept/],
    [`agent: helper\n`, /prompt/],
  ] as const) {
    await project.write('tests/kept.yaml', content);
    const refused = await project.look('test', '--json');
    expect([content, refused.code]).toEqual([content, 2]);
    expect(refused.out + refused.err, content).toMatch(says);
  }
});

it('transcripts that are cut, endless, or somebody else’s files', async () => {
  await using project = await worked();
  const line = (type: string, payload: object): string =>
    JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', type, payload });
  const whole = [
    line('session_meta', { id: 'cut', cwd: '/project', cli_version: '1' }),
    line('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look.' }] }),
    line('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I looked.' }] }),
  ].join('\n');
  await project.write('zeros.jsonl', '');
  // A hole: it takes no room on the disk, and is read as so many zeros.
  await truncate(join(project.folder, 'zeros.jsonl'), 500 * MIB);
  await project.write('begun.jsonl', whole.slice(0, 60));
  await mkdir(join(project.folder, 'folder.jsonl'));
  await symlink('loop.jsonl', join(project.folder, 'loop.jsonl'));
  await refuses(project, [
    [['import', 'zeros.jsonl'], 'transcript_unknown', /no transcript of/],
    [['import', 'begun.jsonl'], 'transcript_unknown', /no transcript of/],
    [['import', 'loop.jsonl'], 'transcript_missing', /loop\.jsonl/],
    [['import', 'none.jsonl'], 'transcript_missing', /is not there/],
  ]);
  await project.write('cut.jsonl', whole.slice(0, -20));
  const cut = await project.look('import', 'cut.jsonl');
  expect(cut).toMatchObject({ code: 0, err: expect.stringContaining('records kept as they stood there') });
  expect((await project.look('logs', 'last', '--jsonl')).out).toContain('cut off');
  expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0 });
});

it('bundles that lead out of their folder, are cut, changed or no bundles', async () => {
  await using project = await worked();
  const entry = (name: string, body: string): Buffer =>
    Buffer.concat([tarHeader(name, body.length), Buffer.from(body), tarPadding(body.length)]);
  const file = join(project.folder, 'good.tar');
  expect(await project.look('export', 'last', '--bundle', '-o', file)).toMatchObject({ code: 0 });
  const good = await readFile(file);
  const changed = Buffer.from(good);
  const at = changed.indexOf('You help.');
  changed.write('You harm.', at);
  const link = Buffer.from(good);
  link.write('2', 156);
  const sum = Number.parseInt(good.toString('latin1', 148, 154), 8) + 2;
  link.write(sum.toString(8).padStart(6, '0'), 148);
  const bad: readonly (readonly [string, Buffer, RegExp])[] = [
    ['out.tar', Buffer.concat([entry('../../evil.md', 'x'), tarEnd()]), /\.\.\/\.\.\/evil\.md/],
    ['root.tar', Buffer.concat([entry('/etc/evil', 'x'), tarEnd()]), /\/etc\/evil/],
    ['behind.tar', Buffer.concat([good, entry('../evil', 'x')]), /follows|behind|end/],
    ['link.tar', link, /link|plain file|no place/],
    ['changed.tar', changed, /checksum|chain|broken/],
    ['cut.tar', good.subarray(0, good.length >> 1), /before its end|cut off|ends|in /],
  ];
  for (const [name, bytes] of bad) await project.write(name, bytes);
  await project.write('empty.tar', '');
  await refuses(project, [
    ...bad.flatMap(([name, , says]): Row[] => [
      [['import', name], 'bundle_bad', says],
      [['import', name, '--check'], 'bundle_bad', says],
    ]),
    [['import', 'empty.tar'], 'transcript_unknown', /empty\.tar/],
  ]);
});
