/** The tools through the official client, over real HTTP, in both revisions. */
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { eras, startFixture } from '../../../test/support/mcp/fixture-http.ts';
import { createFixtureNeeds, fixtureAgent } from '../../../test/support/mcp/fixture-needs.ts';

const textsOf = (result: Awaited<ReturnType<Client['callTool']>>): readonly string[] =>
  result.content.map((block) => (block.type === 'text' ? block.text : block.type));

const until = async (holds: () => boolean): Promise<void> => {
  await expect.poll(holds, { interval: 5 }).toBe(true);
};

describe.each(eras)('the tools in %s', (era) => {
  it('are these, with schemas, words and hints', async () => {
    await using server = await startFixture(createFixtureNeeds());
    const client = await server.client(era);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      'list_assistant',
      'search_assistant',
      'spawn_assistant',
      'poll_assistant',
      'send_message',
      'recv_message',
      'cancel_assistant',
      'answer_assistant',
    ]);
    for (const tool of tools) {
      expect(tool.description?.length).toBeGreaterThan(60);
      expect(tool.outputSchema).toBeDefined();
      expect(tool.annotations).toMatchObject({ readOnlyHint: expect.any(Boolean), openWorldHint: expect.any(Boolean) });
    }
    const spawn = tools.find((tool) => tool.name === 'spawn_assistant');
    expect(spawn?.inputSchema).toMatchObject({
      required: ['assistant_id', 'query'],
      properties: { run_mode: { default: 'async', enum: ['async', 'sync'] } },
    });
  });

  it('fill in the defaults and know who asks', async () => {
    const needs = createFixtureNeeds();
    await using server = await startFixture(needs);
    const client = await server.client(era);
    const spawned = await client.callTool({ name: 'spawn_assistant', arguments: { assistant_id: 'helper', query: 'Go.' } });
    expect(spawned.structuredContent).toEqual({ process_id: 'run_1', thread_id: 'thr_1', status: 'starting' });
    expect(textsOf(spawned)).toEqual([JSON.stringify(spawned.structuredContent)]);
    await client.callTool({ name: 'recv_message', arguments: { thread_id: 'thr_1' } });
    expect(needs.calls.map((call) => [call.caller, call.input])).toEqual([
      [
        { kind: 'client', name: 'user' },
        { assistant_id: 'helper', query: 'Go.', run_mode: 'async' },
      ],
      [
        { kind: 'client', name: 'user' },
        { thread_id: 'thr_1', unread_only: false, last_n: 20, mark_as_read: false, wait_ms: 0 },
      ],
    ]);
  });

  it('give the array of a search as it is in text, and in an object where the revision needs one', async () => {
    await using server = await startFixture(createFixtureNeeds([fixtureAgent('helper', { tags: ['a'] })]));
    const client = await server.client(era);
    const found = await client.callTool({ name: 'search_assistant', arguments: { query: 'help' } });
    const array = [{ id: 'helper', name: 'helper', description: 'Does helper', tags: ['a'] }];
    expect(textsOf(found)).toEqual([JSON.stringify(array)]);
    expect(found.structuredContent).toEqual(era === '2026-07-28' ? array : { result: array });
  });

  it('give the answer of a sync call where clients show it to their model, with progress that grows', async () => {
    await using server = await startFixture(createFixtureNeeds());
    const client = await server.client(era);
    const told: number[] = [];
    const call = { name: 'spawn_assistant', arguments: { assistant_id: 'helper', query: '30', run_mode: 'sync' } };
    const done = await client.callTool(call, { onprogress: ({ progress }) => void told.push(progress) });
    const answered = { process_id: 'run_1', thread_id: 'thr_1', status: 'finished', answer: 'It is done.' };
    expect(done.structuredContent).toEqual(answered);
    expect(textsOf(done)).toEqual([JSON.stringify(answered)]);
    expect(told).toEqual([1, 2]);
  });

  it('say what is wrong and what to do, as a result of the tool', async () => {
    await using server = await startFixture(createFixtureNeeds());
    const client = await server.client(era);
    const unknown = await client.callTool({ name: 'spawn_assistant', arguments: { assistant_id: 'nobody', query: 'Go.' } });
    expect(unknown.isError).toBe(true);
    expect(textsOf(unknown)).toEqual(['error unknown_assistant: There is no assistant "nobody"\nfix: use search_assistant']);
    const bad = await client.callTool({ name: 'recv_message', arguments: { thread_id: 'thr_1', last_n: 201 } });
    expect(bad.isError).toBe(true);
    expect(textsOf(bad)[0]).toMatch(/last_n.*200/);
    for (const name of ['list_assistant', 'search_assistant', 'spawn_assistant', 'poll_assistant', 'recv_message']) {
      const known = { query: 'x', assistant_id: 'helper', process_id: 'run_1', thread_id: 'thr_1' };
      const misspelt = await client.callTool({ name, arguments: { ...known, runmode: 'sync' } });
      expect([misspelt.isError, textsOf(misspelt)[0]]).toEqual([true, expect.stringContaining('runmode')]);
    }
    await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow(/no_such_tool/);
  });

  it('pass on the key that makes a repeated call one', async () => {
    const needs = createFixtureNeeds();
    await using server = await startFixture(needs);
    const client = await server.client(era);
    const sent = { to_assistant_id: 'helper', thread_id: 'thr_1', message: 'Hi' };
    await client.callTool({ name: 'send_message', arguments: sent, _meta: { 'troupe/idempotencyKey': 'once' } });
    expect(needs.calls[0]?.options?.idempotencyKey).toBe('once');
  });

  it('stop waiting when the caller goes; in the current revision that cancels what it waited for', async () => {
    const needs = createFixtureNeeds();
    await using server = await startFixture(needs);
    const client = await server.client(era);
    const stop = new AbortController();
    const call = { name: 'spawn_assistant', arguments: { assistant_id: 'helper', query: '60000', run_mode: 'sync' } };
    const waiting = client.callTool(call, { signal: stop.signal });
    await until(() => needs.calls.length === 1);
    stop.abort();
    await expect(waiting).rejects.toThrow();
    if (era === '2025-11-25') await client.close();
    await until(() => needs.calls[0]?.options?.signal.aborted === true);
    if (era === '2026-07-28') await until(() => needs.calls.some((seen) => seen.method === 'cancel'));
    else expect(needs.calls.map((seen) => seen.method)).toEqual(['spawn']);
  });

  it('cancel nothing when the server stops', async () => {
    const needs = createFixtureNeeds();
    const server = await startFixture(needs);
    const client = await server.client(era);
    const call = { name: 'spawn_assistant', arguments: { assistant_id: 'helper', query: '60000', run_mode: 'sync' } };
    const waiting = client.callTool(call).catch(() => 'gone');
    await until(() => needs.calls.length === 1);
    await server[Symbol.asyncDispose]();
    await waiting;
    expect(needs.calls.map((seen) => seen.method)).toEqual(['spawn']);
  });
});
