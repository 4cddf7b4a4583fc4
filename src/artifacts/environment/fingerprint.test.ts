/** What work is done with: the same has the same hash, what differs another one, and nothing of an agent's is run to find out. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { testFolder } from '../../../test/support/ledger/sqlite-folder.ts';
import { hashInEnvironmentRef } from '../refs.ts';
import { createEnvironments } from './fingerprint.ts';

const plain = (text: string): string => text;
const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
const environments = (environment: Record<string, string> = {}, redact = plain) =>
  createEnvironments({ environment: { PATH: path, HOME: testFolder(), ...environment }, redact });

it('the same is the same, in another folder too; lockfiles and the sandbox make a difference', async () => {
  const [one, other] = [testFolder(), testFolder()];
  const of = environments();
  const first = await of.fingerprint(one);
  expect(await environments().fingerprint(other)).toEqual(first);
  expect(hashInEnvironmentRef(first.ref)).toBe(first.sha256.slice(0, 12));
  expect((await of.fingerprint(one, 'image:1')).sha256).not.toBe(first.sha256);
  writeFileSync(join(one, 'package-lock.json'), '{}');
  expect((await of.fingerprint(one)).environment).toMatchObject({
    lockfiles: { 'package-lock.json': expect.stringMatching(/^[0-9a-f]{64}$/) },
    tools: { node: process.version },
    os: { platform: platform(), arch: arch(), kernel: release() },
  });
});

it('the commit is in it, and whether the files are those of it', async () => {
  const folder = testFolder();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: folder });
  git('init', '-q');
  expect((await environments().fingerprint(folder)).environment).not.toHaveProperty('git');
  writeFileSync(join(folder, 'a.txt'), 'a');
  git('add', '.');
  git('commit', '-qm', 'a');
  const commit = git('rev-parse', 'HEAD').toString().trim();
  const of = environments();
  expect((await of.fingerprint(folder)).environment).toMatchObject({ git: { commit, dirty: false } });
  writeFileSync(join(folder, 'b.txt'), 'b');
  expect((await of.fingerprint(folder)).environment).toMatchObject({ git: { commit, dirty: true } });
});

it('no program of the workspace is run, whatever its files and the settings of its repository say', async () => {
  const folder = testFolder();
  const ran = join(testFolder(), 'ran');
  const trap = `#!/bin/sh\necho "$0" >> ${ran}\n`;
  mkdirSync(join(folder, 'bin'));
  for (const name of ['node', 'git', 'npm', 'bash', 'filter']) {
    writeFileSync(join(folder, 'bin', name), trap);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: folder });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'a');
  const filter = join(folder, 'bin/filter');
  for (const setting of ['core.fsmonitor', 'filter.trap.clean', 'filter.trap.process', 'diff.trap.textconv', 'diff.external'])
    git('config', setting, filter);
  writeFileSync(join(folder, '.gitattributes'), '* filter=trap diff=trap\n');
  writeFileSync(join(folder, 'bin/node'), `${trap}# changed\n`);
  const found = await environments({ PATH: `${join(folder, 'bin')}:bin:${path}` }).fingerprint(folder);
  expect(found.environment).toMatchObject({ tools: { node: process.version }, git: { dirty: true } });
  expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe('');
});

it('no value of a variable is in it', async () => {
  const found = await environments({ API_TOKEN: 'very-secret-value', PATH: path }).fingerprint(testFolder());
  expect(JSON.stringify(found)).not.toContain('very-secret-value');
  expect(JSON.stringify(found)).not.toContain(path);
});
