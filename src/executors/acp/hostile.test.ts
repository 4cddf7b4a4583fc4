/** Executors that crash, lie about the protocol, flood, or do what nobody asked for: each is contained and told. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { executorWorld, follower, heldClock, openedWorld, steps } from '../../../test/support/executors/executor-world.ts';
import { limits } from '../../base/limits.ts';

const ended = async (lines: readonly string[], options: Parameters<typeof openedWorld>[0] = {}) => {
  const world = await openedWorld(options);
  const handlers = follower();
  const outcome = await world.session.prompt(steps(...lines), handlers);
  return { ...world, handlers, outcome };
};

/** What holds in both versions of the protocol. */
const VERSIONS = [{ protocol: 1 }, { protocol: 2 }] as const;

describe('an executor that goes away', () => {
  it.each([
    [['say x', 'kill-itself'], /^Sample was ended by SIGKILL during a prompt\.$/, 2],
    [
      ['say x', 'stderr why it died', 'die 4'],
      /^Sample ended with exit code 4 during a prompt\. Its last words: why it died$/,
      1,
    ],
    [['say x', 'kill-itself'], /^Sample was ended by SIGKILL during a prompt\.$/, 1],
    [['say x', 'half-a-line {"jsonrpc":"2.0","id'], /^Sample ended with exit code 0 during a prompt\.$/, 1],
  ] as const)('%j', async (lines, message, protocol) => {
    const { outcome, session, open } = await ended(lines, { protocol });
    expect(outcome).toMatchObject({ kind: 'failed', why: 'crashed', text: 'x\n', message: expect.stringMatching(message) });
    expect(await session.end()).toMatchObject({ survivors: [] });
    expect(await open()).toMatchObject({ value: { restored: 'new' } });
  });

  it('closes its output and lives on: it is ended', async () => {
    const clock = heldClock(limits.executorEndMs);
    const ringing = setInterval(() => clock.ring(limits.executorEndMs), 10);
    const { outcome } = await ended(['say x', 'eof'], { clock, args: ['--stays'] });
    clearInterval(ringing);
    expect(outcome).toMatchObject({ kind: 'failed', why: 'crashed', text: 'x\n', message: expect.stringContaining('SIGTERM') });
  });

  it('over TCP only closes the connection', async () => {
    const { outcome } = await ended(['say x', 'eof'], { tcp: true });
    expect(outcome).toMatchObject({ kind: 'failed', why: 'crashed', message: 'Sample closed the connection during a prompt.' });
  });

  it('between two prompts is found dead, and a new one is begun', async () => {
    const { session, open } = await openedWorld();
    process.kill(session.about.pid ?? 0, 'SIGKILL');
    const outcome = await session.prompt(steps('say x'), follower());
    expect(outcome).toMatchObject({ kind: 'failed', why: 'crashed' });
    expect(await open()).toMatchObject({ value: { restored: 'new' } });
  });

  it('while it waits for leave: the question is taken back', async () => {
    const { session } = await openedWorld();
    const handlers = follower({ decide: () => new Promise(() => undefined) });
    const prompted = session.prompt(steps('ask * x'), handlers);
    await expect.poll(() => handlers.asked.length).toBe(1);
    process.kill(session.about.pid ?? 0, 'SIGKILL');
    expect(await prompted).toMatchObject({ kind: 'failed', why: 'crashed' });
    expect(handlers.asked[0]?.signal.aborted).toBe(true);
  });

  it.each(VERSIONS)('says that it failed, and lives on: version $protocol', async ({ protocol }) => {
    const { outcome, session } = await ended(['error -32603 the model has no credit: sk-ant-abc'], { protocol });
    expect(outcome).toMatchObject({
      ...{ kind: 'failed', why: 'error', message: 'Sample says that a prompt failed: the model has no credit: [redacted]' },
    });
    expect(await session.prompt(steps('say on'), follower())).toMatchObject({ text: 'on\n' });
    expect(await session.prompt(steps('error -32000 log in'), follower())).toMatchObject({
      why: 'auth',
      fix: /log in with Sample/,
    });
  });
});

describe('an executor that does not keep to the protocol', () => {
  it('answers a prompt with nothing that is an end', async () => {
    const { outcome } = await ended(['answer {"stopReason":"whatever"}']);
    expect(outcome).toMatchObject({ kind: 'failed', why: 'protocol' });
  });

  it.each(VERSIONS)('prints what is no message: it is left out, and told once: version $protocol', async ({ protocol }) => {
    const { outcome, handlers } = await ended(
      ['junk 50', 'raw []', 'raw 7', 'raw {"jsonrpc":"2.0","id":{}}', 'deep 5000', 'say still here'],
      { protocol },
    );
    expect(outcome).toMatchObject({ stop: 'end_turn', text: 'still here\n' });
    expect(handlers.notices()).toEqual([
      'It wrote lines that are no messages; they are left out. The first: log line 0 with [redacted]',
    ]);
  });

  it('answers twice, and what nobody asked', async () => {
    const { outcome, handlers, session } = await ended(['raw {"jsonrpc":"2.0","id":"nobody","result":{}}', 'twice']);
    expect(outcome).toMatchObject({ stop: 'end_turn' });
    expect(handlers.notices()).toEqual(['It answered what nobody asked, or answered twice; that is left out.']);
    expect(await session.prompt(steps('say on'), follower())).toMatchObject({ text: 'on\n' });
  });

  it('tells of calls in any order and as often as it likes', async () => {
    const said = (update: object) => `update ${JSON.stringify(update)}`;
    const { handlers } = await ended([
      said({ sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'completed', rawOutput: { output: 'done' } }),
      said({
        sessionUpdate: 'tool_call',
        toolCallId: 'a',
        title: 'Edit',
        kind: 'edit',
        status: 'pending',
        locations: [{ path: '/x' }],
      }),
      said({
        sessionUpdate: 'tool_call',
        toolCallId: 'a',
        title: 'Edit again',
        status: null,
        content: [{ type: 'diff', path: '/x', newText: 'n' }],
      }),
      said({ sessionUpdate: 'tool_call_update', toolCallId: 'b', content: [{ type: 'terminal', terminalId: 'not-ours' }] }),
      said({ sessionUpdate: 'tool_call_update' }),
      said({ sessionUpdate: 'plan', entries: 'none' }),
    ]);
    const calls = handlers.updates.flatMap((one) => (one.kind === 'call' ? [one.call] : []));
    expect(calls.at(2)).toEqual({
      ...{ id: 'a', title: 'Edit again', kind: 'edit', status: 'completed', locations: ['/x'], output: 'done', outputBytes: 4 },
      diffs: [{ path: '/x', after: 'n' }],
    });
    expect(calls.at(3)).toMatchObject({ id: 'b', output: '', status: 'pending' });
    expect(handlers.notices()).toEqual(['It told of something in a way that is not the protocol; that is left out.']);
  });

  it('asks in version 2 for what only version 1 has', async () => {
    const { session, cwd } = await openedWorld({ protocol: 2 });
    const handlers = follower();
    const params = { sessionId: session.session, path: join(cwd, 'f'), content: 'x', command: 'true' };
    const asking = ['fs/write_text_file', 'fs/read_text_file', 'terminal/create'].map(
      (method, id) => `raw ${JSON.stringify({ jsonrpc: '2.0', id: `old-${id}`, method, params })}`,
    );
    const mode = 'update {"sessionUpdate":"current_mode_update","currentModeId":"free"}';
    expect(await session.prompt(steps(...asking, mode, 'ask * x'), handlers)).toMatchObject({ text: 'permission y-once\n' });
    expect([handlers.files, handlers.commands, handlers.wanted]).toEqual([[], [], []]);
    expect(handlers.updates.filter(({ kind }) => kind === 'mode')).toEqual([]);
  });

  it('is idle before it has begun, and ends as nobody knows: version 2', async () => {
    const { outcome } = await ended(['say x', 'stop whatever'], { protocol: 2 });
    expect(outcome).toMatchObject({ kind: 'failed', why: 'protocol', text: 'x\n' });
  });

  it('asks for methods that there are not, and for sessions and terminals of nobody', async () => {
    const { outcome } = await ended(['method terminal/output', 'method something/else', 'run . - exit 0; exit 1']);
    const [missing, unknown] = outcome.text.split('\n');
    expect(missing).toMatch(/^error -32002 There is no such terminal/);
    expect(unknown).toMatch(/^error -32601 There is no method something\/else/);
  });

  it('takes a question back', async () => {
    const { session } = await openedWorld();
    const handlers = follower({ decide: () => new Promise(() => undefined) });
    const prompted = session.prompt(steps('ask-and-withdraw x'), handlers);
    await expect.poll(() => handlers.asked.length).toBe(1);
    process.kill(session.about.pid ?? 0, 'SIGUSR2');
    expect(await prompted).toMatchObject({ text: 'permission cancelled\n' });
    expect(handlers.asked[0]?.signal.aborted).toBe(true);
  });

  it('asks after the end: nobody is asked, and nothing is done', async () => {
    const { session, cwd } = await openedWorld();
    const params = JSON.stringify({ sessionId: session.session, path: join(cwd, 'late'), content: 'x' });
    const late = `raw {"jsonrpc":"2.0","id":"late","method":"fs/write_text_file","params":${params}}`;
    await session.prompt(steps('say first'), follower());
    // The question comes together with the answer that ends the prompt.
    const handlers = follower({ mayWrite: () => new Promise(() => undefined) });
    expect(await session.prompt(steps(late, 'twice'), handlers)).toMatchObject({ stop: 'end_turn' });
    expect(handlers.files).toEqual([]);
  });
});

describe('a program that is no executor', () => {
  it('and talks without end is told at once, with what it said', async () => {
    const { open } = await executorWorld({ args: ['--babbles', String(limits.executorBannerLines + 1)] });
    const opened = await open();
    expect(opened).toMatchObject({
      ok: false,
      error: { why: 'protocol', message: expect.stringContaining('(executorBannerLines)') },
    });
    expect(JSON.stringify(opened)).toContain('It wrote what is no message: Welcome, the key is [redacted]');
  });

  it('and waits for somebody behind its greeting is not called slow', async () => {
    const clock = heldClock(limits.executorStartMs);
    const ringing = setInterval(() => clock.ring(limits.executorStartMs), 10);
    const { open } = await executorWorld({ args: ['--babbles', '2'], clock });
    expect(await open()).toMatchObject({ ok: false, error: { why: 'protocol' } });
    clearInterval(ringing);
  });

  it('prints a little before its first message, as many do', async () => {
    const { outcome } = await ended([`junk ${limits.executorBannerLines + 1}`, 'say on']);
    expect(outcome).toMatchObject({ kind: 'ended', text: 'on\n' });
  });
});

describe('what is asked and refused', () => {
  const no = async () => ({ allowed: false, reason: 'not here' }) as const;

  it('is told to the executor, and nothing is done', async () => {
    const { session, cwd } = await openedWorld();
    const handlers = follower({ mayRead: no, mayWrite: no, mayRun: no });
    const path = join(cwd, 'f');
    const { text } = await session.prompt(steps(`write ${path} x`, `read ${path}`, 'run . - touch f'), handlers);
    expect(text.trim().split('\n')).toEqual(Array(3).fill('error -32603 not here'));
    expect(handlers.files).toEqual([]);
    expect(handlers.commands).toEqual([]);
  });

  it('a question for a person is declined unless one is there', async () => {
    const { session } = await openedWorld({}, { questions: true });
    expect(await session.prompt(steps('elicit Name?'), follower())).toMatchObject({ text: 'elicited {"action":"decline"}\n' });
    const ask = async ({ message }: { readonly message: string }) => ({ action: 'accept', content: { name: message } }) as const;
    expect(await session.prompt(steps('elicit Name?'), follower({ ask }))).toMatchObject({
      text: 'elicited {"action":"accept","content":{"name":"Name?"}}\n',
    });
  });

  it('a command that is killed or left running ends with the prompt, with all that it started', async () => {
    const { handlers, outcome } = await ended(['run-and-kill sleep 305', 'run-on sh -c "sleep 304 & sleep 303"']);
    expect(outcome.text).toMatch(/^killed SIGTERM\nrunning terminal-2\n$/);
    expect(handlers.commands).toMatchObject([
      { line: 'sleep 305', stopped: true, signal: 'SIGTERM' },
      { line: 'sh -c "sleep 304 & sleep 303"', stopped: true },
    ]);
  });

  it('too many terminals are refused', async () => {
    const { outcome } = await ended(Array.from({ length: limits.executorTerminals + 1 }, () => 'run-on true'));
    expect(outcome.text).toContain('(executorTerminals)');
  });

  it('a missing file is empty for those who need it so', async () => {
    const { session, cwd } = await openedWorld({ fields: { missingFile: 'empty' } });
    expect(await session.prompt(steps(`read ${join(cwd, 'none')}`), follower())).toMatchObject({ text: 'read ""\n' });
  });
});

describe('a flood', () => {
  it.each(VERSIONS)('of text is cut, and the prompt goes on: version $protocol', async ({ protocol }) => {
    const { outcome, handlers } = await ended([`flood 40 65536`, 'say after'], { protocol });
    expect(outcome).toMatchObject({ kind: 'ended', cut: true });
    expect(outcome.text).toHaveLength(limits.executorAnswerBytes);
    expect(handlers.notices()).toEqual([expect.stringContaining('(executorAnswerBytes)')]);
  });

  it('of calls is cut', async () => {
    const { outcome, handlers } = await ended([`flood-calls ${limits.executorCalls + 10}`]);
    expect(outcome).toMatchObject({ kind: 'ended' });
    expect(handlers.updates.filter(({ kind }) => kind === 'call')).toHaveLength(limits.executorCalls);
  });

  it.each(VERSIONS)('of questions ends it: version $protocol', async ({ protocol }) => {
    const { session } = await openedWorld({ protocol });
    const handlers = follower({ decide: () => new Promise(() => undefined) });
    const outcome = await session.prompt(steps(`flood-requests ${limits.executorOpenRequests + 1}`), handlers);
    expect(outcome).toMatchObject({
      kind: 'failed',
      why: 'protocol',
      message: expect.stringContaining('(executorOpenRequests)'),
    });
    expect(handlers.updates.length).toBeLessThan(limits.executorOpenRequests + 2);
  });

  it('of lines that are none ends it', async () => {
    const { outcome } = await ended([`junk ${limits.executorBrokenFrames + 1}`, 'hang']);
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('(executorBrokenFrames)') });
  });

  it('in one line that does not end ends it', async () => {
    const { outcome } = await ended([`long-line ${limits.executorFrameBytes + 2_000_000}`]);
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('(executorFrameBytes)') });
  });
});

describe('what it costs', () => {
  const usage = (amount: number, currency = 'USD') =>
    `update {"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":${amount},"currency":"${currency}"}}`;

  it('is told for each prompt, though it counts the whole session', async () => {
    const { session } = await openedWorld();
    expect(await session.prompt(steps(usage(0.5)), follower())).toMatchObject({ costUsd: 0.5 });
    expect(await session.prompt(steps(usage(0.6), usage(0.75)), follower())).toMatchObject({ costUsd: 0.25 });
    const other = await openedWorld();
    const handlers = follower();
    expect(await other.session.prompt(steps(usage(3, 'EUR')), handlers)).not.toHaveProperty('costUsd');
    expect(handlers.updates).toEqual([{ kind: 'usage', used: 10, size: 100 }]);
  });

  it('in tokens is found where executors put it', async () => {
    const { session } = await openedWorld();
    const standard = { usage: { inputTokens: 1, outputTokens: 2, cachedReadTokens: 3, thoughtTokens: 4, totalTokens: 10 } };
    expect(await session.prompt(steps(`usage ${JSON.stringify(standard)}`), follower())).toMatchObject({
      usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, reasoningTokens: 4 },
    });
    const quota = { _meta: { quota: { token_count: { input_tokens: 5, output_tokens: 6 } } } };
    expect(await session.prompt(steps(`usage ${JSON.stringify(quota)}`), follower())).toMatchObject({
      usage: { inputTokens: 5, outputTokens: 6 },
    });
  });
});
