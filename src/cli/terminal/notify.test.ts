/** A bell or a notification: only where it is wanted, only where somebody is, and never more than text. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { createNotifier, type NotifyBy } from './notify.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-notify-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** What is written to the terminal. */
async function told(
  by: NotifyBy,
  text: string,
  env: Record<string, string> = {},
  tty = true,
  platform = 'linux',
): Promise<string> {
  const terminal = testTerminal({ env, tty });
  const notifier = createNotifier(terminal, by, platform);
  notifier.tell(text);
  await notifier.settled();
  expect(terminal.written.out).toBe('');
  return terminal.written.progress;
}

/** A program on the path that writes down what it is given. */
async function program(name: string, ending = ''): Promise<Record<string, string>> {
  const keep = `for each in "$@"; do printf '%s\\n' "$each"; done > '${folder}/given'\nenv > '${folder}/env'`;
  const script = `#!/bin/sh\n${keep}\n${ending}\n`;
  await writeFile(join(folder, name), script, { mode: 0o755 });
  return { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':0', SECRET_API_KEY: 'sk-1' };
}

const given = async (): Promise<readonly string[]> => (await readFile(join(folder, 'given'), 'utf8')).trimEnd().split('\n');

describe('a bell', () => {
  it('is one sign on a terminal and nothing anywhere else', async () => {
    expect(await told('bell', 'Run of a ended')).toBe('\u0007');
    expect(await told('bell', 'Run of a ended', {}, false)).toBe('');
    expect(await told('none', 'Run of a ended')).toBe('');
  });
});

describe('a notification', () => {
  it.each([
    [{ TERM_PROGRAM: 'iTerm.app' }, '\u001b]9;Troupe: Run of a; ended\u0007'],
    [{ TERM: 'xterm-kitty' }, '\u001b]9;Troupe: Run of a; ended\u0007'],
    [{ TERM: 'foot' }, '\u001b]777;notify;Troupe;Run of a, ended\u0007'],
    [{ TERM: 'foot', TMUX: '/tmp/tmux' }, '\u0007'],
    [{ TERM: 'xterm-256color' }, '\u0007'],
  ])('of the terminal %j', async (env, written) => {
    expect(await told('desktop', 'Run of a; ended', env)).toBe(written);
    expect(await told('desktop', 'Run of a; ended', env, false)).toBe('');
  });

  it('cannot end the sequence, break the line or go on for ever', async () => {
    const text = `Run of a\u0007\u001b]0;title\u0007\n\u001b\\ended ${'x'.repeat(5000)}`;
    const written = await told('desktop', text, { TERM: 'foot' });
    expect(written.indexOf('\u0007')).toBe(written.length - 1);
    expect(written.lastIndexOf('\u001b')).toBe(0);
    expect(written).not.toContain('\n');
    expect(written.length).toBeLessThan(300);
  });

  it('of the desktop, without a shell, without markup and without keys', async () => {
    const env = await program('notify-send');
    expect(await told('desktop', `Run of "$(touch ${folder}/PWNED)" <b>&`, env, false)).toBe('');
    expect(await given()).toEqual(['--app-name=Troupe', '--', 'Troupe', `Run of "$(touch ${folder}/PWNED)" &lt;b&gt;&amp;`]);
    expect(await readFile(join(folder, 'env'), 'utf8')).not.toContain('sk-1');
    await expect(readFile(join(folder, 'PWNED'))).rejects.toThrow('ENOENT');
  });

  it('on a Mac, as an argument of a fixed script', async () => {
    const env = await program('osascript');
    await told('desktop', 'Run of a" & (do shell script "x") ended', env, false, 'darwin');
    expect((await given()).at(-1)).toBe('Run of a" & (do shell script "x") ended');
    expect((await given()).filter((one) => one.includes('shell script'))).toHaveLength(1);
  });

  it('is a bell where the program fails, where there is no screen, and where the path is relative', async () => {
    const env = await program('notify-send', 'exit 1');
    expect(await told('desktop', 'Run of a ended', env)).toBe('\u0007');
    await rm(join(folder, 'given'));
    expect(await told('desktop', 'Run of a ended', { PATH: env['PATH'] ?? '' })).toBe('\u0007');
    expect(await told('desktop', 'Run of a ended', { ...env, PATH: '.' })).toBe('\u0007');
    await expect(readFile(join(folder, 'given'))).rejects.toThrow('ENOENT');
  });
});
