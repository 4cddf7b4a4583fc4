/** When a run needs somebody and when it ends, the terminal rings, if that was asked for. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { type TestTerminalOptions, testTerminal } from '../support/test-terminal.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-notify-'));
  await mkdir(join(folder, 'agents'));
  await writeFile(join(folder, 'agents/helper.md'), '---\ndescription: Helps.\ntools: [ask, shell]\n---\nYou help.\n');
  await writeFile(join(folder, 'troupe.yaml'), 'model: scripted:replies.yaml\nnotify: bell\n');
  await script({ toolCalls: [{ name: 'shell', input: { command: 'true' } }] }, { text: 'Done.' });
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const script = (...replies: readonly unknown[]): Promise<void> =>
  writeFile(join(folder, 'replies.yaml'), JSON.stringify(replies));

const bells = (text: string): number => text.split('\u0007').length - 1;

async function troupe(args: readonly string[], options: TestTerminalOptions = { tty: true }) {
  const terminal = testTerminal({ ...options, env: { PATH: process.env['PATH'], HOME: folder }, cwd: folder });
  const code = await runProgram(args, terminal);
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

describe('the bell', () => {
  it('rings when it needs somebody who is not here, once, and when it ends', async () => {
    const waiting = await troupe(['run', 'helper', 'hi']);
    expect([waiting.code, bells(waiting.err)]).toEqual([5, 1]);
    const approved = await troupe(['approve', 'last']);
    expect([approved.code, bells(approved.err)]).toEqual([0, 1]);
  });

  it('rings for a question and for the end where somebody answers', async () => {
    const { code, err } = await troupe(['run', 'helper', 'hi'], { tty: true, interactive: true, answers: ['y'] });
    expect([code, bells(err)]).toEqual([0, 2]);
  });

  it('rings only for the end where every permission is given', async () => {
    const { code, err } = await troupe(['run', 'helper', 'hi', '--yes']);
    expect([code, bells(err)]).toEqual([0, 1]);
  });

  it('is silent with none, in a pipe, and when nobody asked for it', async () => {
    expect(bells((await troupe(['run', 'helper', 'hi', '--yes', '--notify', 'none'])).err)).toBe(0);
    expect(bells((await troupe(['run', 'helper', 'hi', '--yes'], {})).err)).toBe(0);
    await writeFile(join(folder, 'troupe.yaml'), 'model: scripted:replies.yaml\n');
    expect(bells((await troupe(['run', 'helper', 'hi', '--yes'])).err)).toBe(0);
    const asked = await troupe(['run', 'helper', 'hi', '--yes', '--notify', 'bell']);
    expect([asked.code, bells(asked.err), bells(asked.out)]).toEqual([0, 1, 0]);
    expect(await troupe(['run', 'helper', 'hi', '--notify', 'loud'])).toMatchObject({ code: 2 });
  });
});
