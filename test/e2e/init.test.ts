/** Setting out: what `troupe init` and `troupe new` write is right as it is, and nothing of anybody's is overwritten. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { templates } from '../../src/cli/setup/templates.ts';
import { type TestTerminalOptions, testTerminal } from '../support/test-terminal.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-init-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function troupe(args: readonly string[], options: TestTerminalOptions = {}) {
  const env = { PATH: process.env['PATH'], HOME: folder, OLLAMA_HOST: '127.0.0.1:9', ...options.env };
  const terminal = testTerminal({ ...options, env, cwd: folder });
  const code = await runProgram(args, terminal);
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

const filesHere = async () => (await readdir(join(folder, 'agents'))).sort();

describe('the templates of troupe init', () => {
  it.each(templates)('$name passes the check without warnings and runs without a key', async ({ name, agent, prompt }) => {
    expect(await troupe(['init', '--template', name])).toMatchObject({ code: 0, err: '' });
    const model = `scripted:replies/${name}.yaml`;
    const checked = await troupe(['check'], { env: { TROUPE_MODEL: model } });
    expect(checked.out + checked.err).toMatch(/[1-9]\d* agents? checked: 0 errors, 0 warnings/);
    const ran = await troupe(['run', agent, prompt, '--model', model, '--yes']);
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/\w/) });
    expect(ran.err).not.toMatch(/\bfailed\b|\berror\b/);
  });

  it('are listed', async () => {
    const { out } = await troupe(['init', '--list']);
    expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual(['agent', 'review', 'research', 'coding', 'support', '']);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([60, 200])('name commands that a shell takes as they stand, in a window of %s columns', async (columns) => {
    const commands = (out: string) => out.split('\n').flatMap((line) => /^(?:next)? {3,}(troupe .*)$/.exec(line)?.[1] ?? []);
    for (const { name, agent, prompt } of templates) {
      const { out } = await troupe(['init', '--template', name], { columns });
      const plain = ['troupe', 'run', agent, prompt];
      const inShell = (line: string) => {
        const { stdout } = spawnSync('bash', ['-c', `troupe() { printf '%s\\n' troupe "$@"; }\n${line}`], { encoding: 'utf8' });
        return stdout.trimEnd().split('\n');
      };
      expect(commands(out).map(inShell)).toEqual([plain, [...plain, '--model', `scripted:replies/${name}.yaml`]]);
    }
    expect(commands((await troupe(['new', 'agent', 'somebody'], { columns })).out)).toEqual(['troupe check']);
    expect(commands((await troupe(['-C', 'agents', 'new', 'agent', 'other'], { columns })).out)).toEqual([
      `troupe -C ${join(folder, 'agents')} check`,
    ]);
  });

  it('can all be in one folder', async () => {
    for (const { name } of templates) expect((await troupe(['init', '--template', name])).out).toContain('wrote  agents/');
    expect(await filesHere()).toHaveLength(15);
    expect(await troupe(['check'], { env: { TROUPE_MODEL: 'scripted:replies/agent.yaml' } })).toMatchObject({ code: 0 });
  });

  it('leave what is there as it is, and say so', async () => {
    await troupe(['init', '--template', 'review']);
    await writeFile(join(folder, 'agents/security.md'), 'mine');
    await rm(join(folder, 'agents/upkeep.md'));
    const { code, out } = await troupe(['init', '--template', 'review']);
    expect(code).toBe(0);
    expect(out).toContain('kept   agents/security.md, which was there already');
    expect(out).toContain('wrote  agents/upkeep.md');
    expect(await readFile(join(folder, 'agents/security.md'), 'utf8')).toBe('mine');
  });

  it('are one agent where nobody can be asked', async () => {
    await troupe(['init']);
    expect(await filesHere()).toEqual(['hello.md']);
  });

  it.each([
    ['4', 'lead.md'],
    ['research', 'researcher.md'],
    ['', 'hello.md'],
  ])('are chosen on a terminal: "%s"', async (answer, file) => {
    const { code, err } = await troupe(['init'], { interactive: true, answers: ['9', answer] });
    expect(code).toBe(0);
    expect(err).toContain('2  review');
    expect(err).toContain('A number from 1 to 5');
    expect(await filesHere()).toContain(file);
  });

  it('write nothing when the person leaves, or when there is none of that name', async () => {
    expect(await troupe(['init'], { interactive: true, answers: [undefined] })).toMatchObject({ code: 130 });
    const mistyped = await troupe(['init', '--template', 'reviw']);
    expect(mistyped).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean "review"?') });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('troupe new', () => {
  const problems = async () => {
    const { out, err } = await troupe(['check'], { env: { TROUPE_MODEL: 'scripted:replies.yaml' } });
    return (out + err).trim();
  };

  /** Takes up every setting that stands there as a comment. */
  async function uncomment(file: string): Promise<number> {
    const text = await readFile(join(folder, file), 'utf8');
    const taken = text.replaceAll(/^# (?=[a-z]+: )/gim, '');
    await writeFile(join(folder, file), taken);
    return text.length - taken.length;
  }

  it('agent writes a file that passes the check, also with everything in it taken up', async () => {
    await writeFile(join(folder, 'replies.yaml'), '[]');
    expect(await troupe(['new', 'agent', 'poet'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('wrote  agents/poet.md'),
    });
    expect(await problems()).toBe('1 agent checked: 0 errors, 0 warnings');
    expect(await uncomment('agents/poet.md')).toBe(2 * 5);
    expect(await problems()).toContain('1 agent checked: 0 errors,');
  });

  it('team writes a leader and two members, or takes agents that are there', async () => {
    await writeFile(join(folder, 'replies.yaml'), '[]');
    expect(await troupe(['new', 'team', 'room'])).toMatchObject({ code: 0 });
    expect(await filesHere()).toEqual(['room-critic.md', 'room-finder.md', 'room.md']);
    expect(await problems()).toBe('3 agents checked: 0 errors, 0 warnings');
    for (const file of await filesHere()) expect(await uncomment(`agents/${file}`)).toBe(2 * 3);
    expect(await problems()).toContain('3 agents checked: 0 errors,');
    expect(await troupe(['new', 'team', 'Große Runde', 'room-critic', 'room-finder'])).toMatchObject({ code: 0 });
    expect(await problems()).toContain('4 agents checked: 0 errors,');
    const { err } = await troupe(['new', 'team', 'other', 'room-critik']);
    expect(err).toContain('Did you mean "room-critic"?');
    expect(await troupe(['new', 'team', 'other', 'other'])).toMatchObject({ code: 2 });
    expect(await filesHere()).toHaveLength(4);
  });

  it.each([
    ['a/b', 'contains a slash', 'for example: a-b'],
    ['../up', 'starts with a dot', 'for example: up'],
    ['_shared', 'are passed over', 'for example: shared'],
    ['poet.md', 'ends with .md', 'for example: poet'],
    ['ReadMe', 'is passed over', 'choose another name'],
    ['', 'is empty', 'choose another name'],
    ['x\u001b[2J', 'contains a control character', 'for example: x-2J'],
  ])('refuses the name "%s"', async (name, why, fix) => {
    const { code, err } = await troupe(['new', 'agent', name]);
    expect(code).toBe(2);
    expect(err).toContain(why);
    expect(err).toContain(fix);
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses what is there, wherever in agents/ it is, and writes nothing then', async () => {
    await mkdir(join(folder, 'agents/below'), { recursive: true });
    await writeFile(join(folder, 'agents/below/first.md'), '---\nname: room-critic\n---\nMine.\n');
    const { code, err } = await troupe(['new', 'team', 'room']);
    expect(code).toBe(2);
    expect(err).toContain('There is already agents/below/first.md');
    expect(err).toContain('for example: room-critic-2');
    await writeFile(join(folder, 'agents/poet.md'), 'broken: [');
    expect(await troupe(['new', 'agent', 'poet'])).toMatchObject({ code: 2 });
    expect(await readFile(join(folder, 'agents/poet.md'), 'utf8')).toBe('broken: [');
    expect(await filesHere()).toEqual(['below', 'poet.md']);
  });

  it('says so when agents is no folder', async () => {
    await writeFile(join(folder, 'agents'), 'a file');
    expect(await troupe(['init'])).toMatchObject({ code: 1, err: expect.stringContaining('agents/hello.md cannot be written') });
  });
});
