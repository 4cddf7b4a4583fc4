/** Kept tests and evaluations through the command line, with a scripted model. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { evalReport, testReport } from '../../src/trials/report.ts';
import { createTestProject } from './support-project.ts';

const project = await createTestProject('');
afterAll(() => project[Symbol.asyncDispose]());

const WRITES = { toolCalls: [{ name: 'write', input: { path: 'out.txt', content: 'hello\n' } }] };
await project.write('agents/writer.md', '---\nname: writer\ntools: [write, ask, shell]\n---\nYou write.\n');
await project.write('agents/critic.md', '---\nname: critic\n---\nYou judge.\n');
await project.write('replies.yaml', JSON.stringify([WRITES, { finalReport: 'It says hello.' }]));
await project.write('bye.yaml', JSON.stringify([{ text: 'Bye.' }]));
const score = [{ text: 'So: {"score": 0.5, "reason": "half"}' }];
await project.write('judged.yaml', JSON.stringify({ replies: [{ text: 'Hi.' }], agents: { critic: score } }));
project.env['TROUPE_MODEL'] = 'scripted:replies.yaml';

const test = (name: string, definition: object): Promise<void> =>
  project.write(`tests/${name}.yaml`, JSON.stringify({ agent: 'writer', prompt: 'Write hello.', ...definition }));

async function played(...args: readonly string[]) {
  const { code, out } = await project.look('test', ...args, '--json');
  return { code, report: testReport.parse(JSON.parse(out)) };
}

/** The checks that failed, with why. */
const failed = ({ tests }: Awaited<ReturnType<typeof played>>['report']): string[] =>
  tests.flatMap(({ trials }) =>
    trials.flatMap(({ checks }) => checks.flatMap(({ check, why }) => (why === null ? [] : [`${check}: ${why}`]))),
  );

describe('troupe test', () => {
  it('tries as often as the test says, in fresh files, and holds every check against what was seen', async () => {
    await project.write('tests/given/old.txt', 'old\n');
    await test('greets', {
      files: 'given',
      trials: 2,
      checks: {
        answer: { contains: ['hello'], lacks: ['bye'], matches: '^It' },
        files: { 'out.txt': { contains: ['hello'] }, 'old.txt': { matches: '^old' }, 'new.txt': { absent: true } },
        commands: ['grep -q hello out.txt && test -f old.txt', 'test ! -e twice; touch twice'],
        ...{ called: ['write'], notCalled: ['shell'], agents: ['writer'], maxTurns: 2, maxUsd: 1, maxTokens: 100_000 },
      },
    });
    const { code, report } = await played('greets');
    expect(failed(report)).toEqual([]);
    expect({ code, passed: report.passed, trials: report.tests[0]?.trials.length }).toEqual({ code: 0, passed: true, trials: 2 });
    expect(report.tests[0]).toMatchObject({ passRate: 1, passAll: 1, change: 'new' });
    const { out } = await project.look('logs', report.tests[0]?.trials[0]?.run ?? '', '--json');
    const [folder = ''] = /troupe-trial-\w+/.exec(out) ?? [];
    expect([folder, existsSync(join(tmpdir(), folder))]).toEqual([expect.stringMatching(/./), false]);
  });

  it('says of every check that fails what was there instead', async () => {
    await test('fails', {
      checks: {
        ...{ status: 'failed', verification: 'verified' },
        answer: { schema: { type: 'object' } },
        files: { 'out.txt': { lacks: ['hello'] }, 'none.txt': {}, '../replies.yaml': {}, 'gone.txt': { sha256: 'a'.repeat(64) } },
        commands: ['echo no; exit 3'],
        ...{ called: ['shell'], notCalled: ['write'], agents: ['critic'], maxTurns: 1, maxTokens: 1 },
      },
    });
    const { code, report } = await played('fails');
    expect(code).toBe(1);
    expect(failed(report)).toEqual([
      'status failed: it was completed',
      'verification verified: it was unchecked',
      'answer: it is not JSON',
      'called shell: it was not; write was',
      'not called write: it was called',
      'agent critic: it did not work; writer did',
      expect.stringMatching(/^maxTokens: it took \d+, and 1 is the limit$/),
      'maxTurns: it took 2, and 1 is the limit',
      'file out.txt: "hello" is in it',
      'file none.txt: it is not there',
      'file ../replies.yaml: it is outside of the workspace',
      'file gone.txt: it is not there',
      'command echo no; exit 3: it ended with 3\nno',
    ]);
  });

  it('compares with the last time, keeps what failed if asked, and writes JUnit', async () => {
    await test('changes', { checks: { answer: { contains: ['hello'] } } });
    expect((await played('changes')).report.tests[0]?.change).toBe('new');
    await test('changes', { checks: { answer: { contains: ['<nothing>'] } } });
    const { report } = await played('changes', '--keep', '--junit', 'report.xml');
    expect(report.tests[0]?.change).toBe('broken');
    expect(report.before).toMatchObject({ passed: expect.any(Number) });
    const kept = report.tests[0]?.trials[0]?.workspace ?? '';
    expect(existsSync(join(kept, 'out.txt'))).toBe(true);
    const xml = await readFile(join(project.folder, 'report.xml'), 'utf8');
    expect(xml).toContain('<testsuite name="troupe" tests="1" failures="1" errors="0" skipped="0"');
    expect(xml).toContain('answer: &quot;&lt;nothing&gt;&quot; is not in it');
    const shown = await project.look('test', 'changes');
    expect(shown.out).toMatch(/^✗ changes \(writer\)\n {4}answer: "<nothing>" is not in it\n {6}troupe show run_/);
    await test('changes', { checks: {} });
    expect((await played('changes')).report.tests[0]?.change).toBe('fixed');
  });

  it('asks nobody: answers come from the file, and a question more ends trial and run', async () => {
    await project.write(
      'asks.yaml',
      JSON.stringify([{ toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] }, { text: 'Good.' }]),
    );
    await test('answered', { model: 'scripted:asks.yaml', answers: ['The first.'] });
    await test('unanswered', { model: 'scripted:asks.yaml' });
    const { report } = await played('answered', 'unanswered');
    expect(failed(report)).toEqual(['status completed: it was waiting: it asks “Which?” (answers, approve)']);
    const { out } = await project.look('inbox', '--json');
    expect(JSON.parse(out)).toEqual([]);
  });

  it('a judge advises with a model of its own, and decides nothing', async () => {
    await test('judged', { model: 'scripted:bye.yaml', judges: [{ agent: 'critic' }] });
    const before = project.env['TROUPE_MODEL'] ?? '';
    project.env['TROUPE_MODEL'] = 'scripted:judged.yaml';
    const { code, report } = await played('judged');
    project.env['TROUPE_MODEL'] = before;
    expect(code).toBe(0);
    expect(report.tests[0]?.trials[0]?.scores).toEqual([{ judge: 'critic', score: 0.5, reason: 'half' }]);
  });

  it('no budget left is told, and what could not be tried is no success', async () => {
    const { code, out } = await project.look('test', 'greets', '--budget-usd', '0', '--json');
    expect(code).toBe(4);
    expect(testReport.parse(JSON.parse(out))).toMatchObject({ passed: false, notRun: ['greets'], tests: [] });
  });

  it('what cannot begin is tried once', async () => {
    await test('nobody', { agent: 'nobody', trials: 5 });
    const { code, report } = await played('nobody');
    expect([code, report.notRun, report.tests[0]?.trials.length]).toEqual([1, [], 1]);
    expect(failed(report)[0]).toMatch(/^start: .*nobody/);
  });
});

describe('bad input', () => {
  it('every problem of every file is told before anything runs', async () => {
    await using bad = await createTestProject('');
    await bad.write('tests/a.yaml', 'agent: x\nprompts: y\n');
    await bad.write('tests/b.yaml', '{');
    await bad.write('tests/c.yaml', 'agent: x\nprompt: y\ntrials: 1000\nchecks: { answer: { matches: "(" } }\n');
    const { code, err } = await bad.look('test');
    expect(code).toBe(2);
    for (const part of [
      '3 tests cannot be used',
      'tests/a.yaml',
      'prompts',
      'tests/b.yaml is not YAML',
      'testTrials',
      'regular expression',
    ])
      expect(err).toContain(part);
    expect(existsSync(join(bad.folder, '.troupe'))).toBe(false);
  });

  it('no tests, an unknown one, a folder that is not there', async () => {
    await using empty = await createTestProject('');
    expect(await empty.look('test')).toMatchObject({ code: 2, err: expect.stringContaining('There are no tests in tests/') });
    expect(await project.look('test', 'nonsense')).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no test nonsense'),
    });
    await test('folder', { files: 'nowhere' });
    expect(await project.look('test', 'folder')).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no folder nowhere'),
    });
  });
});

describe('troupe test add', () => {
  it('keeps what a run was asked and what was seen, so that it passes', async () => {
    await project.look('run', 'writer', 'Write it.');
    const added = await project.look('test', 'add', 'last', '--name', 'kept');
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining('tests/kept.yaml written') });
    const text = await readFile(join(project.folder, 'tests/kept.yaml'), 'utf8');
    expect(text).toMatch(/agent: writer\nprompt: Write it\.\n[\s\S]*called:\n {4}- write\n {2}maxTurns: 4/);
    expect((await played('kept')).code).toBe(0);
    expect(await project.look('test', 'add', 'last', '--name', 'kept')).toMatchObject({
      code: 2,
      err: expect.stringContaining('already'),
    });
    expect(await project.look('test', 'add', 'last', '--name', '../x')).toMatchObject({ code: 2 });
  });
});

describe('troupe eval', () => {
  it('plays every case with every contender, the best first, and writes a page without scripts', async () => {
    const cases = [
      { name: 'hello <b>', prompt: 'Write hello.', checks: { files: { 'out.txt': {} } } },
      { prompt: 'Say bye.', checks: { answer: { contains: ['Bye'] } } },
      { prompt: 'Say anything.' },
    ];
    const models = ['scripted:bye.yaml', 'scripted:replies.yaml', 'scripted:nowhere.yaml'];
    await project.write('table.yaml', JSON.stringify({ agents: ['writer'], models, trials: 2, cases }));
    const { code, out } = await project.look('eval', 'table.yaml', '--json', '-o', 'page.html');
    expect(code).toBe(0);
    const report = evalReport.parse(JSON.parse(out));
    expect(report.contenders.map(({ model, passRate }) => [model, passRate])).toEqual([
      ['scripted:bye.yaml', 2 / 3],
      ['scripted:replies.yaml', 2 / 3],
      ['scripted:nowhere.yaml', 0],
    ]);
    const page = await readFile(join(project.folder, 'page.html'), 'utf8');
    expect(page).toContain('hello &lt;b&gt;');
    expect(page).not.toMatch(/<script|hello <b>/);
  });

  it('a table that is not right, or too large, says so', async () => {
    await project.write('wrong.yaml', JSON.stringify({ agents: ['writer'], cases: [] }));
    expect(await project.look('eval', 'wrong.yaml')).toMatchObject({ code: 2, err: expect.stringContaining('cases') });
    const many = { agents: ['a', 'b'], trials: 100, cases: Array.from({ length: 30 }, () => ({ prompt: 'x' })) };
    await project.write('many.yaml', JSON.stringify(many));
    expect(await project.look('eval', 'many.yaml')).toMatchObject({ code: 2, err: expect.stringContaining('evalTrials') });
  });
});
