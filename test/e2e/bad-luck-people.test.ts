/**
 * Bad luck with people and with money, through the real command line: somebody presses Ctrl-C, two processes want the same
 * run, nobody is there to answer, the budget ends, a report claims what is not so. What is printed can be typed as it is.
 */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGone } from '../support/assistants/served-project.ts';
import type { ModelServer } from '../support/models/model-server.ts';
import type { Reply, ServerCall } from '../support/models/script.ts';
import { agentWith, createTestProject, expectErrorObject, expectKept, objectIn, printed } from './support-project.ts';

const shell = (command: string): ServerCall => ({ name: 'shell', input: { command } });
/** The second answer never comes: whoever asks for it is stopped. */
const slow: readonly Reply[] = [{ calls: [{ name: 'list' }] }, { fault: 'hang' }, { text: 'Finally.' }];

/** The second answer has been asked for: whoever comes later gets the third. */
const hanging = (server: ModelServer): Promise<void> => expect.poll(() => server.requests.length).toBe(2);

describe.concurrent('a run that is stopped', () => {
  it.for(['SIGINT', 'SIGTERM'] as const)('by %s is kept, says how to go on, and repeats nothing', async (signal) => {
    await using project = await createTestProject();
    const server = await project.serve(...slow);
    const running = project.start(['run', 'helper', 'wait']);
    await hanging(server);
    running.kill(signal);
    const { code, out, err } = await running.ended;
    expect({ code, out }).toEqual({ code: 130, out: '' });
    await expectKept(project, 'interrupted');
    expect(await project.typed(printed(err, 'resume'))).toMatchObject({ code: 0, out: 'Finally.\n' });
    expect(server.requests.filter((request) => request.toolResults === 0)).toHaveLength(1);
    await expectKept(project, 'completed');
  });

  it('by a second Ctrl-C ends at once, with what it started, and goes on without repeating the effect', async () => {
    await using project = await createTestProject('', agentWith('tools: [shell]\npermissions: { shell: allow }'));
    const command = 'trap "" TERM INT; echo $$ >> pids; echo begun >&2; sleep 3600';
    const server = await project.serve({ calls: [shell(command)] }, { text: 'Not again.' });
    const running = project.start(['run', 'helper', 'wait']);
    const child = await textOf(join(project.folder, 'pids'));
    running.kill('SIGINT');
    await running.says('stopping');
    running.kill('SIGINT');
    const left = await running.ended;
    expect(left.code).toBe(130);
    // An orderly stop ends with a summary; leaving at once does not.
    expect(left.err).not.toContain('troupe resume');
    await expect.poll(() => isGone(Number(child))).toBe(true);
    expect(await project.troupe('resume', 'last')).toMatchObject({ code: 0, out: 'Not again.\n' });
    expect(JSON.stringify(server.requests[1]?.body)).toContain('outcome of this call is not known');
    expect((await readFile(join(project.folder, 'pids'), 'utf8')).trim()).toBe(child);
    await expectKept(project, 'completed');
  });

  it('by kill -9 is taken over from its dead owner', async () => {
    await using project = await createTestProject();
    const server = await project.serve(...slow);
    const running = project.start(['run', 'helper', 'wait']);
    await hanging(server);
    running.kill('SIGKILL');
    await running.ended;
    await expectKept(project, 'interrupted');
    expect(await project.troupe('resume', 'last')).toMatchObject({ code: 0, out: 'Finally.\n' });
    expect((await project.look('logs', 'last', '--jsonl')).out).toContain('"takenOver":true');
    expect(server.requests.filter((request) => request.toolResults === 0)).toHaveLength(1);
  });
});

it.concurrent('a run that another process drives is refused, naming that process, and not disturbed', async () => {
  await using project = await createTestProject();
  const refusedIt = Promise.withResolvers<void>();
  await project.serve({ calls: [{ name: 'list' }] }, () => refusedIt.promise.then(() => ({ text: 'Finally.' })));
  const running = project.start(['run', 'helper', 'wait']);
  await running.says('list done');
  const refused = await project.troupe('resume', 'last', '--json');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`Process ${running.pid} on ${hostname()} drives`) });
  expectErrorObject(refused, 'held');
  refusedIt.resolve();
  expect(await running.ended).toMatchObject({ code: 0, out: 'Finally.\n' });
  expect(await project.typed(printed(refused.err, 'logs'))).toMatchObject({ code: 0 });
  await expectKept(project, 'completed');
});

it.concurrent('of two that resume a run at once one goes on, and the other ends with a word for scripts', async () => {
  await using project = await createTestProject();
  const other = Promise.withResolvers<void>();
  const server = await project.serve(...slow.slice(0, 2), () => other.promise.then(() => ({ text: 'Finally.' })));
  const running = project.start(['run', 'helper', 'wait']);
  await hanging(server);
  running.kill('SIGKILL');
  await running.ended;
  const both = [1, 2].map(() => project.troupe('resume', 'last', '--json'));
  const late = await Promise.race(both);
  expect(late.code).toBe(1);
  expectErrorObject(late, 'held');
  other.resolve();
  const codes = (await Promise.all(both)).map(({ code }) => code);
  expect(codes.toSorted()).toEqual([0, 1]);
  expect(await project.typed(printed(late.err, 'resume'))).toMatchObject({ code: 0, out: 'Finally.\n' });
});

it.concurrent('a run whose output nobody reads any more is stopped, and does not say that it completed', async () => {
  await using project = await createTestProject();
  // The answer comes when the reader has gone.
  const afterwards = () => textOf(join(project.folder, 'first')).then(() => ({ text: 'Finally.' }));
  await project.serve({ calls: [{ name: 'list' }] }, afterwards, { text: 'Finally.' });
  const through = ['bash', '-c', 'set -o pipefail; "$@" | head -n 1 > first', 'bash'];
  const cut = await project.start(['run', 'helper', 'wait', '--jsonl'], { through }).ended;
  expect(cut).toMatchObject({ code: 130, err: expect.stringContaining('stopping') });
  expect(await project.typed(printed(cut.err, 'resume'))).toMatchObject({ code: 0, out: 'Finally.\n' });
  await expectKept(project, 'completed');
});

it.concurrent('a command whose output nobody reads ends as it would have', async () => {
  await using project = await createTestProject('permissions: { shel: deny }');
  const through = ['bash', '-c', 'set -o pipefail; "$@" | true', 'bash'];
  expect(await project.start(['doctor', '--offline'], { through }).ended).toMatchObject({ code: 1 });
  expect(await project.start(['agents', 'list'], { through }).ended).toMatchObject({ code: 0 });
});

describe.concurrent('nobody is there', () => {
  const once = shell('echo once >> log.txt');
  it.for([
    ['to approve', 'approve', { calls: [once] }, 'once\n'],
    ['to refuse', 'deny', { calls: [once] }, undefined],
    ['to answer', 'answer', { calls: [{ name: 'ask', input: { question: 'Which one?', choices: ['a', 'b'] } }] }, undefined],
  ] as const)('%s: the run waits, and the printed command works', async ([name, verb, asks, effect]) => {
    await using project = await createTestProject();
    const isReal = name === 'to approve';
    const server = await project.serve(asks, { text: 'Thanks.' });
    const asked = await project[isReal ? 'troupe' : 'look']('run', 'helper', 'hi', '--json');
    expect(asked.code).toBe(5);
    expect(objectIn(asked.out)).toMatchObject({ status: 'waiting', report: null, waits: [{ agent: 'helper' }] });
    await expectKept(project, 'waiting');
    expect(await project.look('resume', 'last')).toMatchObject({ code: 5, out: '' });
    expect(await project[isReal ? 'typed' : 'lookTyped'](printed(asked.err, verb))).toMatchObject({ code: 0, out: 'Thanks.\n' });
    expect(server.requests).toHaveLength(2);
    expect(await readFile(join(project.folder, 'log.txt'), 'utf8').catch(() => undefined)).toBe(effect);
    await expectKept(project, 'completed');
  });

  it('to answer several questions: each printed command names its own', async () => {
    await using project = await createTestProject();
    const server = await project.serve(
      { calls: [shell('echo one >> log.txt'), shell('echo two >> log.txt')] },
      { text: 'Both.' },
    );
    const asked = await project.troupe('run', 'helper', 'hi');
    expect(asked).toMatchObject({ code: 5, out: '' });
    expect(asked.err.match(/troupe approve .*--wait .*/g)).toHaveLength(2);
    const vague = await project.troupe('approve', 'last');
    expect(vague).toMatchObject({ code: 2, err: expect.stringContaining('several answers') });
    const next = await project.typed(printed(vague.err, 'approve'));
    expect(next.code).toBe(5);
    expect(await project.typed(printed(next.err, 'approve'))).toMatchObject({ code: 0, out: 'Both.\n' });
    expect((await readFile(join(project.folder, 'log.txt'), 'utf8')).split('\n').sort()).toEqual(['', 'one', 'two']);
    expect(server.requests).toHaveLength(2);
    await expectKept(project, 'completed');
  });
});

describe.concurrent('money and promises', () => {
  it('a budget in dollars is refused where the price is not known, unless told otherwise', async () => {
    await using project = await createTestProject();
    const server = await project.serve({ text: 'Hi.' });
    const refused = await project.troupe('run', 'helper', 'hi', '--budget-usd', '1', '--json');
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringMatching(/price of openai\/test-model is not known.*\n.*fix: .*allowUnknownPrices/),
    });
    expectErrorObject(refused, 'unknown_price');
    expect(server.requests).toHaveLength(0);
    await project.write('troupe.yaml', 'budget: { allowUnknownPrices: true }\n');
    expect((await project.troupe('run', 'helper', 'hi', '--budget-usd', '1')).code).toBe(0);
  });

  it.for([
    ['calls', 'budget: { calls: 1 }', 1],
    ['tokens', 'budget: { tokens: 7000 }\nmaxOutputTokens: 1000', 1],
    ['wall time', 'budget: { wall: 4s }', 2],
  ] as const)('a budget of %s that is used up ends the run with what there is', async ([, budget, asked]) => {
    await using project = await createTestProject('', agentWith(`tools: [list]\n${budget}`));
    const server = await project.serve(
      { text: 'First a look.', calls: [{ name: 'list' }], usage: { input: 5_500, output: 10 } },
      { fault: 'hang' },
    );
    const ended = await project.troupe('run', 'helper', 'hi');
    expect(ended).toMatchObject({ code: 4, err: expect.stringMatching(/why +.*budget/) });
    await expectKept(project, 'budget_exhausted');
    // On a busy machine the time may be over before there is anything.
    if (asked === 2 && server.requests.length < 2) return;
    expect(server.requests).toHaveLength(asked);
    expect(ended.out).toContain('First a look.');
  });

  it('a report that claims what nobody saw is not verified', async () => {
    await using project = await createTestProject();
    const input = { report: 'All tests pass.', claims: [{ kind: 'command', command: 'npm test' }] };
    await project.serve({ calls: [{ name: 'final_report', input }] });
    const ended = await project.troupe('run', 'helper', 'hi');
    expect(ended).toMatchObject({ code: 3, out: 'All tests pass.\n', err: expect.stringContaining('not verified') });
    await expectKept(project, 'completed_unverified');
  });
});

/** The text of a file that another process is about to write. */
async function textOf(path: string): Promise<string> {
  const read = (): Promise<string> => readFile(path, 'utf8').catch(() => '');
  await expect.poll(read).toMatch(/\n$/);
  return (await read()).trim();
}
