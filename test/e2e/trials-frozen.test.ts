/** Runs kept with their answers: played again with the agents of the project as they are, without a key, wherever that is. */
import { cpSync, existsSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testReport } from '../../src/trials/report.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const HELPER =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of prompts.
  '---\nname: helper\ntools: [read, write, ask, shell]\nagents: [mate]\n---\nYou help in ${WORKSPACE} on ${DATE} at ${DATETIME}.\nBe kind.\n';
const RULES = 'permissions: { write: ask, shell: allow }\n';
const MATE = '---\nname: mate\ndescription: Looks.\n---\nYou look.\n';

async function project(): Promise<TestProject> {
  const at = await createTestProject(RULES, HELPER);
  await at.write('agents/mate.md', MATE);
  const replies = {
    helper: [
      { toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] },
      { toolCalls: [{ name: 'mate', input: { prompt: 'Look.', reason: 'to know' } }] },
      { toolCalls: [{ name: 'write', input: { path: 'a.txt', content: 'one\ntwo\n' } }] },
      { toolCalls: [{ name: 'shell', input: { command: 'pwd; echo sk-ant-api03-0123456789abcdef0123456789abcdef' } }] },
      { finalReport: 'It is done.' },
    ],
    mate: [{ text: 'I see nothing.' }],
  };
  await at.write('replies.yaml', JSON.stringify({ agents: replies }));
  at.env['TROUPE_MODEL'] = 'scripted:replies.yaml';
  await at.look('run', 'helper', 'Go.');
  await at.look('answer', 'last', 'the first');
  await at.look('approve', 'last');
  return at;
}

async function frozen(): Promise<TestProject> {
  const at = await project();
  const added = await at.look('test', 'add', 'last', '--name', 'kept', '--frozen', '--json');
  expect({ code: added.code, err: added.err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(added.out)).toMatchObject({ files: ['tests/kept.yaml', 'tests/kept.frozen.yaml'] });
  return at;
}

async function tested(at: TestProject, ...args: readonly string[]) {
  const { code, out, err } = await at.look('test', ...args, '--json');
  const report = testReport.parse(JSON.parse(out));
  const whys = report.tests.flatMap(({ trials }) => trials.flatMap(({ checks }) => checks.map(({ why }) => why)));
  return { code, report, err, why: whys.join('\n') };
}

const text = (at: TestProject, path: string): Promise<string> => readFile(join(at.folder, path), 'utf8');

describe('a run that is kept with its answers', () => {
  it('passes without its ledger, its key, its model and its place, and asks nobody', async () => {
    await using at = await frozen();
    const record = await text(at, 'tests/kept.frozen.yaml');
    for (const secret of ['sk-ant-api03-0123456789abcdef0123456789abcdef', at.folder]) expect(record).not.toContain(secret);
    await using elsewhere = await createTestProject(RULES, HELPER);
    for (const folder of ['agents', 'tests'])
      cpSync(join(at.folder, folder), join(elsewhere.folder, folder), { recursive: true });
    const { code, report, why } = await tested(elsewhere);
    expect({ code, why }).toEqual({ code: 0, why: '' });
    expect(report.tests[0]).toMatchObject({ name: 'kept', agent: 'helper', frozen: true, passed: true, passRate: 1 });
    expect(JSON.parse((await elsewhere.look('ps', '--all', '--json')).out)).toEqual([]);
    expect((await elsewhere.look('test')).out).toMatch(/^✓ kept \(helper\) over its answers\n/);
    expect(existsSync(join(elsewhere.folder, 'a.txt'))).toBe(false);
  });

  const changes: readonly (readonly [what: string, path: string, from: string, to: string, why: readonly string[]])[] = [
    ['its prompt', 'agents/helper.md', 'Be kind.', 'Be short.', ['of helper: system', '"Be kind."', '"Be short."']],
    ['its tools', 'agents/helper.md', ', shell', ', shell, list', ['session.config (setup) of helper', 'tools']],
    ['its limits', 'agents/helper.md', 'name: helper', 'name: helper\nmaxTurns: 9', ['definition.maxTurns', '9']],
    ['whom it may ask', 'agents/mate.md', 'Looks.', 'Sees.', ['of helper', 'Looks.', 'Sees.']],
    ['an agent below it', 'agents/mate.md', 'You look.', 'You stare.', ['of mate: system', '"You look."', '"You stare."']],
  ];
  it.each(changes)('fails when %s changed, naming both sides, until that is accepted', async (_what, path, from, to, parts) => {
    await using at = await frozen();
    await at.write(path, (await text(at, path)).replace(from, to));
    const { code, why } = await tested(at);
    expect(code).toBe(1);
    for (const part of parts) expect(why).toContain(part);
    const updated = await tested(at, '--update');
    expect({ code: updated.code, why: updated.why }).toEqual({ code: 0, why: '' });
    expect(updated.err).toContain('kept is brought up to date. The first difference: session.config');
    expect(updated.report.tests[0]).toMatchObject({ updated: true, passed: true });
    const again = await tested(at);
    expect({ code: again.code, why: again.why }).toEqual({ code: 0, why: '' });
    expect(again.report.tests[0]?.updated).toBeUndefined();
  });

  const gone: readonly (readonly [what: string, from: string, to: string])[] = [
    ['an agent that it asked', 'agents: [mate]\n', ''],
    ['a tool that it called', ', shell', ''],
    ['turns that it took', 'name: helper', 'name: helper\nmaxTurns: 2'],
  ];
  it.each(gone)('does not take for new behaviour what its answers do not carry: without %s', async (_what, from, to) => {
    await using at = await frozen();
    await at.write('agents/helper.md', HELPER.replace(from, to));
    const before = await text(at, 'tests/kept.frozen.yaml');
    const { code, why } = await tested(at, '--update');
    expect(code).toBe(1);
    expect(why).toContain('run it again, and keep that run');
    expect(await text(at, 'tests/kept.frozen.yaml')).toBe(before);
  });

  it('passes where somebody below it has failed', async () => {
    await using at = await createTestProject('', HELPER);
    await at.write('agents/mate.md', MATE.replace('Looks.', 'Looks.\nmaxTurns: 1\ntools: [read]'));
    const asked = { toolCalls: [{ name: 'mate', input: { prompt: 'Look.', reason: 'to know' } }] };
    const reads = { toolCalls: [{ name: 'read', input: { path: 'a.txt' } }] };
    const replies = { helper: [asked, { finalReport: 'It went wrong.' }], mate: [reads, reads, reads] };
    await at.write('replies.yaml', JSON.stringify({ agents: replies }));
    at.env['TROUPE_MODEL'] = 'scripted:replies.yaml';
    expect(await at.look('run', 'helper', 'Go.', '--quiet')).toMatchObject({ out: expect.stringContaining('It went wrong.') });
    expect(await at.look('replay', 'last')).toMatchObject({ code: 0 });
    expect(await at.look('test', 'add', 'last', '--name', 'kept', '--frozen')).toMatchObject({ code: 0, err: '' });
    expect(await tested(at)).toMatchObject({ code: 0, why: '' });
  });

  it('passes with assistants that it spawned', async () => {
    await using at = await createTestProject('', HELPER.replace('agents: [mate]', '').replace('shell]', 'assistants]'));
    await at.write('agents/mate.md', MATE.replace('Looks.', 'Looks.\ntools: [read]'));
    const spawn = { name: 'spawn_assistant', input: { assistant_id: 'mate', query: 'Look.', run_mode: 'sync' } };
    const replies = { helper: [{ toolCalls: [spawn] }, { finalReport: 'Done.' }], mate: [{ finalReport: 'I see it.' }] };
    await at.write('replies.yaml', JSON.stringify({ agents: replies }));
    at.env['TROUPE_MODEL'] = 'scripted:replies.yaml';
    expect(await at.look('run', 'helper', 'Go.', '--quiet')).toMatchObject({ code: 0, out: expect.stringContaining('Done.') });
    expect(await at.look('test', 'add', 'last', '--name', 'kept', '--frozen')).toMatchObject({ code: 0, err: '' });
    expect(await tested(at)).toMatchObject({ code: 0, why: '' });
  });

  it('fails when what it once answered is changed in the file', async () => {
    await using at = await frozen();
    await at.write(
      'tests/kept.frozen.yaml',
      (await text(at, 'tests/kept.frozen.yaml')).replace('I see nothing.', 'I see it all.'),
    );
    const { code, why } = await tested(at);
    expect(code).toBe(1);
    expect(why).toContain('I see nothing.');
    expect(why).toContain('I see it all.');
  });

  it('is kept also when it was cancelled, or goes on with a conversation', async () => {
    await using at = await createTestProject('', MATE.replace('Looks.', 'Looks.\ntools: [ask]'));
    await at.script({ text: 'First.' }, { toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] });
    const { session } = JSON.parse((await at.look('run', 'mate', 'One.', '--json')).out);
    await at.look('run', 'mate', 'Two.', '--session', session);
    await at.look('cancel', 'last');
    expect((await at.look('test', 'add', 'last', '--name', 'kept', '--frozen')).err).toBe('');
    expect(await tested(at)).toMatchObject({ code: 0, why: '' });
  });
});

describe('what cannot be used', () => {
  it('of a newer version, cut off, gone or none at all says so', async () => {
    await using at = await frozen();
    const [record, test] = [await text(at, 'tests/kept.frozen.yaml'), await text(at, 'tests/kept.yaml')];
    const whys: string[] = [];
    const bad = ['version: 1\n', 'schema: 1\n'].map((line) => record.replace(line, line.replace('1', '99')));
    for (const broken of [...bad, record.slice(0, record.length / 2), 'a: [', '- 1', 'version: 1\n', `${record}\nx: *a\n`]) {
      await at.write('tests/kept.frozen.yaml', broken);
      const { code, why } = await tested(at);
      expect(code).toBe(1);
      whys.push(why.split('\n')[0] ?? '');
    }
    expect(whys).toEqual([
      expect.stringContaining('newer version'),
      expect.stringContaining('newer version'),
      expect.stringContaining('kept.frozen.yaml is not right'),
      expect.stringContaining('is not YAML'),
      expect.stringContaining('is no kept run'),
      expect.stringContaining('is not right'),
      expect.stringMatching(/is not (?:YAML|right)/),
    ]);
    rmSync(join(at.folder, 'tests/kept.frozen.yaml'));
    expect((await tested(at)).why).toContain('kept.frozen.yaml cannot be read');
    await at.write('tests/kept.yaml', `version: 2\n${test}`);
    expect(await at.look('test')).toMatchObject({ code: 2, err: expect.stringContaining('newer version') });
    await at.write('tests/kept.yaml', `${test}checks: {}\n`);
    expect(await at.look('test')).toMatchObject({ code: 2, err: expect.stringContaining('checks') });
  });

  it('a run that is under way, one that changed since, and files beside answers are refused', async () => {
    await using at = await project();
    const add = (...more: readonly string[]) => at.look('test', 'add', 'last', '--name', 'kept', '--frozen', ...more);
    expect(await add('--files', 'x')).toMatchObject({ code: 2, err: expect.stringContaining('--frozen keeps no files') });
    await at.write('agents/helper.md', HELPER.replace('Be kind.', 'Be short.'));
    expect(await add()).toMatchObject({ code: 2, err: expect.stringContaining('does not come to the same any more') });
    await at.look('run', 'helper', 'Go.');
    expect(await add()).toMatchObject({ code: 2, err: expect.stringContaining('has not ended') });
    expect(existsSync(join(at.folder, 'tests'))).toBe(false);
  });
});
