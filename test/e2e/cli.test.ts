/**
 * The command line as people use it: real processes in a real folder, with a scripted model. Where nothing depends on the
 * process, the same command is given inside the test's own: starting one costs more than all the rest.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/json.ts';
import { runProgram } from '../../src/cli/program/program.ts';
import { FOR_EVER_MS } from '../support/patience.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { type Ended, type Running, startProcess } from './support-project.ts';

const AGENT = '---\nname: helper\ntools: [read, list, write, shell, ask]\n---\nYou help.\n';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-cli-'));
  await mkdir(join(folder, 'agents'));
  await writeFile(join(folder, 'agents/helper.md'), AGENT);
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function script(...replies: readonly unknown[]): Promise<void> {
  await writeFile(join(folder, 'replies.yaml'), JSON.stringify(replies));
  await writeFile(join(folder, 'troupe.yaml'), 'model: scripted:replies.yaml\n');
}

const environment = () => ({
  PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
  HOME: folder,
  OLLAMA_HOST: '127.0.0.1:9',
});

const start = (args: readonly string[], input: string | Uint8Array = ''): Running =>
  startProcess(folder, environment(), args, { input });

const troupe = (...args: readonly string[]): Promise<Ended> => start(args).ended;

/** Without a process of its own. */
async function here(...args: readonly string[]): Promise<Ended> {
  const terminal = testTerminal({ env: environment() });
  const code = await runProgram(['-C', folder, ...args], terminal);
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

function json(text: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error(`not an object: ${text}`);
  return parsed.value;
}

describe('troupe run', () => {
  it('prints the result on stdout and progress on stderr', async () => {
    await script({ text: 'Hello there.' });
    const { code, out, err } = await troupe('run', 'helper', 'hi');
    expect({ code, out }).toEqual({ code: 0, out: 'Hello there.\n' });
    expect(err).toContain('helper: started: hi');
    expect(err).toContain('.troupe/ledger.db');
    expect(err).not.toContain('\u001b');
  });

  it('reads the prompt from stdin and knows an agent by its file', async () => {
    await script({ when: { contains: 'from stdin' }, text: 'Heard.' });
    const { code, out } = await start(['run', 'agents/helper.md', '-'], 'this is from stdin').ended;
    expect({ code, out }).toEqual({ code: 0, out: 'Heard.\n' });
  });

  it('gives one object with --json and events with --jsonl', async () => {
    await script({ text: 'Hello there.' });
    const object = json((await troupe('run', 'helper', 'hi', '--json', '--quiet')).out);
    expect(object).toMatchObject({ status: 'completed', agent: 'helper', turns: 1, report: { body: 'Hello there.' } });
    const lines = (await troupe('run', 'helper', 'hi', '--jsonl', '--quiet')).out.trim().split('\n').map(json);
    expect(lines.map((line) => line['event_type'])).toContain('model.response');
    expect(lines.map((line) => line['position'])).toEqual(lines.map((_, index) => index + 1));
  });

  it('ends with 3 when proof is required and nothing was claimed, by an option or by the settings', async () => {
    await script({ text: 'Hello there.' });
    expect(await here('run', 'helper', 'hi')).toMatchObject({ code: 0 });
    const required = await here('run', 'helper', 'hi', '--require', 'verified');
    expect(required).toMatchObject({ code: 3, out: 'Hello there.\n' });
    expect(required.err).toContain('completed, unchecked');
    expect(required.err).toContain('exit code 3: nothing was claimed and nothing demanded');
    expect(await here('resume', 'last')).toMatchObject({ code: 0 });
    await writeFile(join(folder, 'troupe.yaml'), 'model: scripted:replies.yaml\nrequire: verified\n');
    expect(await here('run', 'helper', 'hi')).toMatchObject({ code: 3 });
    expect(await here('run', 'helper', 'hi', '--require', 'unchecked')).toMatchObject({ code: 0 });
    expect(await here('resume', 'last')).toMatchObject({ code: 3 });
  });

  it('ends unverified when a claim has no evidence', async () => {
    await script({
      finalReport: { report: 'Tests pass.', status: 'success', claims: [{ kind: 'command', command: 'npm test' }] },
    });
    const { code, err } = await troupe('run', 'helper', 'test it');
    expect(code).toBe(3);
    expect(err).toContain('completed, unverified');
  });

  it('ends when the budget has no room', async () => {
    await writeFile(join(folder, 'agents/poor.md'), '---\nname: poor\nbudget: { tokens: 1 }\n---\nYou help.\n');
    await script({ text: 'Hello there.' });
    const { code, err } = await troupe('run', 'poor', 'hi');
    expect(code).toBe(4);
    expect(err).toContain('budget exhausted');
  });

  it.each(['broadcast', 'sequential', 'orchestrator', 'reflect'])(
    'ends when the budget of a group has no room: %s',
    async (mode) => {
      const group = `group: { mode: ${mode}, workers: [{ agent: helper, name: ana }, { agent: helper, name: ben }] }`;
      await writeFile(join(folder, 'agents/crew.md'), `---\nname: crew\nbudget: { calls: 1 }\n${group}\n---\nYou lead.\n`);
      await script({ text: 'Hello there.\n@worker:ana Go.\n@worker:ben Go.' });
      const { code, err } = await troupe('run', 'crew', 'hi');
      expect(code).toBe(4);
      expect(err).toContain('budget exhausted');
    },
  );

  it('runs an agent file from anywhere', async () => {
    await writeFile(join(folder, 'elsewhere.md'), '---\nname: elsewhere\nmodel: none/such\n---\nYou help.\n');
    await script({ text: 'Hello there.' });
    const { code, out } = await troupe('run', './elsewhere.md', 'hi', '--model', 'scripted:replies.yaml');
    expect({ code, out }).toEqual({ code: 0, out: 'Hello there.\n' });
    expect((await troupe('agents', 'show', 'elsewhere.md')).out).toContain('none/such');
  });

  it('is parked when its model cannot be asked', async () => {
    await script({ error: { kind: 'auth', message: 'bad key', status: 401 } });
    const { code, err } = await troupe('run', 'helper', 'hi');
    expect(code).toBe(5);
    expect(err).toContain('bad key');
  });
});

describe('bad input on the command line', () => {
  it.each([
    ['unknown command', ['rnu'], 'Did you mean run?'],
    ['word for a command', ['talk'], 'Did you mean troupe chat?'],
    ['unknown option', ['ps', '--al'], '--all'],
    ['unknown agent', ['run', 'helpr', 'hi'], 'did you mean helper?'],
    ['missing agent file', ['run', 'agents/none.md', 'hi'], 'no agent file'],
    ['no prompt', ['run', 'helper'], 'There is no prompt'],
    ['a bad number', ['run', 'helper', 'hi', '--budget-usd', 'much'], 'amount of dollars'],
    ['a folder that is not there', ['-C', 'nowhere', 'ps'], 'There is no folder'],
  ])('%s', async (_name, args, message) => {
    await script({ text: 'Hello.' });
    const { code, err, out } = await here(...args);
    expect(err).toContain(message);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  it('refuses binary and invalid text from stdin', async () => {
    await script({ text: 'Hello.' });
    const binary = await start(['run', 'helper', '-'], Uint8Array.of(104, 0, 105)).ended;
    expect(binary).toMatchObject({ code: 2, err: expect.stringContaining('binary') });
    const invalid = await start(['run', 'helper', '-'], Uint8Array.of(0xff, 0xfe)).ended;
    expect(invalid).toMatchObject({ code: 2, err: expect.stringContaining('UTF-8') });
  });

  it('names the ways to get a model when there is none', async () => {
    const { code, err } = await here('run', 'helper', 'hi');
    expect(code).toBe(2);
    for (const way of ['ANTHROPIC_API_KEY', 'OPENAI_BASE_URL', 'Ollama', 'scripted:']) expect(err).toContain(way);
  });

  it('shows every problem of settings and agents with its place', async () => {
    await writeFile(join(folder, 'agents/broken.md'), '---\nmodle: x\nmaxTurns: many\n---\nHi.\n');
    const { code, out, err } = await here('check');
    expect(code).toBe(2);
    // The broken file was looked at like the other one.
    expect(err).toBe('2 agents checked: 2 errors, 0 warnings\n');
    expect(out).toMatch(/agents\/broken\.md:2:1: error: .*modle/);
    expect(out).toMatch(/agents\/broken\.md:3:\d+: error: .*maxTurns/);
    await writeFile(join(folder, 'troupe.yaml'), 'modle: x\nbudget: { usd: -1 }\n');
    const settings = await here('check', '--json');
    expect(settings.code).toBe(2);
    expect(json(settings.out)).toMatchObject({
      ok: false,
      diagnostics: [
        { file: 'troupe.yaml', line: 1, column: 1 },
        { file: 'troupe.yaml', line: 2 },
        { file: 'agents/broken.md', line: 2 },
        { file: 'agents/broken.md', line: 3 },
      ],
    });
  });

  it('says so when there is no such run, or no run at all', async () => {
    expect(await here('ps')).toMatchObject({ code: 0, err: expect.stringContaining('no runs yet') });
    await script({ text: 'Hello.' });
    await troupe('run', 'helper', 'hi');
    expect(await here('show', 'run_nothere')).toMatchObject({ code: 2, err: expect.stringContaining('There is no run') });
    const object = json((await here('show', 'zzzzzz', '--json')).out);
    expect(object).toMatchObject({ error: { code: 'unknown_run' } });
  });
});

describe('looking back at runs', () => {
  it('lists, shows, explains and adds up', async () => {
    await script({ toolCalls: [{ name: 'list' }] }, { text: 'One file.' });
    await troupe('run', 'helper', 'what is here?');
    const [row] = parsedList((await here('ps', '--json')).out);
    const run = String(row?.['run']);
    expect(row).toMatchObject({ agent: 'helper', state: 'completed' });
    expect(json((await here('show', run.slice(-6), '--json')).out)).toMatchObject({ run, toolCalls: 1, status: 'completed' });
    expect(json((await here('cost', 'last', '--json')).out)).toMatchObject({
      total: { calls: 2, nanoUsd: 0, unknownCalls: 0 },
    });
    const why = (await here('why', 'last')).out;
    expect(why).toMatch(/ended completed, unchecked: One file\.[\s\S]*started: what is here\?/);
    expect((await here('logs', run)).out).toContain('list done');
    expect((await here('logs', '-f', run)).out).toContain('ended completed');
    expect((await here('ledger', 'verify')).out).toContain('sound');
    expect(json((await here('ledger', 'stats', '--json')).out)).toMatchObject({ runs: 1, sessions: 1 });
    expect(json((await here('ledger', 'gc', '--json')).out)).toMatchObject({ dryRun: true });
    expect((await here('doctor')).out).toContain('sound');
    expect((await here('agents', 'list')).out).toContain('agents/helper.md');
  });

  it('goes on in the same session', async () => {
    await script({ text: 'First.' }, { text: 'Second.' });
    await troupe('run', 'helper', 'one');
    const { out, err } = await troupe('run', 'helper', 'two', '--session', 'last');
    expect(out).toBe('Second.\n');
    // What was before is not shown again.
    expect(err).toContain('started: two');
    expect(err).not.toContain('started: one');
    const rows = parsedList((await here('ps', '--json')).out);
    expect(new Set(rows.map((row) => row['session'])).size).toBe(1);
    // Of a run what it cost itself, of a session all of it.
    const calls = async (named: string) => json((await here('cost', named, '--json')).out)['total'];
    expect(await calls('last')).toMatchObject({ calls: 1 });
    expect(await calls(String(rows.at(-1)?.['run']))).toMatchObject({ calls: 1 });
    expect(await calls(String(rows[0]?.['session']))).toMatchObject({ calls: 2 });
  });
});

describe('questions at a terminal', () => {
  const asks = { toolCalls: [{ name: 'shell', input: { command: 'echo made > made.txt' } }] };

  it('ends with 5 off a terminal, says how to answer, and goes on with the answer', async () => {
    await script(asks, { text: 'Made it.' });
    const asked = await troupe('run', 'helper', 'make it');
    expect(asked).toMatchObject({ code: 5, err: expect.stringMatching(/troupe approve \w{6}/) });
    expect(await readdir(folder)).not.toContain('made.txt');
    const approved = await troupe('approve', 'last');
    expect(approved).toMatchObject({ code: 0, out: 'Made it.\n' });
    expect(await readFile(join(folder, 'made.txt'), 'utf8')).toBe('made\n');
  });

  it('tells the agent when it is denied', async () => {
    await script(asks, { when: { contains: 'not today' }, text: 'Then not.' });
    await troupe('run', 'helper', 'make it');
    expect(await troupe('deny', 'last', '--note', 'not today')).toMatchObject({ code: 0, out: 'Then not.\n' });
    expect(await readdir(folder)).not.toContain('made.txt');
  });

  it('approves everything with --yes', async () => {
    await script(asks, { text: 'Made it.' });
    expect(await troupe('run', 'helper', 'make it', '--yes')).toMatchObject({ code: 0, out: 'Made it.\n' });
  });

  it('takes an answer in words, recorded now and used later', async () => {
    await script(
      { toolCalls: [{ name: 'ask', input: { question: 'Which colour?' } }] },
      { when: { contains: 'blue' }, text: 'Blue it is.' },
    );
    expect(await troupe('run', 'helper', 'paint')).toMatchObject({ code: 5, err: expect.stringContaining('Which colour?') });
    expect(await troupe('answer', 'last', 'blue', '--no-resume')).toMatchObject({
      code: 0,
      out: expect.stringContaining('recorded'),
    });
    expect(await troupe('resume', 'last')).toMatchObject({ code: 0, out: 'Blue it is.\n' });
  });
});

describe('stopping a run with Ctrl-C', () => {
  /** The second answer does not come before somebody has stopped the run; the next life gets one at once. */
  const slow = [{ toolCalls: [{ name: 'list' }] }, { delayMs: FOR_EVER_MS, text: 'Finally.' }];
  const quick = [{ toolCalls: [{ name: 'list' }] }, { text: 'Finally.' }];

  it.each(['SIGINT', 'SIGTERM'] as const)('%s keeps what is done and says how to go on', async (signal) => {
    await script(...slow);
    const running = start(['run', 'helper', 'wait']);
    await running.says('list done');
    running.kill(signal);
    const { code, err } = await running.ended;
    expect(code).toBe(130);
    expect(err).toMatch(/troupe resume \w{6}/);
    await script(...quick);
    expect(await troupe('resume', 'last')).toMatchObject({ code: 0, out: 'Finally.\n' });
  });

  it('goes on after kill -9 without repeating what was done', async () => {
    const once = { toolCalls: [{ name: 'shell', input: { command: 'echo once >> log.txt' } }] };
    await script(once, { delayMs: FOR_EVER_MS, text: 'Finally.' });
    const running = start(['run', 'helper', 'wait', '--yes']);
    await running.says('shell done');
    running.kill('SIGKILL');
    await running.ended;
    const [row] = parsedList((await troupe('ps', '--json')).out);
    expect(row).toMatchObject({ state: 'interrupted' });
    await script(once, { text: 'Finally.' });
    expect(await troupe('resume', 'last')).toMatchObject({ code: 0, out: 'Finally.\n' });
    expect(await readFile(join(folder, 'log.txt'), 'utf8')).toBe('once\n');
  });

  it('leaves at once on the second Ctrl-C', async () => {
    const command = 'trap "" TERM INT; echo up > up.txt; sleep 3600';
    await script({ toolCalls: [{ name: 'shell', input: { command } }] }, { text: 'No.' });
    const running = start(['run', 'helper', 'wait', '--yes']);
    await expect.poll(() => readFile(join(folder, 'up.txt'), 'utf8').catch(() => '')).toBe('up\n');
    running.kill('SIGINT');
    await running.says('stopping');
    running.kill('SIGINT');
    const { code, err } = await running.ended;
    expect(code).toBe(130);
    // An orderly stop ends with a summary; leaving at once does not.
    expect(err).not.toContain('troupe resume');
  });

  it('refuses to resume a run that another process drives, and can cancel it', async () => {
    await script(...slow);
    const running = start(['run', 'helper', 'wait']);
    await running.says('list done');
    expect(await troupe('resume', 'last')).toMatchObject({ code: 1, err: expect.stringContaining('drives this run now') });
    expect((await troupe('cancel', 'last', '--reason', 'enough')).code).toBe(0);
    expect((await running.ended).code).toBe(130);
    expect(parsedList((await troupe('ps', '--json')).out)[0]).toMatchObject({ state: 'cancelled' });
  });
});

describe('setting up a project', () => {
  it('init writes a first agent that checks, and never overwrites', async () => {
    await writeFile(join(folder, '.gitignore'), 'dist/');
    expect((await here('init')).out).toContain('wrote  agents/hello.md');
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('dist/\n.troupe/\n');
    expect(await here('check')).toMatchObject({ code: 0 });
    await writeFile(join(folder, 'agents/hello.md'), 'mine');
    expect((await here('init')).out).toContain('kept   agents/hello.md');
    expect(await readFile(join(folder, 'agents/hello.md'), 'utf8')).toBe('mine');
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('dist/\n.troupe/\n');
  });

  it('says what is wrong with a ledger that cannot be used', async () => {
    await script({ text: 'Hello.' });
    await troupe('run', 'helper', 'hi');
    await writeFile(join(folder, '.troupe/ledger.db'), 'this is not a database');
    await rm(join(folder, '.troupe/ledger.db-wal'), { force: true });
    const broken = await here('doctor', '--json');
    expect(broken.code).toBe(1);
    expect(json(broken.out)).toMatchObject({ ok: false });
    const refused = await troupe('run', 'helper', 'hi');
    expect(refused).toMatchObject({ out: '', err: expect.stringContaining('ledger.db') });
    expect(refused.code).not.toBe(0);
    expect(refused.err).not.toMatch(/\n\s+at /);
  });

  it('the demo repairs its project without a key, for programs too', async () => {
    const { code, out, err } = await troupe('demo', 'fixer', '--json');
    expect(code).toBe(0);
    expect(json(out)).toMatchObject({ agent: 'fixer', report: { body: expect.stringContaining('The tests pass.') } });
    expect(err).toContain('completed, verified');
    const demo = /repairs a small project, in (\S+)\./.exec(err)?.[1];
    if (demo !== undefined) await rm(demo, { recursive: true, force: true });
  });

  it.each(['bash', 'zsh', 'fish'])('completion for %s knows the commands', async (shell) => {
    const { code, out } = await here('completion', shell);
    expect(code).toBe(0);
    for (const word of ['resume', 'approve', 'ledger']) expect(out).toContain(word);
    expect((await here('complete', '--', 'ledger', '')).out).toContain('verify');
  });
});

function parsedList(text: string): readonly JsonObject[] {
  const parsed = parseJson(text);
  if (!parsed.ok || !Array.isArray(parsed.value)) throw new Error(`not a list: ${text}`);
  return parsed.value.filter(isJsonObject);
}
