/**
 * The commands that the pages show are run, in the order of the page, with the real command line, and what they print is held
 * against what the page says they print (`support/console.ts` says how). Models are scripts, so no key is needed.
 *
 * An HTML comment right before a block says what is to be done with it; readers do not see it:
 * - `run in tour`: in the folder of that name, which all blocks of the page share; `run in tour, <situation>` prepares something;
 * - `saved as agents/cleaner.md in tour`: the block is a file;
 * - `not run: <reason>`: it needs what a test does not have.
 * Without a comment nothing is done, and a console block must have one. `checkout` is the checkout itself, with its examples.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { type Bindings, isPrinted, type ShownCommand, shownCommands, withReal } from '../support/console.ts';
import { type Block, pages, repository } from '../support/pages.ts';
import { wordsOf } from '../support/shell-lines.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { type Folder, folders, situations } from './pages-folders.ts';

interface Task {
  readonly block: Block;
  readonly kind: 'run' | 'saved' | 'not run';
  /** Where it is run, or saved. */
  readonly folder: string;
  /** What is prepared before it is run; the path of what is saved. */
  readonly detail: string;
}

function taskOf(block: Block): Task | undefined {
  const note = block.note ?? '';
  const [, ran, situation = ''] = /^run in (\w+)(?:, (.+))?$/.exec(note) ?? [];
  if (ran !== undefined) return { block, kind: 'run', folder: ran, detail: situation };
  const [, path, saved] = /^saved as (\S+) in (\w+)$/.exec(note) ?? [];
  if (path !== undefined && saved !== undefined) return { block, kind: 'saved', folder: saved, detail: path };
  return note.startsWith('not run: ') ? { block, kind: 'not run', folder: '', detail: note } : undefined;
}

const plans = pages
  .map(({ path, blocks }) => ({ path, tasks: blocks.map(taskOf).filter((task) => task !== undefined) }))
  .filter(({ tasks }) => tasks.length > 0);
const count = (kind: Task['kind']) =>
  Object.fromEntries(
    plans.map(({ path, tasks }) => [path, tasks.filter((task) => task.kind === kind).length]).filter(([, many]) => many !== 0),
  );

/** What a page has while it is played: its folders, the names it gives to ids, and commands that go on beside others. */
interface Play {
  readonly open: Map<string, Folder>;
  readonly bindings: Bindings;
  readonly beside: Promise<unknown>[];
  lastCode: number;
}

async function folderOf({ open }: Play, name: string): Promise<Folder> {
  const known = open.get(name);
  if (known !== undefined) return known;
  const home = await realpath(await mkdtemp(join(tmpdir(), 'troupe-pages-')));
  const { files = {}, prepare } = folders[name] ?? {};
  const cwd = name === 'checkout' ? repository : join(home, 'project');
  const folder: Folder = {
    cwd,
    home,
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: home, OLLAMA_HOST: '127.0.0.1:9' },
    async write(path, text) {
      await mkdir(dirname(join(cwd, path)), { recursive: true });
      await writeFile(join(cwd, path), text);
    },
  };
  for (const [path, text] of Object.entries(files)) await folder.write(path, text);
  if (name !== 'checkout') folder.env['TROUPE_MODEL'] = 'scripted:replies.yaml';
  prepare?.(folder);
  open.set(name, folder);
  return folder;
}

/** The words of the shell that the pages use: our command, alone or behind a pipe, `echo $?`, and other programs. */
async function run(play: Play, folder: Folder, line: string): Promise<string> {
  const plain = line.replace(/\s+#( |$).*$/, '').trim();
  if (plain === 'echo $?') return String(play.lastCode);
  if (plain === 'npm run demo')
    return await run(play, { ...folder, env: { ...folder.env, TROUPE_CALLED_AS: './troupe' } }, 'troupe demo');
  const [, feeding, ours] = /^(?:(.*?) \| )?((?:\.\/)?troupe .*)$/.exec(plain) ?? [];
  if (ours === undefined) {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', plain], { cwd: folder.cwd, env: folder.env, encoding: 'utf8' });
    play.lastCode = status ?? 1;
    return `${stdout}${stderr}`;
  }
  const input = feeding === undefined ? [] : [spawnSync('sh', ['-c', feeding], { cwd: folder.cwd, env: folder.env }).stdout];
  const words = wordsOf(ours);
  // Each project has a ledger of its own, also those of the checkout, where nothing may be left behind.
  const example = words[0] === '-C' && words[1]?.startsWith('examples/') ? words[1] : undefined;
  if (folder.cwd === repository && example === undefined && words[0] !== 'demo' && words[0] !== '-C')
    throw new Error(`this would leave something behind in the checkout: ${line}`);
  const state = example === undefined ? {} : { TROUPE_HOME: join(folder.home, example) };
  const called = plain.startsWith('./troupe') ? { TROUPE_CALLED_AS: './troupe' } : {};
  const terminal = testTerminal({ cwd: folder.cwd, env: { ...folder.env, ...called, ...state }, input });
  const ended = runProgram(words, terminal);
  if (words.includes('-f')) {
    play.beside.push(ended);
    return '';
  }
  play.lastCode = await ended;
  return terminal.written.all;
}

async function check(play: Play, folder: Folder, { line, prints }: ShownCommand, place: string): Promise<void> {
  const printed = await run(play, folder, withReal(line, play.bindings));
  if (prints === undefined) {
    expect({ place, line, code: play.lastCode, printed: play.lastCode === 0 ? '' : printed }).toEqual({
      place,
      line,
      code: 0,
      printed: '',
    });
    return;
  }
  // When it does not fit, the two texts side by side say more than the pattern.
  if (!isPrinted(prints, printed, play.bindings))
    expect(`${place}: ${line}\n${printed.trimEnd()}`).toBe(`${place}: ${line}\n${prints}`);
}

async function play(tasks: readonly Task[], at: Play): Promise<void> {
  for (const { block, kind, folder: name, detail } of tasks) {
    if (kind === 'not run') continue;
    const folder = await folderOf(at, name);
    if (kind === 'saved') {
      await folder.write(detail, block.text);
      continue;
    }
    const situation = detail === '' ? undefined : situations[detail];
    if (detail !== '' && situation === undefined) throw new Error(`${block.place}: nobody knows how to prepare: ${detail}`);
    const going = await situation?.(folder);
    for (const command of shownCommands(block.text, block.language)) await check(at, folder, command, block.place);
    await going?.beside;
  }
  await Promise.all(at.beside);
}

describe.concurrent('what the pages show', () => {
  it.each(plans)('$path prints what it says', async ({ tasks }) => {
    const at: Play = { open: new Map(), bindings: new Map(), beside: [], lastCode: 0 };
    try {
      await play(tasks, at);
    } finally {
      const made = [...at.open.values()].map(({ home }) => home);
      // The demo leaves its folder to whoever wants to look at it.
      const left = [...at.bindings.values()].filter((real) => isAbsolute(real));
      for (const folder of [...made, ...left]) await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('the pages', () => {
  it('have blocks that are run, and say of the others why not', () => {
    expect(count('run')).toEqual({
      'README.md': 9,
      'docs/agents.md': 1,
      'docs/answers.md': 4,
      'docs/artifacts.md': 1,
      'docs/bundles.md': 1,
      'docs/cli.md': 5,
      'docs/diff.md': 1,
      'docs/dispatch.md': 1,
      'docs/fork.md': 1,
      'docs/groups.md': 2,
      'docs/ledger.md': 2,
      'docs/models.md': 1,
      'docs/patterns.md': 1,
      'docs/presets.md': 1,
      'docs/query.md': 1,
      'docs/replay.md': 1,
      'docs/retention.md': 1,
      'docs/runners.md': 1,
      'docs/squad.md': 1,
      'docs/telemetry.md': 1,
      'docs/trajectories.md': 1,
      'docs/trials.md': 2,
      'examples/08-broadcast/README.md': 1,
      'examples/12-squad/README.md': 1,
    });
    expect(count('not run')).toEqual({ 'docs/cluster.md': 2, 'docs/ledger.md': 2, 'docs/trials.md': 2 });
    const silent = pages
      .flatMap(({ blocks }) => blocks)
      .filter((block) => block.language === 'console' && taskOf(block) === undefined);
    expect(silent.map(({ place }) => place)).toEqual([]);
  });

  it('show no output of a command that nobody compares', () => {
    const shown = pages
      .flatMap(({ blocks }) => blocks)
      .filter(({ text, language }) => language !== 'console' && /^\$ /m.test(text));
    expect(shown.map(({ place }) => place)).toEqual([]);
  });
});
