/** Tab in real shells, in a folder with agents, runs and groups. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { fromDebian } from '../support/debian/packages.ts';
import { mayRun } from '../support/left-out.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { MAIN } from './support-project.ts';

const run = promisify(execFile);

let folder: string;
let project: string;

const environment = () => ({
  PATH: `${folder}:${dirname(process.execPath)}:${process.env['PATH']}`,
  HOME: folder,
  LC_ALL: 'C.UTF-8',
});

async function troupe(...args: readonly string[]): Promise<readonly string[]> {
  const terminal = testTerminal({ env: environment(), cwd: project });
  expect(await runProgram(args, terminal)).toBe(0);
  return terminal.written.out.split('\n').filter((line) => line !== '');
}

/** The words alone, without what they are. */
const offered = async (...words: readonly string[]): Promise<readonly string[]> =>
  (await troupe('complete', '--', ...words)).map((line) => line.split('\t')[0] ?? '');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-completion-'));
  project = join(folder, 'project');
  await mkdir(join(project, 'agents'), { recursive: true });
  await writeFile(join(folder, 'troupe'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 });
  await writeFile(join(project, 'replies.yaml'), '[{ text: Hello. }]');
  await writeFile(join(project, 'troupe.yaml'), 'model: scripted:replies.yaml\n');
  await writeFile(join(project, '.mcp.json'), '{"mcpServers": {"github": {"command": "x"}}}');
  await writeFile(join(project, 'agents/poet.md'), '---\ndescription: Writes verse.\n---\nWrite.\n');
  await writeFile(join(project, 'agents/poor painter.md'), '---\ndescription: Paints.\n---\nPaint.\n');
  await writeFile(join(project, 'agents/$(touch PWNED)`touch PWNED`.md'), '---\ndescription: Trouble.\n---\nTrouble.\n');
  await troupe('run', 'poet', 'hi', '--quiet');
  await troupe('groups', 'create', 'review', '--preset', 'Bug Hunt', '--worktrees', 'shared');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('what is offered', () => {
  it.each([
    [
      ['run', ''],
      ['$(touch PWNED)`touch PWNED`', 'poet', 'poor painter'],
    ],
    [
      ['run', '--model', 'x', '--quiet', ''],
      ['$(touch PWNED)`touch PWNED`', 'poet', 'poor painter'],
    ],
    [['run', 'poet', ''], []],
    [['servers', 'allow', ''], ['github']],
    [['servers', 'forget', ''], ['github']],
    [['new', 'agent', ''], []],
    [
      ['new', 'team', 'room', 'poet', ''],
      ['$(touch PWNED)`touch PWNED`', 'poet', 'poor painter'],
    ],
    [['groups', 'show', ''], ['review']],
    [['groups', 'create', ''], []],
    [
      ['logs', '--level', ''],
      ['detail', 'info', 'warn', 'error'],
    ],
    [
      ['logs', '--level', '=', ''],
      ['detail', 'info', 'warn', 'error'],
    ],
    [
      ['presets', ''],
      ['list', 'show', 'import'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['init', '--template', 're'],
      ['agent', 'review', 'research', 'coding', 'support'],
    ],
  ])('after %j', async (words, expected) => {
    expect([...(await offered(...words))].sort()).toEqual([...expected].sort());
  });

  it('runs by short id, by whole id, and the newest', async () => {
    const [first, id, ...more] = await offered('show', '');
    expect([first, more]).toEqual(['last', []]);
    expect(id).toMatch(/^[0-9a-z]{6}$/);
    expect((await offered('resume', 'run_'))[1]).toMatch(new RegExp(`^run_.*${id}$`));
    expect(await troupe('complete', '--', 'show', '')).toContain(`${id}\tpoet, completed`);
  });

  it('runs with the word for their state that every list has', async () => {
    await writeFile(join(project, 'asking.yaml'), '[{ toolCalls: [{ name: helper, input: { prompt: Go., reason: x } }] }]');
    await writeFile(join(project, 'helping.yaml'), '[{ toolCalls: [{ name: shell, input: { command: ls } }] }]');
    await writeFile(join(project, 'agents/asker.md'), '---\nmodel: scripted:asking.yaml\nagents: [helper]\n---\nAsk.\n');
    await writeFile(join(project, 'agents/helper.md'), '---\nmodel: scripted:helping.yaml\ntools: [shell]\n---\nHelp.\n');
    expect(await runProgram(['run', 'asker', 'hi', '--quiet'], testTerminal({ env: environment(), cwd: project }))).toBe(5);
    const said = await troupe('complete', '--', 'show', '');
    expect(said.filter((line) => /\t(?:asker|helper), waiting$/.test(line))).toHaveLength(2);
    expect((await troupe('complete', '--', 'run', '--session', '')).join('\n')).toContain('asker, waiting');
    for (const name of ['agents/asker.md', 'agents/helper.md']) await rm(join(project, name));
  });

  it('presets, and options with what they do', async () => {
    expect(await offered('groups', 'create', 'x', '--preset', '')).toContain('Bug Hunt');
    expect(await offered('presets', 'show', '')).toContain('Bug Hunt');
    expect(await troupe('complete', '--', 'ps', '--a')).toContain('--all\tchild runs too');
  });

  it('of the folder after -C, where nothing is created', async () => {
    const empty = await mkdtemp(join(folder, 'empty-'));
    expect(await offered('-C', empty, 'run', '')).toEqual([]);
    expect(await offered('-C', empty, 'show', '')).toEqual([]);
    expect(await offered('-C', empty, 'groups', 'show', '')).toEqual([]);
    expect(await offered('-C', empty, 'agents', 'show', '')).toEqual([]);
    expect(await offered('-C', join(empty, 'gone'), 'show', '')).toEqual([]);
    expect(await readdir(empty)).toEqual([]);
  });

  it('never itself: what the shell asks is not for people', async () => {
    expect(await offered('')).not.toContain('complete');
    expect(await offered('')).toContain('completion');
  });
});

/** What bash offers at the end of these words, as `complete` would. */
async function tab(...words: readonly string[]): Promise<readonly string[]> {
  const script = `source <(troupe completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _troupe
[ \${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "\${COMPREPLY[@]}"
complete -p troupe >&2`;
  const { stdout, stderr } = await run('bash', ['--norc', '-c', script, 'bash', ...words], { cwd: project, env: environment() });
  expect(stderr).toBe('complete -o default -F _troupe troupe\n');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('in bash', () => {
  it('commands', async () => expect(await tab('troupe', 'res')).toEqual(['resume']));

  it('agents, quoted and never run', async () => {
    expect(await tab('troupe', 'run', 'po')).toEqual(['poet', 'poor\\ painter']);
    expect(await tab('troupe', 'run', 'poor\\ p')).toEqual(['poor\\ painter']);
    const [trouble, ...more] = await tab('troupe', 'run', '$');
    expect(more).toEqual([]);
    const { stdout } = await run('bash', ['-c', `printf %s ${trouble}`], { cwd: project });
    expect(stdout).toBe('$(touch PWNED)`touch PWNED`');
    expect(await readdir(project)).not.toContain('PWNED');
  });

  it('groups and options', async () => {
    expect(await tab('troupe', 'groups', 'show', '')).toEqual(['review']);
    expect(await tab('troupe', 'ps', '--al')).toEqual(['--all']);
  });
});

interface FoundShell {
  /** Where it is, when it is not on the PATH. */
  readonly folder?: string;
  readonly why?: string;
}

/** On the PATH, or out of Debian's packages. In CI none is left out. */
function findShell(name: 'zsh' | 'fish'): FoundShell {
  if (spawnSync(name, ['-c', 'true']).status === 0) return {};
  const brought = fromDebian(name, [name]);
  if ('programs' in brought) return { folder: brought.programs };
  const why = `${name} is not installed, and ${brought.why}`;
  mayRun(`completion in ${name}`, why);
  return { why };
}

const zsh = findShell('zsh');
const fish = findShell('fish');

const inShell = ({ folder: programs }: FoundShell) => {
  const env = environment();
  return programs === undefined ? env : { ...env, PATH: `${programs}:${env.PATH}` };
};

/** One that was not installed does not find its own functions. */
function ownFunctions({ folder: programs }: FoundShell): string {
  if (programs === undefined) return '';
  const top = join(programs, '..');
  return `top=${JSON.stringify(top)}; module_path=($top/usr/lib/*/zsh/*(/)); fpath=($top/usr/share/zsh/functions/*(/));`;
}

/** The same in zsh, with the options under which it has functions of bash complete. */
async function tabInZsh(...words: readonly string[]): Promise<readonly string[]> {
  const script = `${ownFunctions(zsh)} autoload -U compinit && compinit -D -u; source <(troupe completion zsh)
emulate -R sh; setopt kshglob noshglob braceexpand nounset
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _troupe
[ \${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await run('zsh', ['-f', '-c', script, 'zsh', ...words], { cwd: project, env: inShell(zsh) });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe.skipIf(zsh.why !== undefined)('in zsh', () => {
  it('commands, agents, groups and options', async () => {
    expect(await tabInZsh('troupe', 'res')).toContain('resume');
    expect(await tabInZsh('troupe', 'run', 'po')).toEqual(['poet', 'poor\\ painter']);
    expect(await tabInZsh('troupe', 'groups', 'show', '')).toEqual(['review']);
    expect(await tabInZsh('troupe', 'ps', '--al')).toEqual(['--all']);
    expect(await tabInZsh('troupe', 'run', '$')).toHaveLength(1);
    expect(await readdir(project)).not.toContain('PWNED');
  });
});

async function tabInFish(line: string): Promise<readonly string[]> {
  const script = `troupe completion fish | source; complete -C ${JSON.stringify(line)}`;
  const { stdout } = await run('fish', ['--no-config', '-c', script], { cwd: project, env: inShell(fish) });
  return stdout.split('\n').flatMap((one) => one.split('\t')[0] || []);
}

describe.skipIf(fish.why !== undefined)('in fish', () => {
  it('commands, agents, groups and options, and files only where none of them fits', async () => {
    expect(await tabInFish('troupe res')).toEqual(['resume']);
    expect(await tabInFish('troupe run po')).toEqual(['poet', 'poor painter']);
    expect(await tabInFish('troupe groups show ')).toEqual(['review']);
    expect(await tabInFish('troupe ps --al')).toEqual(['--all']);
    expect(await tabInFish('troupe check ag')).toEqual(['agents/']);
    expect(await readdir(project)).not.toContain('PWNED');
  });
});
