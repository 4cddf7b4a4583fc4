/** Every example as its README says, with the real command line and without a key; the ledger goes to a temporary folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { allIn, costOfSteps, trajectoryIn } from '../support/trajectories.ts';
import { type Ended, lookInside, MAIN, objectIn } from './support-project.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
const programs = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'run.ts')));
const projects = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'troupe.yaml')));

/** The command line with a ledger of its own. */
interface ExampleProject extends AsyncDisposable {
  troupe(...args: readonly string[]): Promise<Ended>;
  /** The same command, but inside the test's own process, for looking: starting a process costs more than all the rest. */
  look(example: string, ...args: readonly string[]): Promise<Ended>;
  node(...args: readonly string[]): Promise<Ended>;
}

async function exampleProject(): Promise<ExampleProject> {
  const home = await mkdtemp(join(tmpdir(), 'troupe-examples-'));
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: home,
    TROUPE_HOME: home,
    OLLAMA_HOST: '127.0.0.1:9',
  };
  const node = (...args: readonly string[]): Promise<Ended> => {
    const child = spawn(process.execPath, args, { cwd: dirname(EXAMPLES), env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  };
  return {
    node,
    troupe: (...args) => node(MAIN, ...args),
    look: (example, ...args) => lookInside(join(EXAMPLES, example), env, args),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

/** The first command of the example's README, in its own words. */
function commandOf(example: string): string[] {
  const readme = readFileSync(join(EXAMPLES, example, 'README.md'), 'utf8');
  const line = readme.split('\n').find((one) => one.startsWith(`troupe -C examples/${example} run `));
  if (line === undefined) throw new Error(`${example}/README.md shows no command`);
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '').slice(1);
}

interface Ran {
  readonly result: JsonObject;
  readonly events: readonly JsonObject[];
  /** Event types with what they are about, in order. */
  readonly story: readonly string[];
  readonly shown: string;
}

async function ran(example: string): Promise<Ran> {
  await using on = await exampleProject();
  const { code, out, err } = await on.troupe(...commandOf(example), '--json', '--quiet');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [logs, shown, why, exported, costs] = await Promise.all([
    on.look(example, 'logs', 'last', '--jsonl'),
    on.look(example, 'show', 'last'),
    on.look(example, 'why', 'last'),
    on.look(example, 'export', 'last', '--atif'),
    on.look(example, 'cost', 'last', '--json'),
  ]);
  // However many agents there were, the walk ends at the prompt.
  expect(why.out.trim().split('\n').at(-1)).toMatch(/because .* started: .* \[2\]$/);
  const events = logs.out.trim().split('\n').map(objectIn);
  fitsTheFormat(exported.out, events, objectIn(costs.out));
  return { result: objectIn(out), events, story: events.map(tell), shown: shown.out };
}

/** Whatever the pattern: every run in it, every call with its result, and sums that are those of the ledger. */
function fitsTheFormat(text: string, events: readonly JsonObject[], costs: JsonObject): void {
  const all = allIn(trajectoryIn(text));
  const steps = all.flatMap((one) => one.steps);
  const of = (type: string): number => events.filter(({ event_type: is }) => is === type).length;
  expect(all.flatMap(({ extra }) => extra?.['runs'])).toHaveLength(of('run.started'));
  expect(steps.filter(({ model_name: model }) => model !== undefined)).toHaveLength(of('model.response'));
  const results = steps.flatMap(({ observation }) => observation?.results ?? []);
  expect(results.filter(({ extra }) => extra?.['duration_ms'] !== undefined)).toHaveLength(of('tool.result'));
  expect(costOfSteps(all)).toBe((costs['total'] as JsonObject)['nanoUsd']);
}

function tell({ event_type: type, payload }: JsonObject): string {
  const about = payload as JsonObject;
  const subject = about['advisor'] ?? about['memberId'] ?? about['to'] ?? about['agent'] ?? about['name'] ?? '';
  return `${String(type)} ${String(subject)}`.trim();
}

const body = (result: JsonObject): string => String((result['report'] as JsonObject)['body']);
const times = (story: readonly string[], what: string): number => story.filter((one) => one === what).length;

describe.concurrent('every example', () => {
  it.each(projects)('%s passes its check', async (example) => {
    await using on = await exampleProject();
    const { code, out, err } = await on.look(example, 'check', '--graph=mermaid');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^flowchart TD\n/) });
    // An executor of somebody else need not be here; everything else is as it should be.
    const warned = err.split('\n').filter((line) => line.includes(': warning: ') && !line.includes(' is not installed: '));
    expect({ warned, err }).toEqual({ warned: [], err: expect.stringContaining('0 errors') });
  });
});

describe.concurrent('every program', () => {
  it('was found', () => expect(programs.length).toBeGreaterThan(3));

  it.each(programs)('%s prints what its README says', async (example) => {
    await using on = await exampleProject();
    const readme = readFileSync(join(EXAMPLES, example, 'README.md'), 'utf8');
    const [, command = '', printed] = /```\nnode (\S+)\n```\n\n```\n([\s\S]*?)```\n/.exec(readme) ?? [];
    expect(command).toBe(`examples/${example}/run.ts`);
    expect(await on.node(command)).toEqual({ code: 0, out: printed, err: '' });
  });

  it('18: the tests of a team pass', async () => {
    await using on = await exampleProject();
    const { code, out } = await on.node('--test', 'examples/18-testing/team.test.ts');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/pass 3\n/) });
  });
});

describe.concurrent('what the examples show', () => {
  it('03: a router sends the request on, and the handoff comes last', async () => {
    const { result, story } = await ran('03-support-triage');
    expect(result).toMatchObject({ status: 'completed', agent: 'triage', finalAgent: 'reply-writer', runs: 3 });
    expect(body(result)).toMatch(/^Dear Rosa,/);
    const order = ['router.chose billing', 'run.started billing', 'handoff.made reply-writer', 'run.started reply-writer'];
    expect(story.filter((one) => order.includes(one))).toEqual(order);
  });

  it('04: advisors work before the first turn, and one may fail', async () => {
    const { result, story, events } = await ran('04-change-review');
    expect(result).toMatchObject({ status: 'completed', finalAgent: 'reviewer', runs: 4 });
    expect(body(result)).toContain('do not merge');
    const starts = ['security', 'correctness', 'upkeep'].map((name) => story.indexOf(`run.started ${name}`));
    const firstEnd = events.findIndex((event) => event['event_type'] === 'run.ended');
    expect(Math.max(...starts)).toBeLessThan(firstEnd);
    const reported = events.filter((event) => event['event_type'] === 'advisor.reported').map((event) => event['payload']);
    expect(reported).toMatchObject([{ status: 'completed' }, { status: 'completed' }, { advisor: 'upkeep', status: 'failed' }]);
  });

  it('05: a team speaks in cycles until the supervisor reports', async () => {
    const { result, story, events, shown } = await ran('05-incident-room');
    expect(result).toMatchObject({ status: 'completed', finalAgent: 'commander', runs: 9 });
    expect(body(result)).toContain('**Cause**');
    for (const name of ['logs', 'metrics', 'changes']) expect(times(story, `team.broadcast ${name}`)).toBe(2);
    expect(times(story, 'team.broadcast commander')).toBe(1);
    const [first] = events.filter((event) => event['event_type'] === 'team.broadcast').map((event) => event['payload']);
    expect(first).toMatchObject({ type: 'update', memberId: expect.any(String), turnCount: 2, timestamp: expect.any(String) });
    expect(shown).toMatch(/├─ cycle 1 .*└─ cycle 2 /s);
  });

  it('06: a reader is asked again and remembers', async () => {
    const { result, story, events, shown } = await ran('06-research');
    expect(result).toMatchObject({ status: 'completed', finalAgent: 'researcher', runs: 6 });
    expect(times(story, 'run.started reader')).toBe(4);
    expect(times(story, 'agent.dismissed reader')).toBe(3);
    const again = events.find((event) => (event['payload'] as JsonObject)['continues'] !== undefined);
    expect(again?.['payload']).toMatchObject({ agent: 'reader', origin: { kind: 'clarification' } });
    expect(shown).toMatch(/reader \(clarification\) .* 1 turn .*“Does the report say why/);
    expect(shown).toContain('“shift work may differ from office work”');
  });

  it('19: three of a house work at once, and one that is not clear is asked about', async () => {
    const { result, story, events, shown } = await ran('19-house');
    expect(result).toMatchObject({ status: 'completed', agent: 'house', finalAgent: 'house', runs: 5 });
    expect(body(result)).toBe(
      'The light is as you want it, at 20 %. Quiet jazz is playing in the living room. The living room is set to 21 degrees.',
    );
    expect(times(story, 'dispatch.chose')).toBe(1);
    const starts = ['lights', 'music', 'climate'].map((name) => story.indexOf(`run.started ${name}`));
    expect(Math.max(...starts)).toBeLessThan(events.findIndex((event) => event['event_type'] === 'dispatch.responded'));
    expect(shown).toContain('“confidence 0.92: Dim the living room for a film.”');
  });

  it('19: the answer to a question is about the first words, and what one agent asks is carried up', async () => {
    await using on = await exampleProject();
    const at = (...args: readonly string[]) => on.look('19-house', ...args);
    const unsure = await at('run', 'house', 'Make it cosier.');
    expect(unsure).toMatchObject({ code: 5, err: expect.stringContaining('house asks: Should it be warmer') });
    expect(await at('answer', 'last', 'Warmer.')).toMatchObject({ code: 0, out: 'The living room is set to 21 degrees.\n' });
    const asking = await at('run', 'house', 'A timer for the pasta, and worktop light.');
    expect(asking).toMatchObject({ code: 5, err: expect.stringContaining('at 20 %. Timer: For how long?') });
    expect(await at('answer', 'last', 'Nine minutes.')).toMatchObject({
      code: 0,
      out: 'The light is as you want it, at 20 %. The pasta timer is set to nine minutes.\n',
    });
  });

  it('20: what an agent elsewhere asks comes up, and the answer goes back', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'troupe-example-20-'));
    await cp(join(EXAMPLES, '20-remote'), copy, { recursive: true });
    const env = { PATH: process.env['PATH'] ?? '', HOME: copy };
    const server = spawn(process.execPath, [MAIN, '-C', join(copy, 'elsewhere'), 'serve', '--port', '0'], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [first] = await once(createInterface({ input: server.stdout }), 'line');
      const file = join(copy, 'agents', 'weather.md');
      const text = readFileSync(file, 'utf8');
      await writeFile(file, text.replace('http://127.0.0.1:4750', new URL(String(first)).origin));
      const at = (...args: readonly string[]) => lookInside(copy, env, args);
      const asked = await at('run', 'guide', 'A day in Porto, please.');
      expect(asked).toMatchObject({ code: 5, err: expect.stringContaining('weather asks: For which day?') });
      const answered = await at('answer', 'last', 'Saturday');
      expect(answered).toMatchObject({ code: 0, out: expect.stringContaining('Walk along the Douro') });
      const logs = await at('logs', 'last', '--jsonl');
      expect(logs.out).toContain('Saturday: sun until three, then rain, 19 degrees.');
    } finally {
      server.kill('SIGTERM');
      await once(server, 'exit');
      await rm(copy, { recursive: true, force: true });
    }
  });

  it('07: all of it together, one answer, and the costs add up', async () => {
    const { result, story, events, shown } = await ran('07-everything');
    expect(result).toMatchObject({ status: 'completed', agent: 'release-desk', finalAgent: 'announcer', runs: 14 });
    for (const type of ['router.chose', 'advisor.reported', 'team.broadcast', 'member.exited', 'handoff.made', 'agent.dismissed'])
      expect(story.some((one) => one.startsWith(type))).toBe(true);
    // The member with a chain speaks through its last agent, under its own name.
    expect(times(story, 'team.broadcast operator')).toBe(2);
    const used = events
      .filter((event) => event['event_type'] === 'model.response')
      .map((event) => (event['payload'] as { readonly usage: { readonly inputTokens: number } }).usage.inputTokens);
    expect(result['tokens']).toMatchObject({ input: used.reduce((sum, one) => sum + one, 0) });
    expect(shown).toMatch(/rollback-checker \(member, for operator\)/);
    expect(shown).toMatch(/announcer \(handoff, gives the answer\)/);
  });
});

describe.concurrent('what the examples of groups show', () => {
  it('08: everybody is asked the same, and answers stand side by side', async () => {
    const { result, story, shown } = await ran('08-broadcast');
    expect(result).toMatchObject({ status: 'completed', finalAgent: 'opinions', runs: 4 });
    expect([...body(result).matchAll(/^### (\w+)$/gm)].map(([, name]) => name)).toEqual(['operator', 'developer', 'accountant']);
    expect(times(story, 'run.started colleague')).toBe(3);
    expect(shown).toContain('colleague (worker, operator)');
  });

  it('09: one after the other, each sees what came before', async () => {
    const { result, story } = await ran('09-sequential');
    expect(result).toMatchObject({ status: 'completed', runs: 4 });
    const order = story.filter((one) => /^run\.(started|ended)/.test(one)).slice(1, -1);
    expect(order.filter((one) => one.startsWith('run.started'))).toEqual(
      ['drafter', 'fact-checker', 'editor'].map((name) => `run.started ${name}`),
    );
    expect(body(result)).toContain('separator');
  });

  it('10: the work is divided, and that somebody had to be told to is shown', async () => {
    const { result, story, shown } = await ran('10-orchestrator');
    expect(result).toMatchObject({ status: 'completed', finalAgent: 'tech-lead' });
    expect(times(story, 'run.started dba')).toBe(0);
    expect(shown).toMatch(/1 +- +- +developer.*, writer.* +\S+ +told 1 time to delegate/);
  });

  it('11: the loop goes on until the judge is satisfied', async () => {
    const { result, shown } = await ran('11-reflect');
    expect(result).toMatchObject({ status: 'completed', finalAgent: 'editor-in-chief' });
    for (const row of [
      /1 +0\.55 +\w+ +author.*, critic/,
      /2 +0\.78 +improving +author(?!.*critic)/,
      /3 +0\.94 +improving +author.*, critic/,
    ])
      expect(shown).toMatch(row);
    expect(shown).toContain('Ended after 3 of at most 4 iterations: the goal was met.');
  });

  it('12: a Squad team is kept as a group and remembers', async () => {
    await using on = await exampleProject();
    const commands = readFileSync(join(EXAMPLES, '12-squad/README.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('troupe -C examples/12-squad groups '))
      .map((line) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '').slice(1));
    const outs: string[] = [];
    for (const command of commands) {
      const { code, out, err } = await on.troupe(...command);
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      outs.push(out);
    }
    expect(outs[0]).toBe('group harbour (orchestrator): harbour-team, Ada, Brook\n');
    expect(outs[1]).toContain('A delay past midnight wraps');
    expect(outs[2]).toContain('as we decided on 2 March');
    expect(outs[3]).toMatch(/Brook +worker/);
  });
});

describe.concurrent('what the example of assistants shows', () => {
  it('14: what is demanded is run by the runtime, and decides', async () => {
    const { result, events } = await ran('14-verify');
    expect(result).toMatchObject({ status: 'completed' });
    const ended = events.find((event) => event['event_type'] === 'run.ended');
    expect(ended).toMatchObject({ payload: { verification: { state: 'verified' } } });
    const runs = events.filter((event) => event['event_type'] === 'cli.run');
    expect(runs).toMatchObject([{ step: 'verify/0', payload: { command: 'node --test', exitCode: 0 } }]);
  });

  it('21: an executor works for the agent, and the tests are run by the runtime', async () => {
    const { result, events } = await ran('21-executor');
    expect(result).toMatchObject({ status: 'completed' });
    const kinds = events.map((event) => String(event['event_type']));
    for (const kind of ['executor.session', 'executor.prompted', 'executor.call', 'executor.result', 'executor.ended'])
      expect(kinds).toContain(kind);
    const ended = events.find((event) => event['event_type'] === 'run.ended');
    expect(ended).toMatchObject({ payload: { verification: { state: 'verified' } } });
    expect(events.filter((event) => event['event_type'] === 'cli.run')).toMatchObject([{ step: 'verify/0' }]);
  });

  it('13: a lead spawns two, answers a question and has the answer checked', async () => {
    const { result, events, shown } = await ran('13-assistants');
    expect(result).toMatchObject({ status: 'completed', finalAgent: 'lead', runs: 3 });
    expect(body(result)).toContain('from 36 to 75 per 1,000');
    const payloads = (type: string) =>
      events.filter((one) => one['event_type'] === type).map((one) => one['payload'] as JsonObject);
    const name = (party: unknown): unknown => (party as JsonObject)['assistant'];
    const said = payloads('message.sent').map(({ from, to, kind = 'message' }) => [name(from), name(to), kind]);
    expect(said).toEqual([
      ['scout', 'lead', 'message'],
      ['lead', 'scout', 'message'],
      ['scout', 'lead', 'report'],
      ['lead', 'checker', 'message'],
      ['checker', 'lead', 'report'],
    ]);
    // Each was read once, one way or the other.
    expect([...payloads('message.included'), ...payloads('message.read')].map(({ message }) => message).toSorted()).toEqual(
      payloads('message.sent')
        .map(({ message }) => message)
        .toSorted(),
    );
    // Each assistant had a process of its own, which is gone.
    expect(
      payloads('process.started')
        .map(({ pid }) => pid)
        .toSorted(),
    ).toEqual(
      payloads('process.ended')
        .map(({ pid }) => pid)
        .toSorted(),
    );
    expect(payloads('process.started')).toHaveLength(2);
    expect(shown).toMatch(/thread thr_\w+ of scout: finished, 3 messages/);
    expect(shown).toMatch(/scout → lead \(report\) {2}“75 returns per 1,000 .*” {2}in turn \d+ after /);
  });
});
