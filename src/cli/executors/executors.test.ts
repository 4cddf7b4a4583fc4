import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { sampleCommand } from '../../../test/support/executors/sample-command.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { runProgram } from '../program/program.ts';

async function call(root: string, ...args: string[]) {
  const terminal = testTerminal({ env: { HOME: join(root, 'home'), PATH: process.env['PATH'], TROUPE_SANDBOX: 'off' } });
  const code = await runProgram(['-C', root, ...args], terminal);
  return { code, ...terminal.written };
}
const executors = (root: string, ...args: string[]) => call(root, 'executors', ...args);

describe('troupe executors', () => {
  it('lists those that are known and those of the files', async () => {
    await using project = await temporaryProject({
      'executors.yaml': 'executors:\n  far: { like: codex, address: "127.0.0.1:18088" }\n',
      'home/.config/troupe/executors.yaml': 'executors:\n  gemini: { title: My Gemini }\n',
    });
    const { code, out } = await executors(project.root, 'list', '--json');
    expect(code).toBe(0);
    const { executors: all } = JSON.parse(out) as { executors: readonly { readonly name: string }[] };
    expect(all.map(({ name }) => name)).toContain('claude-code');
    expect(all.find(({ name }) => name === 'far')).toEqual({
      ...{ name: 'far', title: 'Codex', source: 'project', address: '127.0.0.1:18088' },
      install: expect.any(String),
      notes: expect.any(String),
      walls: { how: 'outside', why: 'it listens at an address', fix: expect.any(String) },
    });
    expect(all.find(({ name }) => name === 'gemini')).toMatchObject({ title: 'My Gemini', source: 'user', installed: false });
    expect((await executors(project.root)).out).toMatch(/far +Codex +project +at an address +outside +127\.0\.0\.1:18088/);
  });

  it('names what is wrong in a file with its place, and starts nothing then', async () => {
    await using project = await temporaryProject({
      'executors.yaml': 'executors:\n  mine:\n    comand: [x]\n',
      'home/.config/troupe/executors.yaml': '',
    });
    const { code, progress } = await executors(project.root, 'list');
    expect(code).toBe(2);
    expect(progress).toMatch(/executors\.yaml:3:5: error: unknown key "comand"[\s\S]*Did you mean "command"\?/);
    await using senseless = await temporaryProject({ 'executors.yaml': 'executors:\n  mine: { title: Mine }\n' });
    expect((await executors(senseless.root, 'probe', 'codex')).progress).toMatch(
      /executors\.yaml:2:3: error: the executor mine has neither a command nor an address/,
    );
  });

  it('adds one and finds out what it can do', async () => {
    await using project = await temporaryProject({ 'executors.yaml': '# ours\nexecutors:\n  # old\n  a: { like: codex }\n' });
    const added = await executors(project.root, 'add', 'mine', '--key', 'MY_KEY', '--', ...sampleCommand('--image'));
    expect([added.code, added.out]).toEqual([
      0,
      `added  mine in executors.yaml: troupe -C ${project.root} executors probe mine\n`,
    ]);
    const text = await readFile(join(project.root, 'executors.yaml'), 'utf8');
    expect(text).toMatch(/^# ours\nexecutors:\n {2}# old\n {2}a: \{ like: codex \}\n {2}mine:\n/);
    const probed = await executors(project.root, 'probe', 'mine', '--json');
    expect(probed.code).toBe(0);
    expect(JSON.parse(probed.out)).toMatchObject({
      ...{ name: 'mine', works: true, version: '9.8.7', protocol: 1, asks: true, images: true, loads: false, mcp: ['stdio'] },
      missing: [],
    });
    expect((await executors(project.root, 'add', 'mine', '--like', 'pi')).progress).toContain('has an executor mine already');
    expect((await executors(project.root, 'add', 'mine', '--like', 'pi', '--force')).code).toBe(0);
    expect((await executors(project.root, 'add', 'other')).progress).toContain('neither a command nor an address');
    expect((await executors(project.root, 'add', 'Bad Name', '--like', 'pi')).code).toBe(2);
    expect((await executors(project.root, 'add', 'own', '--like', 'pi', '--user')).out).toContain(
      '.config/troupe/executors.yaml',
    );
  });

  it('says of one that does not work what is missing', async () => {
    await using project = await temporaryProject({
      'executors.yaml': 'executors:\n  gone: { command: [no-such-agent], install: get it, needs: [SOME_KEY] }\n',
    });
    const { code, out } = await executors(project.root, 'probe', 'gone');
    expect(code).toBe(6);
    expect(out.split('\n').map((line) => line.trim())).toEqual([
      'gone  gone: does not work here',
      'walls        runs without: it was switched off (sandbox: off)',
      'missing      gone is not installed: there is no no-such-agent.',
      'fix        Install it: get it',
      'missing      SOME_KEY: it is not set',
      'fix        Set SOME_KEY, or log in with gone itself.',
      '',
    ]);
    expect((await executors(project.root, 'probe', 'gne')).progress).toContain('Did you mean "gone"?');
  });

  it('completes their names', async () => {
    await using project = await temporaryProject({ 'executors.yaml': 'executors:\n  mine: { like: pi }\n' });
    expect((await call(project.root, 'complete', '--', 'executors', 'probe', 'm')).out).toContain('mine');
  });
});
