/**
 * A run that ended for a reason outside of it goes on, through the real command line against a model server that is stopped and
 * started, refuses and gives in: at the step that failed, with nothing asked or done twice.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startModelServer } from '../support/models/model-server.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';
import { agentWith, createTestProject, expectKept, objectIn, printed, type TestProject } from './support-project.ts';

/** Each time it is called it leaves a line. */
const once = { name: 'shell', input: { command: 'echo done >> done.txt' } };
const work: Reply = { calls: [once] };
const lines = async ({ folder }: TestProject): Promise<number> =>
  (await readFile(join(folder, 'done.txt'), 'utf8')).split('\n').length - 1;

const settings = 'permissions: { shell: allow }\n';

it('what is refused because there is no run yet leaves nothing behind', async () => {
  await using project = await createTestProject();
  for (const words of [['resume'], ['retry'], ['cancel'], ['approve'], ['send']])
    expect(await project.look(...words, 'last', ...(words[0] === 'send' ? ['hi'] : []))).toMatchObject({ code: 2 });
  expect(await project.look('ledger', 'rebuild')).toMatchObject({ code: 2 });
  expect(await readdir(project.folder)).not.toContain('.troupe');
});

describe.concurrent('what ended a run and is mended has it go on:', () => {
  it.for([
    ['an overloaded provider', { fault: 'status', status: 503 }],
    ['a key that was refused', { fault: 'status', status: 401 }],
    ['too many requests', { fault: 'status', status: 429, headers: { 'retry-after': '0' } }],
    ['a page in the place of an answer', { fault: 'html' }],
    ['a connection that broke', { fault: 'reset' }],
  ] as const)('%s', async ([name, fault]) => {
    await using project = await createTestProject(settings, agentWith('tools: [shell]\nmaxRetries: 0'));
    // One of them in processes.
    const isReal = name === 'an overloaded provider';
    const server = await project.serve(work, fault, { text: 'All done.' });
    const ended = await project[isReal ? 'troupe' : 'look']('run', 'helper', 'Go.');
    expect(ended.code).toBe(5);
    await expectKept(project, 'parked');
    expect(await project[isReal ? 'typed' : 'lookTyped'](printed(ended.err, 'resume'))).toMatchObject({
      code: 0,
      out: 'All done.\n',
    });
    expect(server.requests).toHaveLength(3);
    expect(await lines(project)).toBe(1);
    await expectKept(project, 'completed');
  });

  it('a provider, of which a quiet run says it as well', async () => {
    await using project = await createTestProject(settings, agentWith('maxRetries: 0'));
    await project.serve({ fault: 'status', status: 503 }, { text: 'All done.' });
    const ended = await project.look('run', 'helper', 'Go.', '--quiet');
    expect(ended).toMatchObject({ code: 5, out: '', err: expect.stringMatching(/^parked: .*503.*\n$/) });
    expect(await project.lookTyped(printed(ended.err, 'resume'))).toMatchObject({ code: 0, out: 'All done.\n' });
  });

  it('a server that was stopped, with a sub-agent below', async () => {
    await using project = await createTestProject(settings, agentWith('maxRetries: 0\nagents: [second]'));
    await project.write('agents/second.md', '---\nname: second\ntools: [shell]\nmaxRetries: 0\n---\nYou do it.\n');
    const isSecond = ({ body }: SeenRequest): boolean => JSON.stringify(body).includes('You do it.');
    const script = (request: SeenRequest): Reply => {
      if (request.toolResults > 0) return { text: isSecond(request) ? 'It is done.' : 'All done.' };
      return isSecond(request) ? work : { calls: [{ name: 'second', input: { prompt: 'do', reason: 'need' } }] };
    };
    const first = await startModelServer((request) => {
      // It goes away while the second agent's command runs.
      if (isSecond(request)) setImmediate(() => void first.close());
      return script(request);
    });
    await project.serve({});
    project.env['OPENAI_BASE_URL'] = `${first.origin}/v1`;
    expect(await project.troupe('run', 'helper', 'Go.')).toMatchObject({ code: 5 });
    expect(await lines(project)).toBe(1);
    expect((await project.look('ps')).out).toMatch(/parked.*troupe resume/);
    const again = await startModelServer(script, { port: first.port });
    try {
      expect(await project.troupe('resume', 'last')).toMatchObject({ code: 0, out: 'All done.\n' });
      expect(again.requests.map(isSecond)).toEqual([true, false]);
      expect(await lines(project)).toBe(1);
      expect((await project.look('ps', '--all')).out).not.toContain('failed');
    } finally {
      await again.close();
    }
  });

  it('a budget, as the end itself says', async () => {
    await using project = await createTestProject(settings, agentWith('tools: [shell]\nbudget: { calls: 1 }'));
    const server = await project.serve(work, { text: 'All done.' });
    const ended = await project.troupe('run', 'helper', 'Go.');
    expect(ended.code).toBe(4);
    const told = await project.troupe('resume', 'last');
    expect(told.code).toBe(4);
    expect((await project.troupe('resume', 'last', '--budget-calls', '1')).code).toBe(2);
    expect(await project.typed(printed(ended.err, 'resume'))).toMatchObject({ code: 0, out: 'All done.\n' });
    expect(server.requests).toHaveLength(2);
    expect(await lines(project)).toBe(1);
    const { out } = await project.look('logs', 'last', '--jsonl');
    const ends = out.match(/"event_type":"run\.(?:ended|reopened)"|"status":"(?:budget_exhausted|completed)"/g);
    expect(ends?.map((part) => part.replace(/.*"(?:run\.)?(\w+)"$/, '$1'))).toEqual([
      ...['ended', 'budget_exhausted'],
      'reopened',
      ...['ended', 'completed'],
    ]);
  });

  it.each([
    ['--budget-calls', '1', 'calls'],
    ['--budget-tokens', '1', 'tokens'],
    ['--budget-wall', '1s', 'wall'],
  ])('a limit of the command line holds for a new run: %s', async (option, value, what) => {
    await using project = await createTestProject(settings, agentWith('tools: [shell]'));
    const slow: Reply = { calls: [{ name: 'shell', input: { command: 'sleep 30' } }] };
    const server = await project.serve(what === 'wall' ? slow : work, { text: 'All done.' });
    const ended = await project.look('run', 'helper', 'Go.', option, value);
    expect(ended.code).not.toBe(0);
    expect(`${ended.out}${ended.err}`).toContain(what);
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['--budget-calls', '2'],
    ['--budget-tokens', '200000'],
    ['--budget-usd', '0.2'],
    ['--budget-wall', '1s'],
  ])('what was spent before a run had a limit counts: %s', async (option, value) => {
    const prices = 'prices: { openai/test-model: { input: 1, output: 1 } }\n';
    const agent = agentWith('tools: [shell, write]');
    await using project = await createTestProject(`${prices}permissions: { shell: allow, write: ask }\n`, agent);
    const usage = { input: 100_000, output: 20 };
    const sleep: Reply = { usage, calls: [{ name: 'shell', input: { command: 'sleep 1' } }] };
    const asks: Reply = { usage, calls: [{ name: 'write', input: { path: 'a.txt', content: 'a' } }] };
    const server = await project.serve(sleep, asks, asks);
    expect((await project.look('run', 'helper', 'Go.')).code).toBe(5);
    await project.look('resume', 'last', option, value);
    await project.look('resume', 'last', option, value);
    await project.look('approve', 'last');
    expect(server.requests).toHaveLength(2);
    expect((await project.look('ps', '--all')).out).toContain('budget exhausted');
    expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0 });
  });

  it('its time, as the end itself says', async () => {
    await using project = await createTestProject(settings, agentWith('tools: [shell]'));
    await project.serve({ calls: [{ name: 'shell', input: { command: 'sleep 30' } }] }, { text: 'All done.' });
    const ended = await project.look('run', 'helper', 'Go.', '--budget-wall', '1s');
    expect(ended.err).toMatch(/next +troupe resume \w{6} --budget-wall 2s/);
    expect((await project.look('ps', '--all')).out).toMatch(/troupe resume \w{6} --budget-wall 2s/);
    expect(await project.look('resume', 'last', '--budget-wall', '1h')).toMatchObject({ code: 0 });
    const refused = await project.look('resume', 'last', '--budget-calls', '9');
    const [, line = ''] = /(troupe run helper "…" --session \w+)/.exec(refused.err) ?? [];
    expect(await project.lookTyped(line)).toMatchObject({ code: 0, out: 'All done.\n' });
  });

  it('a run under way is not done again, and is not said to go on', async () => {
    await using project = await createTestProject(settings, agentWith('tools: [shell]'));
    await project.serve({ calls: [{ name: 'shell', input: { command: 'sleep 30' } }] }, { text: 'All done.' });
    const run = project.start(['run', 'helper', 'Go.']);
    await run.says('calls shell');
    const [, line = ''] = /(troupe cancel \w+)/.exec((await project.look('retry', 'last')).err) ?? [];
    expect(await project.typed(line)).toMatchObject({ code: 0 });
    expect(await run.ended).toMatchObject({ code: 130 });
  });

  it('a failure that the agent reports is done again, as a run of its own', async () => {
    await using project = await createTestProject(settings, agentWith('tools: [shell]'));
    const report = (status: string): Reply => ({ calls: [{ name: 'final_report', input: { report: status, status } }] });
    const server = await project.serve(work, report('failure'), report('success'));
    expect((await project.look('run', 'helper', 'Go.')).code).toBe(1);
    const again = await project.look('retry', 'last', '--json');
    expect([again.code, JSON.parse(again.out)]).toMatchObject([0, { report: { body: 'success' } }]);
    // It began anew: what the failed run had done and said is no part of it.
    expect(server.requests.map(({ toolResults }) => toolResults)).toEqual([0, 1, 0]);
    expect((await project.look('retry', 'last')).code).toBe(2);
  });

  it('what failed below a run is done again by itself, as the end says', async () => {
    await using project = await createTestProject(settings, agentWith('agents: [second]'));
    await project.write('agents/second.md', '---\nname: second\ntools: [shell]\n---\nYou do it.\n');
    let second: Reply = { calls: [{ name: 'final_report', input: { report: 'No way.', status: 'failure' } }] };
    const server = await project.serve((request) => {
      if (JSON.stringify(request.body).includes('You do it.')) return request.toolResults === 0 ? work : second;
      if (request.toolResults > 0) return { text: 'Done without.' };
      return { calls: [{ name: 'second', input: { prompt: 'Do it well.', reason: 'need' } }] };
    });
    const ended = await project.look('run', 'helper', 'Go.');
    expect(ended).toMatchObject({ code: 0, out: 'Done without.\n' });
    // Of the run itself there is nothing to do again: what there is to do is what the end says, wherever it is said.
    const below = printed(ended.err, 'retry');
    const refused = await project.look('retry', 'last');
    expect([refused.code, printed(refused.err, 'retry')]).toEqual([2, below]);
    expect((await project.look('ps', '--all')).out).toContain(below);
    second = { text: 'It is done.' };
    expect(await project.lookTyped(below)).toMatchObject({ code: 0, out: 'It is done.\n' });
    // Only the one below was asked, what it had been asked, and without what it had said before.
    const again = server.requests.slice(4);
    expect(again.map(({ toolResults }) => toolResults)).toEqual([0, 1]);
    expect(JSON.stringify(again[0]?.body)).toContain('Do it well.');
    expect(await lines(project)).toBe(2);
    // A branch of its own: what there was stays as it was.
    const listed = (await project.look('ps', '--all', '--json')).out;
    const states = (JSON.parse(listed) as { agent: string; state: string }[]).map(({ agent, state }) => `${agent} ${state}`);
    expect(states.toSorted()).toEqual(['helper completed', 'second completed', 'second failed']);
  });

  it('its turns and its model', async () => {
    await using project = await createTestProject(settings, agentWith('tools: [shell]\nmaxTurns: 2'));
    const server = await project.serve(work, work, ({ model }) => {
      return model === 'other' ? { text: 'All done.' } : { fault: 'status', status: 404 };
    });
    const ended = await project.look('run', 'helper', 'Go.');
    expect(ended).toMatchObject({ code: 1, err: expect.stringMatching(/troupe resume \w{6} --max-turns 4/) });
    const more = await project.look('resume', 'last', '--max-turns', '5', '--json');
    expect(objectIn(more.out)).toMatchObject({ status: 'failed', error: { code: 'model_invalid_request' } });
    expect(await lines(project)).toBe(2);
    expect(await project.look('resume', 'last', '--model', 'openai/other')).toMatchObject({ code: 0, out: 'All done.\n' });
    expect(server.requests).toHaveLength(4);
    expect(await lines(project)).toBe(2);
    const logs = await project.look('logs', 'last');
    expect(logs.out).toContain('goes on: with openai/other');
  });
});
