/** Every command that takes `--json`, called once at least: what it prints is what docs/json.md promises, failures included. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonContract } from '../../src/cli/json/contract.ts';
import { createProgram, runProgram } from '../../src/cli/program/program.ts';
import { commandIn, keepsContract } from '../support/json-contract.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { codexFixture } from '../support/transcripts/fixtures.ts';
import { groupProject } from './support-groups.ts';
import { createTestProject, type Ended, objectIn, type TestProject } from './support-project.ts';

const seen = new Set<string>();
let at: TestProject;

/** In this process, with `--json`; whatever it prints is held against the schema of the command. */
async function call(code: number, ...args: readonly string[]): Promise<string> {
  const { out, ...rest } = await called(at, args);
  expect({ code: rest.code }, `${args.join(' ')}: ${rest.err}`).toEqual({ code });
  return out;
}

async function called(project: TestProject, args: readonly string[]): Promise<Ended> {
  const words = [...args, '--json'];
  const terminal = testTerminal({ env: project.env, cwd: project.folder });
  const code = await runProgram(words, terminal);
  keepsContract(words, terminal.written.out);
  if (!isFailure(terminal.written.out)) seen.add(commandIn(words) ?? '');
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

const isFailure = (text: string): boolean => !text.startsWith('[') && Object.keys(objectIn(text)).join() === 'error';

const ASK = { toolCalls: [{ name: 'ask', input: { question: 'Which?', choices: ['this', 'that'] } }] };
const WRITE_MORE = { toolCalls: [{ name: 'write', input: { path: 'more.txt', content: 'y\n' } }] };
const WRITE = { toolCalls: [{ name: 'write', input: { path: 'out.txt', content: 'x' } }] };

beforeAll(async () => {
  at = await groupProject('permissions: { write: ask }\n');
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

describe('what programs read', () => {
  it('of files', async () => {
    await call(0, 'init');
    await call(0, 'init', '--list');
    await call(0, 'models', '--offline');
    await call(0, 'check', '--graph');
    await call(0, 'new', 'agent', 'fresh');
    await call(0, 'new', 'team', 'fellows', 'fresh', 'helper');
    await at.write('agents/broken.md', '---\nname: broken\nhandoff: nobody\n---\nYou fail.\n');
    await call(2, 'check');
    await at.write('agents/broken.md', '---\nname: broken\ndescription: Looks for bugs.\n---\nYou look.\n');
    await call(0, 'doctor', '--offline');
    await call(0, 'agents', 'list');
    await call(0, 'agents', 'show', 'desk');
    await call(0, 'agents', 'search', 'bugs');
    await at.write('new.md', '---\nname: new\n---\nYou are new.\n');
    await call(0, 'agents', 'add', 'new.md');
    await call(0, 'agents', 'allow', 'new');
    await call(0, 'agents', 'remove', 'new', '--yes');
    await at.write('.mcp.json', JSON.stringify({ mcpServers: { github: { command: 'x' } } }));
    await call(0, 'servers', 'list');
    await call(0, 'servers', 'allow', 'github', '--yes');
    await call(0, 'servers', 'forget', 'github');
    await call(0, 'presets', 'list');
    await call(0, 'presets', 'show', 'bug-hunt');
    const mine = { name: 'Mine', mode: 'broadcast', workers: [{ name: 'a', charter: 'You are a.' }] };
    await at.write('mine.json', JSON.stringify([mine]));
    await call(0, 'presets', 'import', 'mine.json');
  });

  it('of runs, and of what they ask', async () => {
    await at.write('replies.yaml', JSON.stringify({ agents: { helper: [ASK, WRITE, WRITE, { text: 'Done.' }] } }));
    await call(5, 'run', 'helper', 'Go.');
    await call(0, 'inbox');
    await call(0, 'answer', 'last', 'this', '--no-resume');
    await call(5, 'resume', 'last');
    await call(0, 'inbox');
    await call(0, 'show', 'last', '--request');
    await call(5, 'deny', 'last', '--note', 'not so');
    await call(0, 'approve', 'last', '--remember', 'project');
    for (const word of ['show', 'logs', 'cost', 'why', 'context']) await call(0, word, 'last');
    for (const more of [['--cost'], ['--end'], ['--not-called', 'write']]) await call(0, 'why', 'last', ...more);
    await call(0, 'query', 'SELECT tool, outcome FROM calls');
    await call(0, 'blame', 'out.txt:1');
    await call(0, 'replay', 'last');
    await call(0, 'fork', 'last', '--no-run');
    await call(0, 'import', codexFixture());
    await call(0, 'import', '--list');
    await call(0, 'diff', 'last', 'last');
    await call(0, 'telemetry', 'status');
    await call(0, 'telemetry', 'backfill', 'last', '--output', 'spans.jsonl');
    await call(0, 'ps', '--all');
    await call(0, 'sessions');
    await call(0, 'sessions', 'pin', 'last');
    await call(0, 'sessions', 'unpin', 'last');
    await call(0, 'sessions', 'hold', 'last', '--reason', 'case 12');
    await call(2, 'forget', 'last', '--yes');
    await call(0, 'sessions', 'release', 'last');
    await call(0, 'forget', '--matching', 'zebra', '--dry-run');
    await call(0, 'tasks', 'list', '--state', 'completed');
    await call(0, 'tasks', 'show', 'last');
    await call(0, 'permissions', 'list');
    await call(0, 'permissions', 'remove', '--all');
    await at.write('replies.yaml', JSON.stringify({ agents: { helper: [ASK] } }));
    await call(5, 'run', 'helper', 'Again.');
    await call(0, 'pause', 'last');
    await call(0, 'send', 'last', 'Only this.');
    await call(0, 'tasks', 'cancel', 'last', '--reason', 'enough');
    await call(0, 'cancel', 'last');
    await call(0, 'cancel', 'last');
  });

  it('of choices', async () => {
    await at.write('agents/front.md', '---\ndispatch: { agents: [helper] }\n---\nYou choose.\n');
    const sure = { text: JSON.stringify({ agentId: 'helper', confidence: 0.9 }) };
    await at.write('replies.yaml', JSON.stringify({ agents: { front: [sure] } }));
    await at.write('requests.yaml', '- { request: Help, agents: [helper] }\n- { request: Hm, clarify: true }\n');
    await call(0, 'measure', 'front', 'requests.yaml');
  });

  it('of what work left behind', async () => {
    await at.write('replies.yaml', JSON.stringify({ agents: { helper: [WRITE, WRITE_MORE, { text: 'Done.' }] } }));
    await call(0, 'run', 'helper', 'Write.', '--yes');
    const [patch] = JSON.parse(await call(0, 'artifacts', 'list', 'last')) as { ref: string }[];
    const ref = patch?.ref ?? '';
    await call(0, 'artifacts', 'show', ref);
    await call(0, 'artifacts', 'get', ref, '-o', 'change.diff');
    await call(2, 'artifacts', 'get', ref, '-o', 'change.diff');
    await call(0, 'artifacts', 'diff', ref, ref);
    await call(0, 'artifacts', 'diff', 'last', 'last');
    const { environment_fingerprint: environment } = objectIn(await call(0, 'artifacts', 'manifest'));
    await call(0, 'artifacts', 'show', String(environment));
    await call(0, 'artifacts', 'pin', ref);
    await call(0, 'artifacts', 'unpin', ref);
    await call(2, 'artifacts', 'show', 'artifact://patches/none.diff');
  });

  it('of trials', async () => {
    const again = { agents: { helper: [{ text: 'Done.' }, { text: 'Done.' }, { text: 'Done.' }] } };
    await at.write('replies.yaml', JSON.stringify(again));
    await call(0, 'run', 'helper', 'Say it.');
    await call(0, 'test', 'add', 'last', '--name', 'says');
    await call(0, 'test', 'add', 'last', '--name', 'frozen', '--frozen');
    await call(0, 'test');
    await at.write('tests/table.yaml', JSON.stringify({ agents: ['helper'], cases: [{ prompt: 'Say it.' }] }));
    await call(0, 'eval', 'tests/table.yaml');
  });

  it('of executors', async () => {
    await call(0, 'executors', 'list');
    await call(0, 'executors', 'add', 'mine', '--address', '127.0.0.1:9');
  });

  it('of the ledger', async () => {
    for (const word of ['stats', 'verify', 'rebuild', 'gc', 'new-key']) await call(0, 'ledger', word);
    expect(await at.look('export', 'last', '--bundle', '-o', 'last.tar')).toMatchObject({ code: 0 });
    await call(0, 'import', 'last.tar', '--check');
    await call(0, 'ledger', 'copy', `sqlite:${join(at.folder, '.troupe/ledger.db')}`, `sqlite:${join(at.folder, 'copy.db')}`);
  });

  it('of groups', async () => {
    await at.write('replies.yaml', JSON.stringify({ agents: { coder: [{ text: 'one' }] } }));
    await call(0, 'groups', 'create', 'shelf');
    await call(0, 'groups', 'move', 'last', 'shelf');
    await call(0, 'groups', 'create', 'crew', '--agent', 'panel');
    await call(0, 'groups', 'list');
    await call(0, 'groups', 'send', 'crew', 'Begin.');
    await call(0, 'groups', 'show', 'crew');
    await call(0, 'groups', 'rename', 'crew', 'team');
    await call(0, 'groups', 'move', 'team', 'shelf', '--pin');
    await call(0, 'groups', 'save', 'team');
    await call(0, 'groups', 'pause', 'team');
    await call(0, 'groups', 'resume', 'team');
    await call(0, 'groups', 'stop', 'team', '--all');
    await call(0, 'groups', 'delete', 'team');
  });

  it('of every command that takes --json, and of no other', () => {
    const program = createProgram(testTerminal(), () => async () => undefined);
    const taking = (command: Command, path: readonly string[]): readonly string[] => [
      ...(command.options.some(({ long }) => long === '--json') ? [path.join(' ')] : []),
      ...command.commands.flatMap((one) => taking(one, [...path, one.name()])),
    ];
    const commands = taking(program, []);
    expect(commands.toSorted()).toEqual(Object.keys(jsonContract).toSorted());
    // Others look at these: cli.test.ts at `demo`, resume.test.ts at `retry`; the status of a cluster needs one, a probe an
    // executor, and `apply` a repository with tasks.
    expect(commands.filter((one) => !seen.has(one))).toEqual(['demo', 'retry', 'apply', 'executors probe', 'cluster status']);
  });
});

describe('a failure', () => {
  const failures: readonly (readonly [code: string, args: readonly string[], exit: number])[] = [
    ['usage', ['ps', '--nonsense'], 2],
    ['usage', ['pss'], 2],
    ['usage', ['chat'], 2],
    ['usage', ['show'], 2],
    ['usage', ['ps', '--limit', 'many'], 2],
    ['usage', ['check', '--graph', 'round'], 2],
    ['usage', ['ledger'], 2],
    ['usage', ['-C', 'nowhere', 'ps'], 2],
    ['unknown_agent', ['run', 'nobody', 'Go.'], 2],
    ['ledger_missing', ['show', 'last'], 2],
  ];
  it.each(failures)('is an object on stdout: %s of %j', async (code, args, exit) => {
    await using empty = await createTestProject();
    const ended = await called(empty, args);
    const { error } = objectIn(ended.out);
    expect({ exit: ended.code, error }).toEqual({
      exit,
      error: { code, message: expect.stringMatching(/^(?!error)./), fix: expect.stringMatching(/./) },
    });
  });
});

describe('a run of a tree', () => {
  it('stands the same in ps and in show, and the tree has every run', async () => {
    await using project = await groupProject();
    await project.write('agents/coder.md', '---\nname: coder\ntools: [ask]\n---\nYou code.\n');
    await project.write('replies.yaml', JSON.stringify({ agents: { coder: [ASK] } }));
    const ended = await called(project, ['run', 'panel', 'Go.']);
    expect(ended.code).toBe(5);
    const rows = JSON.parse((await called(project, ['ps', '--all'])).out) as { run: string; state: string }[];
    expect(rows).toHaveLength(2);
    for (const { run, state } of rows) {
      const shown = objectIn((await called(project, ['show', run])).out);
      expect({ run, status: shown['status'] }).toEqual({ run, status: state });
    }
    const { tree } = objectIn((await called(project, ['show', 'last'])).out);
    expect(tree).toMatchObject([
      { agent: 'panel', depth: 0, parent: null, status: 'waiting' },
      { agent: 'coder', depth: 1, parent: rows[0]?.run, status: 'waiting' },
    ]);
  });
});
