import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proofOf } from './proved-commands.ts';

let place = '';
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-script-shell-')));
  for (const name of ['work', 'home', 'node/bin', 'node/etc']) mkdirSync(join(place, name), { recursive: true });
  writeFileSync(join(place, 'work/package.json'), '{"scripts":{"test":"node --test"}}');
  writeFileSync(join(place, 'node/bin/npm'), '#!/bin/sh\n', { mode: 0o755 });
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const PRINTED = { tests: 1, early: undefined, output: '' };
const proof = (line: string) =>
  proofOf(line, join(place, 'work'), { PATH: join(place, 'node/bin'), HOME: join(place, 'home') }, PRINTED);

describe('a test script of npm', () => {
  it.each([
    ['home/.npmrc', 'script-shell=/bin/true\n'],
    ['home/.npmrc', 'registry=https://example.com/\nscript-shell = "/usr/bin/true"\n'],
    ['home/.npmrc', 'node-options=--require /home/me/quiet.cjs\n'],
    ['home/.yarnrc', 'script-shell "/bin/true"\n'],
    ['node/etc/npmrc', 'script-shell=/bin/true\n'],
    ['work/.npmrc', 'script-shell=./bash\n'],
    ['work/.npmrc', 'script-shell=/tmp/bash\n'],
    ['work/.npmrc', 'fund=false\nusage=true\n'],
    ['home/.npmrc', 'usage\n'],
  ])('proves nothing with %s: %j', async (path, text) => {
    writeFileSync(join(place, path), text);
    for (const line of ['npm test', 'cd . && npm run test', 'sh run.sh']) {
      const { proves, unproved } = await proof(line);
      expect({ line, proves }).toEqual({ line, proves: [] });
      expect(unproved.map(({ why }) => why)).toEqual([expect.stringContaining(path)]);
    }
    expect((await proof('node --test')).proves).toHaveLength(1);
  });

  it.each(['', 'script-shell=bash\n', 'script-shell=/usr/local/bin/zsh\n', 'node-options=--max-old-space-size=4096\n'])(
    'proves what it says with %j',
    async (text) => {
      for (const path of ['home/.npmrc', 'work/.npmrc']) writeFileSync(join(place, path), text);
      expect((await proof('npm test')).proves).toHaveLength(1);
    },
  );
});
