/**
 * The usage example of the assistants, run as it is written by the official client, against the real server and real runner
 * processes: over stdio and over HTTP, in the current revision of the protocol and in the one before.
 */
import { describe, expect, it } from 'vitest';
import * as schemas from '../../src/tools/assistants/schemas.ts';
import { only, sessionOf } from '../support/assistants/ledger.ts';
import {
  expectConfinedChild,
  isGone,
  openServedProject,
  runnerOf,
  type ServedProject,
  toolsOf,
  transports,
} from '../support/assistants/served-project.ts';
import { eras } from '../support/mcp/fixture-http.ts';

const ADVICE = 'Focus on security vulnerabilities';
const FINDING = 'login.py lets anybody in: the query is put together from what the user types.';
const agents = {
  'python-analyst': 'description: Python code analyzer that finds bugs\ntools: [list]',
  poet: 'description: Writes verses about the sea',
};
const combinations = transports.flatMap((transport) => eras.map((era) => ({ transport, era })));

describe.each(combinations)('the example over $transport in $era', (how) => {
  it('finds, spawns, watches, advises and hears an assistant', async () => {
    const held = Promise.withResolvers<void>();
    await using served = await openServedProject({
      ...how,
      agents,
      async play({ body }) {
        if (JSON.stringify(body).includes(ADVICE)) return { text: FINDING };
        await held.promise;
        return { calls: [{ name: 'list', input: { path: '.' } }] };
      },
    });
    const { callTool } = served.client;

    // 1. Discover available assistants
    const assistants = schemas.searchOutput.parse(
      await callTool('builtin_assistant__search_assistant', { query: 'python code analyzer' }),
    );
    expect(assistants[0]).toMatchObject({ id: 'python-analyst', name: 'python-analyst' });

    // 2. Spawn specialist assistant
    const spawned = await callTool('builtin_assistant__spawn_assistant', {
      assistant_id: assistants[0]?.id,
      query: 'Analyze this Python code for bugs',
      run_mode: 'async',
    });
    const { process_id, thread_id } = schemas.spawnOutput.parse(spawned);
    expect(spawned).toEqual({ process_id, thread_id, status: 'starting' });

    // 3. Lightweight status check (polling pattern)
    const early = schemas.pollOutput.parse(await callTool('builtin_assistant__poll_assistant', { process_id }));
    expect(early.process).toMatchObject({ process_id, thread_id, assistant_id: 'python-analyst' });
    expect(['starting', 'running']).toContain(early.process.status);
    expect(early.message_summary).toEqual({ total_messages: 0, unread_messages: 0, last_message_at: null });
    const pid = await expectAtWork(served, process_id);

    // 4. Send coordination message
    const sent = { to_assistant_id: assistants[0]?.id, thread_id, message: ADVICE };
    expect(await callTool('builtin_assistant__send_message', sent)).toEqual({ success: true });
    held.resolve();
    const status = await toolsOf(served.client).untilEnded(process_id);
    expect(status.process).toMatchObject({ status: 'finished', exit_code: 0, finished_at: expect.any(Number) });
    expect(status.message_summary).toMatchObject({ total_messages: 2, unread_messages: 1 });

    // 5. Fetch messages only when needed
    const messages = schemas.receiveOutput.parse(
      await callTool('builtin_assistant__recv_message', { thread_id, unread_only: true, mark_as_read: true }),
    );
    expect(messages.messages.map((msg) => `${msg.from_assistant_id}: ${msg.content}`)).toEqual([`python-analyst: ${FINDING}`]);
    expect(messages.summary).toEqual({ total_fetched: 1, marked_as_read: 1 });
    expect((await toolsOf(served.client).poll(process_id)).message_summary).toMatchObject({ unread_messages: 0 });

    await expectAdviceInOneRequest(served, process_id);
    await expectRunnerEnded(served, process_id, pid);
  });
});

/** The model is being asked, by a process of the assistant's own. */
async function expectAtWork({ client, model, project }: ServedProject, run: string): Promise<number> {
  await expect.poll(() => model.requests.length).toBe(1);
  expect((await toolsOf(client).poll(run)).process.status).toBe('running');
  const pid = await runnerOf(project, run);
  expectConfinedChild(client.pid, pid);
  return pid;
}

/** The model was told once, in the turn that followed, and the receipt names that request. */
async function expectAdviceInOneRequest({ project, model }: ServedProject, run: string): Promise<void> {
  expect(model.requests.map(({ body }) => JSON.stringify(body).split(ADVICE).length - 1)).toEqual([0, 1]);
  const events = await sessionOf(project.folder, run);
  const included = only(events, 'message.included').map(({ payload }) => payload.request);
  expect(included).toEqual(['turn/2/model']);
}

async function expectRunnerEnded({ project }: ServedProject, run: string, pid: number): Promise<void> {
  const ended = async () => only(await sessionOf(project.folder, run), 'process.ended').map(({ payload }) => payload);
  await expect.poll(ended).toEqual([{ pid, exitCode: 0, signal: null, why: 'done' }]);
  expect(isGone(pid)).toBe(true);
}
