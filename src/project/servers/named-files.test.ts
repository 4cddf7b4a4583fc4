import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { keyOf } from './allowed-servers.ts';
import { namedPaths, namesTooMuch } from './named-files.ts';

const project = (): string => mkdtempSync(join(tmpdir(), 'troupe-named-'));

function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

it.each([
  ['a word', { command: 'node', args: ['server.mjs'] }, 'server.mjs'],
  ['the command', { command: './server' }, 'server'],
  ['a shell line', { command: 'sh', args: ['-c', 'node server.mjs x'] }, 'server.mjs'],
  ['a shell line with quotes', { command: 'sh', args: ['-c', "exec './run.sh';true"] }, 'run.sh'],
  ['an option with a value', { command: 'node', args: ['--import=./first.mjs', '-e', '0'] }, 'first.mjs'],
  ['a file of variables', { command: 'node', args: ['--env-file=local.env', 'x.js'] }, 'local.env'],
  ['a variable', { command: 'node', args: ['x.js'], env: { NODE_OPTIONS: '--import ./first.mjs' } }, 'first.mjs'],
  ['a list in a variable', { command: 'python3', args: ['x.py'], env: { PRELOAD: '/usr/lib/a.so:lib/b.so' } }, 'lib/b.so'],
  ['a folder', { command: 'node', args: ['server'] }, 'server/package.json'],
  ['a folder with an index', { command: 'node', args: ['server'] }, 'server/index.js'],
  ['a name without its ending', { command: 'node', args: ['server'] }, 'server.js'],
  ['a module', { command: 'python3', args: ['-m', 'tools.server'] }, 'tools/server.py'],
  ['a package of modules', { command: 'python3', args: ['-m', 'server'] }, 'server/__main__.py'],
  ['a script of the package', { command: 'npm', args: ['run', 'mcp'] }, 'package.json'],
  ['a script in a shell line', { command: 'sh', args: ['-c', 'npm start'] }, 'package.json'],
  ['a target', { command: 'make', args: ['mcp'] }, 'Makefile'],
  ['an installed program', { command: 'npx', args: ['server'] }, 'node_modules/.bin/server'],
  ['a folder that a shell goes to', { command: 'sh', args: ['-c', 'cd lib && node server'] }, 'lib/server.js'],
  ['two folders', { command: 'sh', args: ['-c', 'cd lib; cd deep; ./run'] }, 'lib/deep/run'],
  ['a folder that env goes to', { command: 'env', args: ['-C', 'lib', 'node', 'server.mjs'] }, 'lib/server.mjs'],
  ['a folder with scripts', { command: 'npm', args: ['--prefix', 'lib', 'start'] }, 'lib/package.json'],
  ['a folder in a variable', { command: 'sh', args: ['-c', 'X=lib; node $X/server.mjs'] }, 'lib/server.mjs'],
  ['a pattern of a shell', { command: 'sh', args: ['-c', 'node lib/*.mjs'] }, 'lib/server.mjs'],
  ['a pattern with folders', { command: 'bash', args: ['-c', 'node l*/s?rver.mjs'] }, 'lib/server.mjs'],
  ['a pattern behind cd', { command: 'bash', args: ['-c', 'cd lib && node [s]erver.mjs'] }, 'lib/server.mjs'],
  ['quotes inside a word', { command: 'sh', args: ['-c', `node li'b'/ser"ver".mjs`] }, 'lib/server.mjs'],
  ['a backslash inside a word', { command: 'sh', args: ['-c', 'node ser\\ver.mjs'] }, 'server.mjs'],
  ['a file in the folder it starts in', { command: 'node', args: ['server.mjs'], cwd: 'sub' }, 'sub/server.mjs'],
] as const)('what is allowed has the content of what it names by %s', async (_, config, file) => {
  const root = project();
  put(root, file, 'one');
  const before = await keyOf(root, 'docs', config);
  expect(await keyOf(root, 'docs', config)).toBe(before);
  put(root, file, 'two');
  expect(await keyOf(root, 'docs', config)).not.toBe(before);
});

it('is not started when more is named than can be looked at', async () => {
  const root = project();
  const folders = Array.from({ length: limits.serverFolders + 1 }, (_, index) => `folder${index}`);
  for (const folder of folders) put(root, `${folder}/x`, '');
  const line = { command: 'sh', args: ['-c', `true ${folders.join(' ')} && node x`] };
  expect(await namesTooMuch(root, root, line)).toContain('limit serverFolders');
  expect(await namesTooMuch(root, root, { command: 'sh', args: ['-c', 'a '.repeat(9)] })).toBeUndefined();
  const words = Array.from({ length: limits.serverPieces + 1 }, (_, index) => `word${index}`);
  expect(await namesTooMuch(root, root, { command: 'x', args: words })).toContain('limit serverPieces');
});

it('is asked again when a file appears that would be taken', async () => {
  const root = project();
  const config = { command: 'node', args: ['server'] };
  const before = await keyOf(root, 'docs', config);
  put(root, 'server.js', '');
  expect(await keyOf(root, 'docs', config)).not.toBe(before);
});

it('follows a link to where it leads', async () => {
  const root = project();
  put(root, 'real.mjs', 'one');
  symlinkSync('real.mjs', join(root, 'server.mjs'));
  const config = { command: 'node', args: ['server.mjs'] };
  const before = await keyOf(root, 'docs', config);
  put(root, 'real.mjs', 'two');
  expect(await keyOf(root, 'docs', config)).not.toBe(before);
});

it('stays the same when other files change, and package.json where no script of it is run', async () => {
  const root = project();
  put(root, 'server.mjs', '');
  const configs = [
    { command: 'node', args: ['server.mjs'] },
    { command: 'npx', args: ['-y', '@example/docs@1.2.3'] },
  ];
  const before = await Promise.all(configs.map((config) => keyOf(root, 'docs', config)));
  for (const file of ['package.json', 'README.md', 'src/server.mjs']) put(root, file, '{}');
  expect(await Promise.all(configs.map((config) => keyOf(root, 'docs', config)))).toEqual(before);
});

it('the folder of the project is what a server works on, unless it is all that a program is given', async () => {
  const root = project();
  const named = async (command: string, ...args: string[]) =>
    (await namedPaths(root, root, { command, args })).filter((path) => ['package.json', 'index.js'].includes(basename(path)));
  expect(await named('npx', '-y', '@example/files', '.')).not.toContain(join(root, 'package.json'));
  expect(await named('node', 'server.mjs', root)).not.toContain(join(root, 'index.js'));
  expect(await named('node', '.')).toContain(join(root, 'index.js'));
  expect(await named('npm', 'run', 'mcp')).toContain(join(root, 'package.json'));
});

it('what fetches a program is told from where by files of the project', async () => {
  const root = project();
  const named = await namedPaths(root, root, { command: 'npx', args: ['-y', '@example/files', '.'] });
  expect(named).toEqual(
    expect.arrayContaining(['.npmrc', 'node_modules/@example/files/package.json'].map((path) => join(root, path))),
  );
  expect(await namedPaths(root, root, { command: 'node', args: ['server.mjs'] })).not.toContain(join(root, '.npmrc'));
});
