/**
 * The person's own editor on a text, as a child in their terminal: from $VISUAL, or $EDITOR. The text lies in a file that nobody
 * else can read, in a folder of its own, and is gone afterwards, also when this process leaves before the editor does.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { codeOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';

/** A text and the name of the file in which it is shown: editors go by its ending. */
export interface Draft {
  readonly name: string;
  readonly text: string;
}

export function editorIn(env: Environment): string | undefined {
  return [env['VISUAL'], env['EDITOR']].find((one) => one !== undefined && one.trim() !== '');
}

/** What became of the text, or why there is nothing to be had. */
export async function edited(editor: string, { name, text }: Draft, process: NodeJS.Process): Promise<Result<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-edit-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  try {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    const ended = await inTerminal(editor, path, process);
    if (ended !== undefined) return fail(ended);
    const read = await readText(path);
    if (!read.ok) return read;
    // Most editors end the last line; whoever gave a text without an end meant none.
    const back = text.endsWith('\n') ? read.value : read.value.replace(/\r?\n$/, '');
    if (back.trim() === '') return fail('the file is empty');
    return back === text ? fail('nothing was changed') : ok(back);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Why it did not end well. */
async function inTerminal(editor: string, path: string, process: NodeJS.Process): Promise<string | undefined> {
  // A shell takes the words apart, as everywhere where there is an $EDITOR. The path is no part of what it reads, and Ctrl-C,
  // which reaches everything that stands in the terminal, is the editor's alone.
  const child =
    process.platform === 'win32'
      ? spawn(`${editor} "${path}"`, { stdio: 'inherit', shell: true })
      : spawn('/bin/sh', ['-c', `trap : INT; ${editor} "$@"`, 'editor', path], { stdio: 'inherit' });
  const end = (): void => void child.kill('SIGTERM');
  const theirs = (): void => undefined;
  process.on('exit', end);
  process.on('SIGINT', theirs);
  try {
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve(`the editor cannot be started: ${error.message}`));
      child.once('close', (code, signal) => resolve(code === 0 ? undefined : `the editor ended with ${code ?? signal}`));
    });
  } finally {
    process.off('exit', end);
    process.off('SIGINT', theirs);
  }
}

async function readText(path: string): Promise<Result<string, string>> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    if (size > limits.editedBytes) return fail(`the file is larger than ${limits.editedBytes} bytes (editedBytes)`);
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.readFile()));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return fail('the file is gone');
    return fail(error instanceof TypeError ? 'the file is not text' : 'the file cannot be read');
  }
}
