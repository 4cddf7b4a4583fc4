/** The files of the console as a browser gets them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleFiles, createConsoleFiles } from './files.ts';

let folder = '';
let files: ConsoleFiles;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-console-'));
  await mkdir(join(folder, 'assets'));
  for (const [name, text] of [
    ['index.html', '<p>page'],
    ['assets/a-1.js', 'plain'],
    ['assets/a-1.js.gz', 'zipped'],
    ['assets/a-1.js.br', 'brotli'],
    ['sources.txt', 'secret'],
  ] as const)
    await writeFile(join(folder, name), text);
  files = createConsoleFiles({ folder, onError: () => undefined });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ask = async (path: string, headers: Record<string, string> = {}): Promise<readonly unknown[] | undefined> => {
  const response = await files.respond(new Request(`http://127.0.0.1${path}`, { headers }));
  return response && [response.status, await response.text(), response.headers.get('content-encoding')];
};

const page = { accept: 'text/html,application/xhtml+xml' };

describe('the files of the console', () => {
  it.each([
    ['/', page, [200, '<p>page', null]],
    ['/sessions/ses_1?at=3', page, [200, '<p>page', null]],
    ['/assets/a-1.js', {}, [200, 'plain', null]],
    ['/assets/a-1.js', { 'accept-encoding': 'gzip, deflate' }, [200, 'zipped', 'gzip']],
    ['/assets/a-1.js', { 'accept-encoding': 'gzip, deflate, br' }, [200, 'brotli', 'br']],
    ['/assets/gone.js', {}, undefined],
    ['/assets/gone.js', page, undefined],
    ['/sources.txt', {}, undefined],
    ['/assets/../sources.txt', {}, undefined],
    ['/assets/%2e%2e/sources.txt', {}, undefined],
    ['/mcp', { accept: 'application/json' }, undefined],
  ])('%s', async (path, headers, expected) => {
    expect(await ask(path, headers)).toEqual(expected);
  });

  it('may run and load nothing but their own, and are kept for ever where their name has a hash', async () => {
    const [first, second] = await Promise.all(
      [['/', page] as const, ['/assets/a-1.js', {}] as const].map(([path, headers]) =>
        files.respond(new Request(`http://127.0.0.1${path}`, { headers })),
      ),
    );
    const policy = first?.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(first?.headers.get('cache-control')).toBe('no-cache');
    expect(second?.headers.get('cache-control')).toMatch(/immutable/);
  });

  it('that are not there are said to be, and looked for again', async () => {
    const errors: Error[] = [];
    let tries = 0;
    const missing = createConsoleFiles({
      folder: join(folder, 'none'),
      prepare: async () => {
        tries += 1;
      },
      onError: (error) => errors.push(error),
    });
    for (let time = 1; time <= 2; time += 1) {
      const response = await missing.respond(new Request('http://127.0.0.1/', { headers: page }));
      expect([response?.status, await response?.text(), tries]).toEqual([503, expect.stringContaining('/reference'), time]);
    }
    expect(errors).toHaveLength(2);
  });
});
