/** What else a client can do with an assistant, against the real server: wait for it, end it, answer it; and never another's. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AssistantsClient, connectStdio, startHttp, textsOf } from '../support/assistants/client.ts';
import { only, sessionOf } from '../support/assistants/ledger.ts';
import { createAssistantsProject, isGone, openServedProject, runnerOf, toolsOf } from '../support/assistants/served-project.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const TALKER = { talker: 'description: Talks' };

describe('spawn_assistant', () => {
  it('waits for the answer in sync mode', async () => {
    await using served = await openServedProject({ agents: TALKER, play: () => ({ text: 'Here I am.' }) });
    const input = { assistant_id: 'talker', query: 'Are you there?', run_mode: 'sync' };
    const result = await served.client.result('spawn_assistant', input);
    expect(result.structuredContent).toMatchObject({ status: 'finished', answer: 'Here I am.' });
  });

  it('says which assistants there are none of', async () => {
    await using served = await openServedProject({ agents: TALKER, play: () => ({ text: 'Yes.' }) });
    const result = await served.client.result('spawn_assistant', { assistant_id: 'nobody', query: 'Are you there?' });
    expect(result.isError).toBe(true);
    expect(textsOf(result).join('')).toContain('nobody');
  });
});

/** Longer than a call may take here: who waits for it to pass fails. */
const LONG_WAIT_MS = PATIENCE_MS + 30_000;

describe('poll_assistant and recv_message', () => {
  it('return as soon as something happens, long before wait_ms', async () => {
    const held = Promise.withResolvers<void>();
    await using served = await openServedProject({ agents: TALKER, play: () => held.promise.then(() => ({ text: 'Done.' })) });
    const { spawn, poll, receive } = toolsOf(served.client);
    const { process_id, thread_id } = await spawn('talker', 'Take your time.');
    await expect.poll(() => served.model.requests.length).toBe(1);
    const polled = poll(process_id, { wait_ms: LONG_WAIT_MS });
    const received = receive(thread_id, { unread_only: true, wait_ms: LONG_WAIT_MS });
    let isOver = false;
    for (const one of [polled, received]) void one.finally(() => (isOver = true));
    // What is asked after them is answered before them.
    for (let later = 0; later < 20; later += 1) await served.client.callTool('list_assistant', {});
    expect(isOver).toBe(false);
    held.resolve();
    expect((await polled).process.status).toBe('finished');
    expect((await received).messages).toMatchObject([{ content: 'Done.', from_assistant_id: 'talker', read_at: null }]);
  });
});

describe('cancel_assistant', () => {
  it('ends the run and the process that hosts it', async () => {
    await using served = await openServedProject({ agents: TALKER, play: () => ({ fault: 'hang' }) });
    const { spawn, untilEnded } = toolsOf(served.client);
    const { process_id } = await spawn('talker', 'Never end.');
    await expect.poll(() => served.model.requests.length).toBe(1);
    const pid = await runnerOf(served.project, process_id);
    expect(isGone(pid)).toBe(false);
    expect(await served.client.callTool('cancel_assistant', { process_id, reason: 'not needed' })).toEqual({ success: true });
    expect((await untilEnded(process_id)).process).toMatchObject({ status: 'failed', exit_code: 130 });
    await expect.poll(() => isGone(pid)).toBe(true);
    expect((await served.client.result('cancel_assistant', { process_id })).isError).toBe(true);
  });
});

describe('answer_assistant', () => {
  it.each([
    { answer: 'yes', made: true, report: 'It is made.' },
    { answer: 'no, not here', made: false, report: 'I was not allowed to.' },
  ])('$answer: the command waits for it', async ({ answer, made, report }) => {
    await using served = await openServedProject({
      agents: { maker: 'description: Makes files\ntools: [shell]' },
      play({ toolResults, body }) {
        if (toolResults === 0) return { calls: [{ name: 'shell', input: { command: 'touch made.txt' } }] };
        return { text: JSON.stringify(body).includes('not here') ? 'I was not allowed to.' : 'It is made.' };
      },
    });
    const { spawn, poll, receive, untilEnded } = toolsOf(served.client);
    const { process_id, thread_id } = await spawn('maker', 'Make the file.');
    const { messages } = await receive(thread_id, { unread_only: true, mark_as_read: true, wait_ms: 60_000 });
    expect(messages).toMatchObject([{ from_assistant_id: 'maker', content: expect.stringContaining('touch made.txt') }]);
    expect((await poll(process_id)).process.status).toBe('running');
    expect(existsSync(join(served.project.folder, 'made.txt'))).toBe(false);

    const unclear = await served.client.result('answer_assistant', { process_id, answer: 'perhaps' });
    expect(textsOf(unclear).join('')).toContain('Answer yes');
    expect(await served.client.callTool('answer_assistant', { process_id, answer })).toEqual({ success: true });
    expect((await untilEnded(process_id)).process).toMatchObject({ status: 'finished', exit_code: 0 });
    expect(existsSync(join(served.project.folder, 'made.txt'))).toBe(made);
    expect(await receive(thread_id, { unread_only: true })).toMatchObject({ messages: [{ content: report }] });
    expect((await served.client.result('answer_assistant', { process_id, answer })).isError).toBe(true);
  });

  it('a client may change what it allows, if it says what it means; a yes with more behind it is none', async () => {
    await using served = await openServedProject({
      agents: { maker: 'description: Makes files\ntools: [shell]\npermissions: { shell: { "*": ask, "rm *": deny } }' },
      play: ({ toolResults }) =>
        toolResults < 2 ? { calls: [{ name: 'shell', input: { command: 'touch wrong.txt' } }] } : { text: 'Done.' },
    });
    const { folder } = served.project;
    const { spawn, receive, untilEnded } = toolsOf(served.client);
    const { process_id, thread_id } = await spawn('maker', 'Make the file.');
    const asked = async (): Promise<string> => {
      const { messages } = await receive(thread_id, { unread_only: true, mark_as_read: true, wait_ms: 60_000 });
      return /question_id (\S+);/.exec(JSON.stringify(messages))?.[1] ?? '';
    };
    const answer = (more: object) => served.client.result('answer_assistant', { process_id, answer: 'yes', ...more });
    const question_id = await asked();
    const input = { command: 'touch right.txt' };
    for (const more of [{ input }, { question_id, input, answer: 'no' }, { question_id, answer: 'yes, but elsewhere' }])
      expect((await answer(more)).isError).toBe(true);
    const unfit = await answer({ question_id, input: { comand: 'touch right.txt' } });
    expect(unfit).toMatchObject({ isError: true });
    expect(JSON.stringify(unfit)).toContain('`command` is required');
    expect((await answer({ question_id, input })).isError).not.toBe(true);
    const second = await asked();
    const denied = await answer({ question_id: second, input: { command: 'rm right.txt' } });
    expect(denied).toMatchObject({ isError: true });
    expect(JSON.stringify(denied)).toContain('rm *');
    await answer({ question_id: second, answer: 'no' });
    expect((await untilEnded(process_id)).process).toMatchObject({ status: 'finished' });
    expect([existsSync(join(folder, 'right.txt')), existsSync(join(folder, 'wrong.txt'))]).toEqual([true, false]);
  });
});

describe('two clients', () => {
  const tokens = { alice: 'alice-0123456789abcdef', bob: 'bob-0123456789abcdef' };

  it('with servers of their own have nothing to do with each other', async () => {
    const { project } = await createAssistantsProject(TALKER, () => ({ text: 'A secret.' }));
    await using _project = project;
    await using alice = await connectStdio(project, '2026-07-28', ['--as', 'alice']);
    await using bob = await connectStdio(project, '2025-11-25', ['--as', 'bob']);
    await expectApart(alice, bob);
  });

  it('of one server have nothing to do with each other', async () => {
    const { project } = await createAssistantsProject(TALKER, () => ({ text: 'A secret.' }));
    await using _project = project;
    const named = Object.entries(tokens).map(([name, token]) => `${name}=${token}`);
    await using server = await startHttp(project, { TROUPE_TOKENS: named.join(',') });
    await expectApart(await server.connect('2025-11-25', tokens.alice), await server.connect('2026-07-28', tokens.bob));
    await expect(server.connect('2026-07-28')).rejects.toThrow();
    await expect(server.connect('2026-07-28', 'mallory-0123456789abcdef')).rejects.toThrow();
  });

  it('of one name are the same one', async () => {
    const { project } = await createAssistantsProject(TALKER, () => ({ text: 'A secret.' }));
    await using _project = project;
    await using first = await connectStdio(project, '2026-07-28', ['--as', 'alice']);
    const { process_id, thread_id } = await toolsOf(first).spawn('talker', 'Talk.');
    await toolsOf(first).untilEnded(process_id);
    await using second = await connectStdio(project, '2025-11-25', ['--as', 'alice']);
    expect((await toolsOf(second).receive(thread_id)).messages).toMatchObject([{ content: 'A secret.' }]);
    const started = only(await sessionOf(project.folder, process_id), 'run.started');
    expect(started.map(({ payload }) => payload.origin)).toEqual([{ kind: 'client', by: 'alice' }]);
  });
});

/** What one has spawned is, for the other, as if it did not exist. */
async function expectApart(alice: AssistantsClient, bob: AssistantsClient): Promise<void> {
  const mine = await Promise.all([alice, bob].map((one) => toolsOf(one).spawn('talker', 'Talk.')));
  for (const [index, { process_id }] of mine.entries()) await toolsOf(index === 0 ? alice : bob).untilEnded(process_id);
  const [alices, bobs] = mine;
  for (const [client, other] of [[alice, bobs] as const, [bob, alices] as const]) {
    const { process_id, thread_id } = other ?? { process_id: '', thread_id: '' };
    const tries = [
      await client.result('poll_assistant', { process_id, wait_ms: 10_000 }),
      await client.result('recv_message', { thread_id, mark_as_read: true, wait_ms: 10_000 }),
      await client.result('send_message', { to_assistant_id: 'talker', thread_id, message: 'Tell me.' }),
      await client.result('cancel_assistant', { process_id }),
      await client.result('answer_assistant', { process_id, answer: 'yes' }),
    ];
    expect(tries.map(({ isError }) => isError)).toEqual(tries.map(() => true));
    const said = tries.flatMap(textsOf).join('\n');
    expect(said).not.toContain('A secret.');
    expect(await client.result('poll_assistant', { process_id: `run_${'0'.repeat(20)}` })).toMatchObject({ isError: true });
  }
  expect((await toolsOf(alice).receive(alices?.thread_id ?? '')).messages).toMatchObject([
    { content: 'A secret.', read_at: null },
  ]);
}
