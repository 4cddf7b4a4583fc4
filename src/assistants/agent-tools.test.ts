import { describe, expect, it } from 'vitest';
import { client, got, openFamily, quietly, type TestProcess, writing } from '../../test/support/assistants/family.ts';
import { PATIENCE_MS } from '../../test/support/patience.ts';
import { unseen } from '../../test/support/tool-workspace.ts';
import { systemClock } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { ok } from '../base/result.ts';
import { runTool } from '../tools/call.ts';
import type { ToolOutcome } from '../tools/port.ts';
import { assistantTools } from './agent-tools.ts';

function given() {
  const family = openFamily();
  const found = [{ id: 'coder', name: 'coder', description: 'Writes code', tags: [] }];
  const assistants = {
    ...family.service,
    list: async () => ok({ items: found, totalItems: 1 }),
    search: async () => ok(found),
  };
  const tools = assistantTools({ assistants, clock: systemClock });
  const call = (process: TestProcess, name: string, input: Json, key = 'turn/1/tool/0'): Promise<ToolOutcome> => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined || tool.kind !== undefined) throw new Error(name);
    const context = {
      workspace: '.',
      signal: quietly.signal,
      run: process.run,
      idempotencyKey: `${process.run}/${key}`,
      seen: unseen,
      redact: (text: string) => text,
    };
    return runTool(tool, input, context, { timeoutMs: PATIENCE_MS, clock: systemClock });
  };
  return { ...family, tools, call };
}

const texts = (outcome: ToolOutcome): string[] =>
  outcome.kind === 'error' ? [outcome.message] : outcome.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));

describe('the tools of an agent', () => {
  it('have the names and inputs of the wire, and leave spawning and cancelling to the runtime', async () => {
    const { ledger, tools, call, root } = given();
    expect(tools.map((tool) => [tool.name, tool.kind ?? (tool.waits === true ? 'waits' : '')])).toEqual([
      ['list_assistant', ''],
      ['search_assistant', ''],
      ['spawn_assistant', 'spawn'],
      ['cancel_assistant', 'cancel'],
      ['poll_assistant', 'waits'],
      ['recv_message', 'waits'],
      ['send_message', ''],
    ]);
    expect(tools.find(({ name }) => name === 'recv_message')?.inputSchema).toMatchObject({
      required: ['thread_id'],
      properties: { last_n: { default: 20, maximum: 200 }, unread_only: { default: false } },
    });
    const lead = await root('lead', 'ann');
    expect(texts(await call(lead, 'search_assistant', { query: 'code' }))).toEqual([
      '[{"id":"coder","name":"coder","description":"Writes code","tags":[]}]',
    ]);
    expect((await call(lead, 'list_assistant', {})).kind).toBe('ok');
    expect((await call(lead, 'list_assistant', { page: 0 })).kind).toBe('error');
    await ledger.close();
  });

  it('speak in the name of the run that calls, and send once per call', async () => {
    const { ledger, call, root, child } = given();
    const lead = await root('lead', 'ann');
    const coder = await child(lead, 'coder');
    const message = { ...writing(coder, 'coder', 'hello') };
    expect(texts(await call(lead, 'send_message', message))).toEqual(['{"success":true}']);
    expect(texts(await call(lead, 'send_message', message))).toEqual(['{"success":true}']);
    const read = { thread_id: coder.thread, unread_only: true, mark_as_read: true };
    const first = texts(await call(coder, 'recv_message', read));
    expect(first[0]).toContain('"total_fetched":1,"marked_as_read":1');
    // The same call in another life gets the same messages; the next call gets none.
    expect(texts(await call(coder, 'recv_message', read))).toEqual(first);
    expect(texts(await call(coder, 'recv_message', read, 'turn/2/tool/0'))[0]).toContain('"total_fetched":0');
    const stranger = await root('stranger', 'eve');
    expect(texts(await call(stranger, 'send_message', message))[0]).toMatch(/no thread .* Use your own thread_id/);
    await ledger.close();
  });

  it('say after waiting in vain how long the process has been at it, so that patience does not look like a loop', async () => {
    const { ledger, service, call, root } = given();
    const lead = await root('lead', 'ann');
    for (const [name, input] of [
      ['poll_assistant', { process_id: lead.run, wait_ms: 20 }],
      ['recv_message', { thread_id: lead.thread, wait_ms: 20 }],
    ] as const) {
      const [answer, note] = texts(await call(lead, name, input));
      expect(answer).toMatch(/^\{/);
      expect(note, name).toMatch(/^Nothing new in \d+\.\d s\. The process started \d+\.\d s ago\.$/);
    }
    await got(service.send(client('ann'), writing(lead, 'lead', 'here'), quietly));
    expect(texts(await call(lead, 'poll_assistant', { process_id: lead.run, wait_ms: 20 }))).toHaveLength(1);
    await ledger.close();
  });
});
