/** The commands about agents, as a person types them: finding, adding and removing, in real processes. */
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/base/json.ts';
import { runProgram } from '../../src/cli/program/program.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { createTestProject, expectErrorObject, objectIn, printed, type TestProject } from './support-project.ts';

const REVIEWER = `---
# Kept as it is.
description: Finds mistakes in Python code before they ship.
tags: [python, bugs]
examples: [Why does this crash?]
---
You review.
`;
const POET = '---\nname: poet\ndescription: Writes poems.\n---\nYou write.\n';

const isThere = (project: TestProject, path: string): Promise<boolean> =>
  access(join(project.folder, path)).then(
    () => true,
    () => false,
  );

const namesIn = (text: string): readonly unknown[] => {
  const parsed = parseJson(text);
  if (!parsed.ok || !Array.isArray(parsed.value)) throw new Error(`not a list: ${text}`);
  return parsed.value.map((item) => objectIn(JSON.stringify(item))['name']);
};

describe('troupe agents search', () => {
  it('finds who can do it, without a ledger and with one, which stays sound', async () => {
    await using project = await createTestProject();
    await project.write('agents/python-reviewer.md', REVIEWER);
    await project.write('agents/poet.md', POET);
    const sentence = ['agents', 'search', 'someone', 'to', 'find', 'bugs', 'in', 'python'];
    const before = await project.look(...sentence);
    expect(before).toMatchObject({ code: 0, err: '' });
    expect(before.out).toMatch(/^AGENT .*\npython-reviewer +project +python, bugs +Finds mistakes in Python/);
    expect(await isThere(project, '.troupe/ledger.db')).toBe(false);

    await project.script({ text: 'Hello.' });
    expect((await project.troupe('run', 'helper', 'Say hello')).code).toBe(0);
    expect(namesIn((await project.look(...sentence, '--json')).out)).toEqual(['python-reviewer']);
    await project.write('agents/poet.md', POET.replace('poems', 'poems about Python'));
    expect(namesIn((await project.look('agents', 'search', 'python', '--json')).out)).toEqual(['python-reviewer', 'poet']);
    expect(namesIn((await project.look('agents', 'search', 'python', '--json', '--limit', '1')).out)).toEqual([
      'python-reviewer',
    ]);
    expect((await project.look('ledger', 'verify')).out).toMatch(/^sound: /);
    expect((await project.look('ledger', 'stats')).code).toBe(0);
    expect((await project.look('ledger', 'gc', '--older-than', '1d', '--yes')).code).toBe(0);
    expect((await project.look('show', 'last')).code).toBe(0);
  });

  it('says so when there is nobody, and takes signs for what they are', async () => {
    await using project = await createTestProject();
    const nobody = await project.look('agents', 'search', 'xylophone');
    expect(nobody).toMatchObject({ code: 0, out: '' });
    expect(nobody.err).toContain('troupe agents list');
    expect(namesIn((await project.look('agents', 'search', '--json', '"helper" OR (*', '🦊')).out)).toEqual(['helper']);
    expect((await project.look('agents', 'search')).code).toBe(2);
    expect((await project.look('agents', 'search', 'x', '--limit', 'none')).code).toBe(2);
  });
});

describe('troupe agents add', () => {
  it('puts a sound file where it belongs, under its name or another', async () => {
    await using project = await createTestProject();
    await project.write('inbox/python-reviewer.md', REVIEWER);
    expect((await project.look('agents', 'add', 'inbox/python-reviewer.md')).out).toBe('added     agents/python-reviewer.md\n');
    expect(await readFile(join(project.folder, 'agents/python-reviewer.md'), 'utf8')).toBe(REVIEWER);
    const named = await project.look('agents', 'add', 'inbox/python-reviewer.md', '--name', 'second: one', '--json');
    expect(objectIn(named.out)).toEqual({ added: 'second: one', file: 'agents/second: one.md', copy: null, warnings: [] });
    const text = await readFile(join(project.folder, 'agents/second: one.md'), 'utf8');
    expect(text).toBe(REVIEWER.replace('---\n', '---\nname: "second: one"\n'));
    const own = await project.look('agents', 'add', 'inbox/python-reviewer.md', '--name', 'mine', '--user', '--json');
    expect(objectIn(own.out)).toMatchObject({ added: 'mine', file: join(project.folder, '.config/troupe/agents/mine.md') });
    expect((await project.start(['agents', 'add', '-'], { input: POET }).ended).out).toBe('added     agents/poet.md\n');
    const list = await project.look('agents', 'list', '--json');
    expect(namesIn(list.out)).toEqual(['helper', 'poet', 'python-reviewer', 'second: one', 'mine']);
    expect((await project.look('check')).code).toBe(0);
  });

  it('overwrites only when told to, and keeps what was there', async () => {
    await using project = await createTestProject();
    await project.write('poet.md', POET);
    expect((await project.look('agents', 'add', 'poet.md')).code).toBe(0);
    await project.write('poet.md', POET.replace('poems', 'ballads'));
    const refused = await project.look('agents', 'add', 'poet.md', '--json');
    expect(refused.code).toBe(2);
    expectErrorObject(refused, 'usage');
    expect(await readFile(join(project.folder, 'agents/poet.md'), 'utf8')).toBe(POET);
    const forced = objectIn((await project.look('agents', 'add', 'poet.md', '--force', '--json')).out);
    expect(await readFile(join(project.folder, String(forced['copy'])), 'utf8')).toBe(POET);
    expect(await readFile(join(project.folder, 'agents/poet.md'), 'utf8')).toContain('ballads');
  });

  it.each([
    [
      'a key nobody knows',
      '---\nname: x\nmodle: y\n---\nx',
      ['-'],
      /stdin:3:1: error: unknown key "modle"\n {2}fix: Did you mean "model"/,
    ],
    ['a tool nobody knows', '---\nname: x\ntools: [raed]\n---\nx', ['-'], /stdin:3:9: error: unknown tool "raed"/],
    ['no frontmatter', 'Hello', ['-', '--name', 'x'], /does not start with a line `---`/],
    ['an include that is not there', `---\nname: x\n---\n\${include:gone.md}`, ['-'], /stdin:4:1: error/],
    ['no name', '---\n---\nx', ['-'], /The agent has no name/],
    ['a name that is none', '---\n---\nx', ['-', '--name', 'a/b'], /contains a slash/],
    ['a name that is passed over', '---\n---\nx', ['-', '--name', '_x'], /would not be an agent/],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00]), ['-'], /not valid UTF-8/],
    ['no such file', '', ['none.md'], /none\.md does not exist/],
  ])('refuses %s and writes nothing', async (_what, input, args, told) => {
    await using project = await createTestProject();
    const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
    const terminal = testTerminal({ env: project.env, input: [bytes] });
    expect(await runProgram(['-C', project.folder, 'agents', 'add', ...args], terminal)).toBe(2);
    expect(terminal.written.out).toBe('');
    expect(terminal.written.progress).toMatch(told);
    expect(await readdir(join(project.folder, 'agents'))).toEqual(['helper.md']);
  });

  it('says which agents are missing and whom it hides', async () => {
    await using project = await createTestProject();
    await project.write('.claude/agents/boss.md', '---\nname: boss\ndescription: x\n---\nx');
    const input = '---\nname: boss\nagents: [helper, later]\n---\nx';
    const ended = await project.start(['agents', 'add', '-'], { input }).ended;
    expect(ended.code).toBe(0);
    expect(ended.err).toContain('names the agent "later"');
    expect(ended.err).toContain('it counts before .claude/agents/boss.md');
  });
});

describe('troupe agents remove', () => {
  it('takes the file away, keeps a copy, and what it prints brings it back', async () => {
    await using project = await createTestProject();
    await project.write('agents/poet.md', POET);
    const removed = await project.look('agents', 'remove', 'poet');
    expect(removed.code).toBe(0);
    expect(await isThere(project, 'agents/poet.md')).toBe(false);
    expect(namesIn((await project.look('agents', 'search', 'poems', '--json')).out)).toEqual([]);
    expect((await project.typed(printed(removed.out, 'agents add'))).code).toBe(0);
    expect(await readFile(join(project.folder, 'agents/poet.md'), 'utf8')).toBe(POET);
  });

  it('refuses what others name, what is not ours and what is not there', async () => {
    await using project = await createTestProject();
    await project.write('agents/boss.md', '---\nagents: [helper]\n---\nx');
    await project.write('.claude/agents/theirs.md', '---\nname: theirs\ndescription: x\n---\nx');
    const named = await project.look('agents', 'remove', 'helper', '--json');
    expect(named.code).toBe(2);
    expectErrorObject(named, 'usage');
    expect(named.out).toContain('is named by boss');
    expect((await project.look('agents', 'remove', 'theirs')).err).toContain('comes from the agents of claude');
    const unknown = await project.look('agents', 'remove', 'helpr');
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(unknown.err).toContain('did you mean helper');
    const forced = objectIn((await project.look('agents', 'remove', 'helper', '--force', '--json')).out);
    expect(forced).toMatchObject({ removed: 'helper', file: 'agents/helper.md', namedBy: ['boss'] });
  });

  it('asks a person first', async () => {
    await using project = await createTestProject();
    const remove = (answer: string | undefined): Promise<number> => {
      const terminal = testTerminal({ env: project.env, interactive: true, answers: [answer] });
      return runProgram(['-C', project.folder, 'agents', 'remove', 'helper'], terminal);
    };
    expect(await remove('no')).toBe(130);
    expect(await remove(undefined)).toBe(130);
    expect(await isThere(project, 'agents/helper.md')).toBe(true);
    expect(await remove('yes')).toBe(0);
    expect(await isThere(project, 'agents/helper.md')).toBe(false);
  });
});

it('every command about agents has help that starts with an example', async () => {
  await using project = await createTestProject();
  for (const name of ['list', 'show', 'search', 'add', 'remove']) {
    const terminal = testTerminal({ env: project.env });
    expect(await runProgram(['-C', project.folder, 'agents', name, '--help'], terminal)).toBe(0);
    expect(terminal.written.out).toMatch(new RegExp(`^Example:\n {2}troupe agents ${name}`));
  }
});
