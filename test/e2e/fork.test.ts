/** `troupe fork`: files as they were, in a folder of its own; what is another; where it came from; and what it refuses. */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestProject, expectErrorObject, objectIn, type TestProject } from './support-project.ts';

const AGENT = '---\nname: helper\ntools: [read, write, shell]\npermissions: { "*": allow }\n---\nYou help.\n';
const writes = (path: string, content: string) => ({ toolCalls: [{ name: 'write', input: { path, content } }] });
const git = (folder: string, ...words: readonly string[]): void =>
  void execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { cwd: folder, stdio: 'ignore' });

/** Has written a file, changed it, made another, and reported. */
async function played(isRepository: boolean): Promise<TestProject> {
  const project = await createTestProject('', AGENT);
  await project.write('old.txt', 'as it was\n');
  await project.write('.gitignore', '.troupe\n');
  if (isRepository)
    for (const words of [
      ['init', '-q'],
      ['add', '.'],
      ['commit', '-qm', 'begin'],
    ])
      git(project.folder, ...words);
  const read = { toolCalls: [{ name: 'read', input: { path: 'new.txt' } }] };
  await project.script(writes('new.txt', 'one\n'), read, writes('new.txt', 'two\n'), writes('more.txt', 'x\n'), {
    text: 'Done.',
  });
  expect(await project.look('run', 'helper', 'Write.', '--quiet')).toMatchObject({ code: 0, out: 'Done.\n' });
  return project;
}

async function madeFork(project: TestProject, ...args: readonly string[]) {
  const forked = await project.look('fork', 'last', ...args, '--json', '--quiet');
  expect(forked).toMatchObject({ code: 0 });
  return objectIn(forked.out) as unknown as {
    readonly run: string;
    readonly session: string;
    readonly workspace: string;
    readonly kept: { readonly calls: number };
    readonly from: { readonly run: string; readonly event: string };
    readonly result: { readonly cost: object; readonly modelCalls: number; readonly forked: object } | null;
  };
}

const text = (...path: readonly string[]): Promise<string | undefined> => readFile(join(...path), 'utf8').catch(() => undefined);

describe.each([
  ['in a repository', true],
  ['in a folder without git', false],
] as const)('a fork %s', (_where, isRepository) => {
  it('has files as they were, in a folder of its own, and leaves those of the source alone', async () => {
    await using project = await played(isRepository);
    const { workspace, run, from, kept } = await madeFork(project, '--at', 'turn 2', '--no-run');
    expect(kept).toMatchObject({ calls: 2 });
    expect(workspace).not.toBe(project.folder);
    expect([await text(workspace, 'new.txt'), await text(workspace, 'old.txt')]).toEqual(['one\n', 'as it was\n']);
    expect(await text(workspace, 'more.txt')).toBeUndefined();
    expect([await text(project.folder, 'new.txt'), await text(project.folder, 'more.txt')]).toEqual(['two\n', 'x\n']);
    await writeFile(join(project.folder, 'new.txt'), 'of a person\n');
    expect(await project.look('resume', run, '--quiet')).toMatchObject({ code: 0, out: 'Done.\n' });
    expect([await text(workspace, 'new.txt'), await text(project.folder, 'new.txt')]).toEqual(['two\n', 'of a person\n']);
    expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0 });
    for (const command of [
      ['show', run],
      ['why', run],
      ['logs', run],
    ])
      expect((await project.look(...command)).out, command[0]).toContain(from.run);
    expect((await project.look('sessions')).out).toContain('fork of');
  });
});

describe('a fork', () => {
  it('goes on at once, counts only what is new, and can have another answer, result, prompt, model and agent', async () => {
    await using project = await played(true);
    const source = (await madeFork(project, '--at', 'end', '--no-run')).from.run;
    const { result, kept } = await madeFork(project);
    expect([kept.calls, result?.modelCalls]).toEqual([4, 1]);
    expect(result?.forked).toMatchObject({ run: expect.any(String) });
    const other = await project.look('fork', source, '--at', 'turn/2/tool/0', '--set', 'result=nothing', '--no-run', '--quiet');
    expect(other.code).toBe(0);
    expect((await project.look('logs', other.out.trim(), '--jsonl')).out).toContain('"nothing"');
    await mkdir(join(project.folder, 'drafts'));
    await project.write('drafts/helper.md', AGENT.replace('You help.', 'You help otherwise.'));
    const agent = await madeFork(project, '--set', 'agent=drafts/helper.md', '--set', 'model=scripted:replies.yaml');
    expect((await project.look('logs', agent.run, '--jsonl')).out).toContain('You help otherwise.');
    const prompt = await madeFork(project, '--set', 'prompt=Write something else.', '--no-run');
    expect((await project.look('sessions')).out).toContain('Write something else.');
    expect(prompt.kept.calls).toBe(0);
  });

  it('names files that others have changed since, where nobody recorded what they held', async () => {
    await using project = await played(true);
    expect((await project.look('fork', 'last', '--no-run', '--json')).out).not.toContain('old.txt');
    await project.write('old.txt', 'as it is now\n');
    const forked = await project.look('fork', 'last', '--at', 'turn 2', '--no-run', '--json');
    const said = expect.stringMatching(/as they are now: .*old\.txt/);
    expect(objectIn(forked.out)).toMatchObject({ notes: [said] });
  });

  it('says which files it cannot have as they were, and takes a folder as it is', async () => {
    await using project = await played(false);
    await writeFile(join(project.folder, 'new.txt'), 'of a person\n');
    const refused = await project.look('fork', 'last', '--at', 'turn 2', '--json');
    expect(refused.code).not.toBe(0);
    expectErrorObject(refused, 'fork_files');
    expect(refused.out).toMatch(/new\.txt: it was changed since, by somebody else.*--in/s);
    expect((await project.look('sessions', '--json')).out).not.toContain('forked');
    await mkdir(join(project.folder, 'here'));
    expect(await madeFork(project, '--at', 'turn 2', '--in', 'here', '--no-run')).toMatchObject({
      workspace: join(project.folder, 'here'),
    });
  });

  it('is refused with what to do, and nothing is written', async () => {
    await using project = await played(false);
    const before = (await project.look('ledger', 'stats')).out;
    for (const [args, code, says] of [
      [['--at', 'turn 9'], 'fork_place', 'turn 1 to turn 5, end'],
      [['--at', '0'], 'fork_place', 'before the start'],
      [['--at', '4000'], 'fork_place', 'behind the end'],
      [['--set', 'colour=red'], 'usage', 'prompt=…, model=…, answer=…, result=…, agent=…'],
      [['--set', 'model='], 'usage', 'Write model=…'],
      [['--set', 'model=a', '--set', 'model=b'], 'usage', 'given twice'],
      [['--set', 'answer=yes'], 'fork_set', 'none in this session'],
      [['--at', 'turn 1', '--set', 'prompt=x'], 'fork_set', '--at start'],
    ] as const) {
      const refused = await project.look('fork', 'last', ...args, '--json');
      expect(refused.code, args.join(' ')).not.toBe(0);
      expectErrorObject(refused, code);
      expect(refused.out).toContain(says);
    }
    expect((await project.look('ledger', 'stats')).out).toBe(before);
  });
});
