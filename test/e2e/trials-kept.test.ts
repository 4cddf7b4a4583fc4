/** Runs kept as tests: what is written of them, and that what was kept passes. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { testReport } from '../../src/trials/report.ts';
import { createTestProject, type TestProject } from './support-project.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of prompts.
const AGENT = '---\nname: helper\ntools: [read, list, write, edit, shell, ask]\n---\nYou help ${who}.\n';

const project = (settings = ''): Promise<TestProject> => createTestProject(`vars: { who: people }\n${settings}`, AGENT);

const kept = async (at: TestProject, name = 'kept') => parse(await readFile(join(at.folder, `tests/${name}.yaml`), 'utf8'));

async function tested(at: TestProject, ...args: readonly string[]) {
  const { code, out } = await at.look('test', ...args, '--json');
  const report = testReport.parse(JSON.parse(out));
  const why = report.tests.flatMap(({ trials }) => trials.flatMap(({ checks }) => checks.filter(({ passed }) => !passed)));
  return { code, report, why };
}

const ASK = { toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] };
const write = (path: string, content: string) => ({ toolCalls: [{ name: 'write', input: { path, content } }] });

describe('troupe test add', () => {
  it('of a run that was cancelled is refused, and breaks no other test', async () => {
    await using at = await project();
    await at.script(ASK);
    await at.look('run', 'helper', 'Go.');
    await at.look('cancel', 'last');
    expect(await at.look('test', 'add', 'last', '--name', 'kept')).toMatchObject({
      code: 2,
      err: expect.stringContaining('was cancelled'),
    });
    expect(existsSync(join(at.folder, 'tests/kept.yaml'))).toBe(false);
    await at.write('tests/old.yaml', 'agent: helper\nprompt: Go.\nchecks: { status: cancelled }\n');
    await at.write('tests/fine.yaml', 'agent: helper\nprompt: Go.\nchecks: { status: waiting }\n');
    const { code, why } = await tested(at);
    expect([code, why.map(({ check }) => check)]).toEqual([1, ['status cancelled']]);
  });

  it('keeps what people answered and gave, so that it passes', async () => {
    await using at = await project('permissions: { write: ask }\n');
    await at.script(ASK, write('a.txt', 'a\n'), ASK, { text: 'Done.' });
    await at.look('run', 'helper', 'Go.');
    await at.look('answer', 'last', 'the first');
    await at.look('approve', 'last');
    await at.look('answer', 'last', 'yes: "both"');
    expect((await at.look('test', 'add', 'last', '--name', 'kept')).code).toBe(0);
    expect(await kept(at)).toMatchObject({ answers: ['the first', 'yes: "both"'], approve: true });
    expect((await tested(at)).why).toEqual([]);
  });

  it('keeps what people refused, by tool and in their words', async () => {
    await using at = await project('permissions: { write: ask, shell: ask }\n');
    const shell = { toolCalls: [{ name: 'shell', input: { command: 'echo hi' } }] };
    await at.script(write('a.txt', 'a\n'), shell, { text: 'Done.' });
    await at.look('run', 'helper', 'Go.');
    await at.look('deny', 'last', '--note', 'not there');
    await at.look('approve', 'last');
    expect((await at.look('test', 'add', 'last', '--name', 'kept')).code).toBe(0);
    expect(await kept(at)).toMatchObject({ approve: { write: 'not there', shell: true } });
    await at.write(
      'tests/kept.yaml',
      (await readFile(join(at.folder, 'tests/kept.yaml'), 'utf8')).replace(
        'checks:',
        'checks:\n  files: { a.txt: { absent: true } }',
      ),
    );
    expect((await tested(at)).why).toEqual([]);
  });

  it('keeps the model and the variables that the run was given', async () => {
    await using at = await project();
    await at.script({ text: 'Of the environment.' });
    await at.write('other.yaml', JSON.stringify([{ text: 'Of the option.' }]));
    await at.look('run', 'helper', 'Go.', '-m', 'scripted:other.yaml', '--var', 'who=cats');
    await at.look('test', 'add', 'last', '--name', 'kept');
    expect(await kept(at)).toMatchObject({ model: 'scripted:other.yaml', vars: { who: 'cats' } });
    const { report } = await tested(at);
    const shown = await at.look('logs', report.tests[0]?.trials[0]?.run ?? '', '--json');
    expect(shown.out).toContain('You help cats.');
    expect(shown.out).toContain('Of the option.');
  });

  it('counts what its own run did, not what another of its session did', async () => {
    await using at = await project();
    await at.script({ text: 'First.' }, write('a.txt', 'a\n'), { text: 'Second.' });
    const { run, session } = JSON.parse((await at.look('run', 'helper', 'Go.', '--json')).out);
    await at.look('run', 'helper', 'Again.', '--session', session);
    await at.look('test', 'add', run, '--name', 'kept');
    expect((await kept(at)).checks).toEqual({ status: 'completed', maxTurns: 2 });
    expect(await at.look('test', 'add', 'last', '--name', 'second')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--frozen'),
    });
  });

  it('keeps the workspace as the run found it, and says so where it does not', async () => {
    await using at = await project();
    await at.write('src/a.txt', 'before\n');
    await at.write('tests/other.yaml', 'agent: helper\nprompt: x\n');
    await at.write('.env', 'OPENAI_API_KEY=sk-test-0123456789abcdef\n');
    const edit = { toolCalls: [{ name: 'edit', input: { path: 'src/a.txt', old: 'before', new: 'after' } }] };
    const read = { toolCalls: [{ name: 'read', input: { path: 'src/a.txt' } }] };
    await at.script(read, edit, write('new.txt', 'new\n'), { text: 'Done.' });
    await at.look('run', 'helper', 'Go.', '--yes');
    expect(await readFile(join(at.folder, 'src/a.txt'), 'utf8')).toBe('after\n');
    const noted = await at.look('test', 'add', 'last', '--name', 'bare');
    expect(noted.err).toContain('--files');
    const added = await at.look('test', 'add', 'last', '--name', 'kept', '--files', 'given', '--json');
    expect(JSON.parse(added.out)).toMatchObject({ files: ['tests/kept.yaml', 'tests/given'] });
    expect(await readFile(join(at.folder, 'tests/given/src/a.txt'), 'utf8')).toBe('before\n');
    for (const gone of ['new.txt', 'tests', '.troupe', '.env'])
      expect([gone, existsSync(join(at.folder, 'tests/given', gone))]).toEqual([gone, false]);
    const { why, code } = await tested(at, 'kept');
    expect([code, why]).toEqual([0, []]);
  });

  it('refuses files that cannot be had as they were, and leaves nothing', async () => {
    await using at = await project();
    await at.write('a.txt', 'before\n');
    const edit = { toolCalls: [{ name: 'edit', input: { path: 'a.txt', old: 'before', new: 'after' } }] };
    await at.script({ toolCalls: [{ name: 'read', input: { path: 'a.txt' } }] }, edit, { text: 'Done.' });
    await at.look('run', 'helper', 'Go.', '--yes');
    await at.write('a.txt', 'by somebody else\n');
    expect(await at.look('test', 'add', 'last', '--name', 'kept', '--files', 'given')).toMatchObject({
      code: 2,
      err: expect.stringContaining('a.txt: it was changed since'),
    });
    expect(await at.look('test', 'add', 'last', '--name', 'kept', '--files', '../out')).toMatchObject({ code: 2 });
    for (const path of ['tests/given', 'tests/kept.yaml', 'out']) expect(existsSync(join(at.folder, path))).toBe(false);
  });

  it('has options of its own, also those that `troupe test` has too', async () => {
    await using at = await project();
    await at.script({ text: 'Done.' });
    await at.look('run', 'helper', 'Go.');
    const { out } = await at.look('test', 'add', 'last', '--json', '--name', 'kept');
    expect(JSON.parse(out)).toEqual({ files: ['tests/kept.yaml'], next: expect.stringContaining('test kept') });
    expect((await at.look('test', 'add', 'last', '--keep')).code).toBe(2);
  });
});

describe('a file that is no test', () => {
  it('keeps no other from being tried, is told, and ends with 2', async () => {
    await using at = await project();
    await at.script({ text: 'Done.' });
    await at.write('tests/broken.yaml', 'agent: helper\nprompts: Go.\n');
    await at.write('tests/folder.yaml', 'agent: helper\nprompt: Go.\nfiles: nowhere\n');
    await at.write('tests/fine.yaml', 'agent: helper\nprompt: Go.\n');
    await at.write('tests/table.eval.yaml', 'agents: [helper]\ncases: [{ prompt: Go. }]\n');
    const { code, report } = await tested(at, '--junit', 'report.xml');
    expect(code).toBe(2);
    expect(report.passed).toBe(false);
    expect(report.tests.map(({ name, passed }) => [name, passed])).toEqual([['fine', true]]);
    expect(report.broken.map(({ file }) => file)).toEqual(['tests/broken.yaml', 'tests/folder.yaml']);
    const shown = await at.look('test');
    expect(shown.out).toContain('✗ tests/broken.yaml cannot be used');
    expect(shown.out).toContain('1 passed, 0 failed, 2 cannot be used');
    expect(shown.err).toContain('prompts');
    const xml = await readFile(join(at.folder, 'report.xml'), 'utf8');
    expect(xml).toContain('tests="3" failures="0" errors="2"');
    expect((await tested(at, 'fine')).code).toBe(0);
  });
});
