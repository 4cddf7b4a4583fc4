/** A browser is started with the address, by the program that the user has chosen; that there is none is no reason to end. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { openBrowser, showConsole } from './console-pages.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-browser-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a browser is started with the address', async () => {
  const program = join(folder, 'browser');
  const said = join(folder, 'said');
  await writeFile(program, `#!/bin/sh\nprintf '%s' "$1" > '${said}.new'\nmv '${said}.new' '${said}'\n`);
  await chmod(program, 0o755);
  expect(await openBrowser('http://127.0.0.1:1/login#code', { BROWSER: program })).toBe(true);
  await expect.poll(() => readFile(said, 'utf8').catch(() => '')).toBe('http://127.0.0.1:1/login#code');
});

it('without a browser the link is left to whoever looks, and is in no log', async () => {
  const terminal = testTerminal({ env: { BROWSER: join(folder, 'nowhere'), TROUPE_CALLED_AS: './troupe' } });
  expect(await openBrowser('http://127.0.0.1:1/', { BROWSER: join(folder, 'nowhere') })).toBe(false);
  await showConsole('http://127.0.0.1:1/login#code', { terminal, cwd: terminal.cwd });
  expect(terminal.written.all).toContain('no browser could be started; start ./troupe serve in a terminal');
  expect(terminal.written.all).not.toContain('#code');
});
