/**
 * A session goes out of one project and into another with the real command line: what can be done with it there, and what not.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestProject, type TestProject } from './support-project.ts';

const ASK = { toolCalls: [{ name: 'ask', input: { question: 'Which of the two?' } }] };
const WRITE = { toolCalls: [{ name: 'write', input: { path: 'out.txt', content: 'x\n' } }] };

async function look(project: TestProject, code: number, ...args: readonly string[]): Promise<string> {
  const { out, err, ...ended } = await project.look(...args);
  expect(ended.code, `${args.join(' ')}: ${err}`).toBe(code);
  return `${out}\n${err}`;
}

it('is read, replayed and forked where it was imported, and does not go on there', async () => {
  await using home = await createTestProject('permissions: { write: allow }\n');
  await home.script(WRITE, { text: 'It is written.' });
  await look(home, 0, 'run', 'helper', 'Write it.');
  const file = join(home.folder, 'a.tar.gz');
  await look(home, 0, 'export', 'last', '--bundle', '-o', file);
  expect(execFileSync('tar', ['-tzf', file], { encoding: 'utf8' })).toContain('agents/helper.md');

  await using away = await createTestProject('permissions: { write: allow }\n');
  expect(await look(away, 0, 'import', file, '--check')).toContain('would be imported');
  expect(await look(away, 0, 'sessions')).toContain('no sessions yet');
  expect(await look(away, 0, 'import', file)).toMatch(/imported: \d+ events[\s\S]*not signed/);
  expect(await look(away, 0, 'import', file)).toContain('is here already');
  expect(await look(home, 0, 'import', file)).toContain('it began in this ledger');
  expect(await look(away, 0, 'sessions')).toContain('(imported from a.tar.gz) Write it.');
  expect(await look(away, 0, 'show', 'last')).toMatch(/It is written\.|a\.tar\.gz, a bundle/);
  expect(await look(away, 0, 'ledger', 'verify')).toContain('sound');
  expect(await look(away, 0, 'replay', 'last')).toContain('came to the same');
  for (const [command, ...more] of [['logs'], ['why'], ['cost'], ['context'], ['export', '--format', 'jsonl']])
    await look(away, 0, command ?? '', 'last', ...more);
  expect(await look(away, 2, 'resume', 'last')).toContain('imported from a bundle');
  await look(away, 0, 'fork', 'last', '--at', '3', '--no-run');
  expect(await look(away, 0, 'ledger', 'verify')).toContain('sound');
});

it('of a run that waits asks nobody here, and takes no answer', async () => {
  await using home = await createTestProject();
  await home.script(ASK, { text: 'Done.' });
  await look(home, 5, 'run', 'helper', 'Ask.');
  const file = join(home.folder, 'a.tar');
  await look(home, 0, 'export', 'last', '--bundle', '-o', file);
  await using away = await createTestProject();
  await look(away, 0, 'import', file);
  expect(await look(away, 0, 'inbox')).not.toContain('Which of the two?');
  const shown = await look(away, 0, 'show', 'last');
  expect(shown).toContain('paused');
  for (const said of [shown, await look(away, 0, 'ps', '--all'), await look(away, 0, 'why', 'last', '--end')]) {
    expect(said).toMatch(/troupe fork \w+/);
    expect(said).not.toContain('troupe resume');
  }
  for (const words of [
    ['answer', 'last', 'this'],
    ['cancel', 'last'],
    ['pause', 'last'],
    ['send', 'last', 'Hello.'],
    ['resume', 'last'],
  ])
    expect(await look(away, 2, ...words)).toContain('imported from a bundle');
  expect(await look(away, 2, 'replay', 'last')).toContain('has not ended');
  await look(home, 0, 'answer', 'last', 'this');
});

it('is signed and checked with keys that other programs made', async () => {
  await using home = await createTestProject();
  await home.script({ text: 'Done.' });
  await look(home, 0, 'run', 'helper', 'Go.');
  const at = (name: string): string => join(home.folder, name);
  for (const name of ['mine', 'theirs']) {
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', at(`${name}.pem`)], { stdio: 'ignore' });
    execFileSync('openssl', ['pkey', '-in', at(`${name}.pem`), '-pubout', '-out', at(`${name}.pub`)], { stdio: 'ignore' });
  }
  const [signed, plain] = [at('signed.tar'), at('plain.tar')];
  expect(await look(home, 0, 'export', 'last', '--bundle', '--sign', at('mine.pem'), '-o', signed)).toMatch(/signed with \w{16}/);
  await look(home, 0, 'export', 'last', '--bundle', '-o', plain);
  await using away = await createTestProject();
  expect(await look(away, 2, 'import', plain, '--key', at('mine.pub'))).toContain('it has none');
  expect(await look(away, 2, 'import', signed, '--key', at('theirs.pub'))).toMatch(/was signed with the key \w{16}, not with/);
  expect(await look(away, 2, 'import', signed, '--key', at('mine.pem'))).toContain('does not hold a public');
  expect(await look(away, 0, 'sessions')).toContain('no sessions yet');
  expect(await look(away, 0, 'import', signed, '--key', at('mine.pub'))).toContain('the key that you named');
  expect(await look(away, 2, 'export', 'last', '--bundle', '--sign', at('mine.pub'), '-o', 'x.tar')).toContain('private');
  expect(await look(away, 2, 'export', 'last', '--bundle')).toContain('-o session.troupe.tar');
});

it('is nothing that can be checked when it is something else', async () => {
  await using away = await createTestProject();
  await away.write('notes.txt', 'hello');
  for (const path of ['notes.txt', '.']) expect(await look(away, 2, 'import', path, '--check')).toContain('is no bundle');
});
