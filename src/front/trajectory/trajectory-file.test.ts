/** Documents of ATIF, each held against the format as its specification has it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answered, anyEvents, eventList, ROOT, SESSION, started } from '../../../test/support/event-list.ts';
import { allIn, type Trajectory, trajectoryIn } from '../../../test/support/trajectories.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { userText } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { trajectoryFile } from './trajectory-file.ts';

type Reading = Pick<Ledger, 'read'>;
type List = ReturnType<typeof eventList>;
type AnswerParts = Payloads['model.response']['message']['content'];

const holding = (events: readonly LedgerEvent[]): Reading => ({
  read: async ({ run, types, after = 0, limit = 1_000 }) =>
    events
      .filter((one) => one.position > after && (run ?? one.run_id) === one.run_id && (types?.includes(one.event_type) ?? true))
      .slice(0, limit),
});

async function documentOf(events: readonly LedgerEvent[], run?: RunId): Promise<Trajectory> {
  let text = '';
  for await (const piece of trajectoryFile(holding(events), { session: SESSION, run, version: '1.2.3' })) text += piece;
  return trajectoryIn(text);
}

const [CHILD, OTHER] = ['run_child1' as RunId, 'run_child2' as RunId];
const USAGE = { inputTokens: 900, cacheReadTokens: 300, cacheWriteTokens: 20, outputTokens: 40, reasoningTokens: 8 };

function setUp(list: List, system = 'You are careful.', run: RunId = ROOT): void {
  const tools = [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, replay: 'safe' as const }];
  list.add('session.config', { agent: 'helper', definition: {}, system, tools }, { run });
}

function says(list: List, content: AnswerParts, more: Partial<Payloads['model.response']> = {}, run: RunId = ROOT): void {
  const served = { requested: 'a/b', served: 'a/b', attempts: 1, durationMs: 300, finish: 'tool-calls' } as const;
  list.add('model.response', { turn: 1, message: { role: 'assistant', content }, usage: USAGE, ...served, ...more }, { run });
}

const call = (id: string, name: string, input: object = {}): AnswerParts[number] => ({
  ...{ type: 'tool-call', id, name, input: input as { readonly [key: string]: string } },
});

const given = (id: string, name: string, text: string): Payloads['tool.result'] => ({
  ...{ id, name, content: [{ type: 'text', text }], durationMs: 5 },
});

function ends(list: List, more: Partial<Payloads['run.ended']> = {}, run: RunId = ROOT): void {
  const report = { format: 'text', body: 'Done.' } as const;
  const end = { status: 'completed', finalAgent: 'helper', verification: { state: 'unchecked' }, report } as const;
  list.add('run.ended', { ...end, ...more }, { run });
}

describe('one agent', () => {
  it('has its prompt first, then what it was asked, and each answer with what its calls came to', async () => {
    const list = eventList();
    list.add('session.started', { workspace: '/w' });
    started(list, 'helper');
    setUp(list);
    list.add('model.request', { turn: 1, model: 'a/b', added: [{ step: 'input' }] });
    says(
      list,
      [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'I look.' },
        call('c1', 'read', { path: 'a' }),
        call('c1', 'read', { path: 'b' }),
        { type: 'tool-call', id: 'c2', name: 'nothing', input: {}, malformed: '{"path' },
      ],
      { cost: { nanoUsd: 20_000_000, prices: 'x' }, requested: 'a/c', attempts: 2 },
    );
    list.add('approval.answered', { wait: 'w', answer: { kind: 'approved' }, by: 'ann' }, { step: 'turn/1/tool/0/approval' });
    list.add('tool.call', { turn: 1, id: 'c1', name: 'read', replay: 'safe', input: { path: 'c' } }, { step: 'turn/1/tool/0' });
    list.add('tool.result', { ...given('c1', 'read', 'A'), isError: true, wholeBytes: 9_000 }, { step: 'turn/1/tool/0' });
    list.add('tool.result', given('c1', 'read', 'B'), { step: 'turn/1/tool/1' });
    const away = { type: 'tool-result' as const, id: 'c2', name: 'nothing', isError: true, turnedAway: true as const };
    const told = { message: { role: 'tool' as const, content: [{ ...away, content: [{ type: 'text' as const, text: 'no' }] }] } };
    list.add('model.request', { turn: 2, model: 'a/b', added: [told, { message: userText('Last turn.') }] });
    says(list, [{ type: 'text', text: 'Done.' }], { finish: 'length', turn: 2, usage: {} });
    ends(list);
    const all = await documentOf(list.events);
    expect(all.agent).toMatchObject({
      name: 'helper',
      version: '1.2.3',
      model_name: 'a/b',
      tool_definitions: [{ type: 'function' }],
    });
    expect(all.steps.map(({ source, message }) => [source, message])).toEqual([
      ['system', 'You are careful.'],
      ['user', 'do it, helper'],
      ['agent', 'I look.'],
      ['system', 'Last turn.'],
      ['agent', 'Done.'],
    ]);
    const [, , first, , last] = all.steps;
    expect(first).toMatchObject({
      ...{ reasoning_content: 'Hm.', model_name: 'a/b', llm_call_count: 1 },
      tool_calls: [
        { tool_call_id: 'c1', function_name: 'read', arguments: { path: 'a' }, extra: { called_with: { path: 'c' } } },
        { tool_call_id: 'c1#2', arguments: { path: 'b' } },
        { tool_call_id: 'c2', arguments: {}, extra: { malformed: '{"path' } },
      ],
      observation: {
        results: [
          {
            ...{ source_call_id: 'c1', content: 'A' },
            extra: { is_error: true, whole_bytes: 9_000, permission: { answer: 'approved', by: 'ann' } },
          },
          { source_call_id: 'c1#2', content: 'B' },
          { source_call_id: 'c2', content: 'no', extra: { is_error: true } },
        ],
      },
      metrics: {
        ...{ prompt_tokens: 900, completion_tokens: 40, cached_tokens: 300, cost_usd: 0.02 },
        extra: { reasoning_tokens: 8, cache_creation_input_tokens: 20 },
      },
      extra: { event: `${SESSION}.5`, attempts: 2, requested_model: 'a/c', prices: 'x' },
    });
    expect(last).toMatchObject({ extra: { finish: 'length' } });
    expect(last).not.toHaveProperty('metrics');
    expect(all.final_metrics).toMatchObject({
      ...{
        total_prompt_tokens: 900,
        total_completion_tokens: 40,
        total_cached_tokens: 300,
        total_cost_usd: 0.02,
        total_steps: 5,
      },
      extra: { model_calls: 2, calls_without_price: 1, calls_not_counted: 1 },
    });
    expect(all.extra).toMatchObject({ runs: [{ run: ROOT, status: 'completed', verification: 'unchecked' }] });
  });

  it('has pictures by their address, or with them in it; what the format does not know is named', async () => {
    const list = eventList();
    const image = (mediaType: string, data: string) => ({ type: 'image' as const, mediaType, data });
    const content = [image('image/png', 'AAAA'), image('image/webp', 'https://example.org/x.webp'), image('image/tiff', 'BBBB')];
    started(list, 'helper', { input: { role: 'user', content: [{ type: 'text', text: 'Look:' }, ...content] } });
    const all = await documentOf(list.events);
    expect(all.steps[0]?.message).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image', source: { media_type: 'image/png', path: 'data:image/png;base64,AAAA' } },
      { type: 'image', source: { media_type: 'image/webp', path: 'https://example.org/x.webp' } },
      { type: 'text', text: '[image: image/tiff]' },
    ]);
  });

  it('says where it was condensed, and what was left of it', async () => {
    const list = eventList();
    started(list, 'helper');
    const left = [{ is: 'request' as const }, { is: 'summary' as const }, { message: userText('Kept.') }];
    list.add('task.summary', { turn: 9, text: 'So far: nothing.', left, unsent: 0, goesOn: true });
    const [, condensed] = (await documentOf(list.events)).steps;
    expect(condensed).toMatchObject({
      source: 'system',
      observation: { results: [{ content: 'do it, helper' }, { content: 'So far: nothing.' }, { content: 'Kept.' }] },
      extra: { context_management: { type: 'compaction', boundary: 'replace' } },
    });
  });

  it('has a failure as a step of the system, with what it cost in the sums; what is undone is marked', async () => {
    const list = eventList();
    started(list, 'helper');
    const failed = { turn: 1, model: 'a/b', attempt: 1, error: { kind: 'overloaded' as const, message: 'busy' } };
    list.add('model.failed', { ...failed, final: false, usage: { inputTokens: 5 }, cost: { nanoUsd: 3_000, prices: 'x' } });
    list.add('model.failed', { ...failed, final: true });
    ends(list, { status: 'failed', report: { format: 'text', body: 'Nobody answered.', synthetic: true } });
    list.add('run.reopened', { undone: [3, 4], budget: { calls: 3 } });
    const all = await documentOf(list.events);
    expect(all.steps.map(({ source, message, extra }) => [source, message, extra?.['undone']])).toEqual([
      ['user', 'do it, helper', undefined],
      ['system', 'The model gave no answer (overloaded): busy', true],
      ['system', 'Nobody answered.', true],
      ['system', 'The run goes on: at most 3 model calls.', undefined],
    ]);
    expect(all.final_metrics).toMatchObject({ total_cost_usd: 0.000003, total_prompt_tokens: 5 });
  });

  it('takes what an executor says that it does step by step, and does not say how many calls of models that took', async () => {
    const list = eventList();
    started(list, 'helper');
    list.add('executor.call', { id: 'x1', title: 'Run the tests', kind: 'execute', input: { command: 'npm test' } });
    list.add('executor.call', { id: 'x2', title: 'Think' });
    list.add('executor.result', { id: 'x1', status: 'failed', output: '1 failed' });
    says(list, [{ type: 'text', text: 'One fails.' }], { finish: 'stop' });
    const [, first, second, answer] = (await documentOf(list.events)).steps;
    expect(first).toMatchObject({
      tool_calls: [{ tool_call_id: 'x1', function_name: 'execute', arguments: { command: 'npm test' } }],
      observation: { results: [{ source_call_id: 'x1', content: '1 failed', extra: { is_error: true } }] },
    });
    expect(second).toMatchObject({ tool_calls: [{ function_name: 'other', arguments: {}, extra: { title: 'Think' } }] });
    expect(second).not.toHaveProperty('observation');
    expect(answer).toMatchObject({ message: 'One fails.' });
    for (const step of [first, second, answer]) expect(step).not.toHaveProperty('llm_call_count');
  });
});

describe('several', () => {
  function family(): List {
    const list = eventList();
    started(list, 'lead');
    says(list, [call('c1', 'helper', { prompt: 'Look.' })], { cost: { nanoUsd: 1_000, prices: 'x' } });
    list.add('tool.call', { turn: 1, id: 'c1', name: 'helper', replay: 'safe' }, { step: 'turn/1/tool/0' });
    started(list, 'helper', { origin: { kind: 'call', parent: ROOT }, depth: 1 }, { run: CHILD, cause: 3 });
    answered(list, 1, { text: 'Seen.', nanoUsd: 2_000 }, { run: CHILD });
    ends(list, {}, CHILD);
    list.add('tool.result', given('c1', 'helper', 'Seen.'), { step: 'turn/1/tool/0' });
    return list;
  }

  it('stand in one document, each where it was called; sums are of each, and of all', async () => {
    const list = family();
    const reason = { kind: 'pattern', parent: ROOT, role: 'handoff' } as const;
    started(list, 'writer', { origin: reason, depth: 1 }, { run: OTHER });
    answered(list, 1, { text: 'Dear Rosa.', nanoUsd: 4_000 }, { run: OTHER });
    ends(list, { finalAgent: 'writer' }, OTHER);
    ends(list, { finalAgent: 'writer', finalRun: OTHER, report: { format: 'text', body: 'Dear Rosa.' } });
    const all = await documentOf(list.events);
    const [, asks, hands, last] = all.steps;
    const ref = [
      { trajectory_id: CHILD, session_id: SESSION, extra: { agent: 'helper', role: 'sub-agent', status: 'completed' } },
    ];
    expect(asks?.observation?.results).toMatchObject([{ source_call_id: 'c1', content: 'Seen.', subagent_trajectory_ref: ref }]);
    expect(hands).toMatchObject({ source: 'agent', message: 'writer begins as handoff.', llm_call_count: 0 });
    expect(hands?.observation?.results).toMatchObject([{ subagent_trajectory_ref: [{ trajectory_id: OTHER }] }]);
    expect(last).toMatchObject({ message: 'Dear Rosa.', llm_call_count: 0, extra: { final_agent: 'writer' } });
    expect(all.subagent_trajectories?.map(({ agent, final_metrics: sums }) => [agent.name, sums?.total_cost_usd])).toEqual([
      ['helper', 0.000002],
      ['writer', 0.000004],
    ]);
    expect(all.final_metrics).toMatchObject({
      total_cost_usd: 0.000001,
      extra: { with_subagents: { total_cost_usd: 0.000007 } },
    });
    // One run of a session is a document of its own.
    expect(await documentOf(list.events, CHILD)).toMatchObject({ trajectory_id: CHILD, steps: [{ step_id: 1 }, { step_id: 2 }] });
  });

  it('a call that was cut off still says whom it had begun', async () => {
    const all = await documentOf(family().events.slice(0, -1));
    expect(all.steps.at(-1)?.observation?.results).toMatchObject([
      { source_call_id: 'c1', subagent_trajectory_ref: [{ trajectory_id: CHILD }] },
    ]);
  });

  it('who goes on with a conversation stands in the same trajectory; other conversations have their own', async () => {
    const list = family();
    ends(list);
    started(list, 'lead', { continues: ROOT, input: userText('And now?') }, { run: OTHER });
    answered(list, 1, { text: 'Nothing more.' }, { run: OTHER });
    const one = await documentOf(list.events);
    expect(one.steps.map(({ message }) => message)).toEqual(['do it, lead', '', 'And now?', 'Nothing more.']);
    started(list, 'clerk', {}, { run: 'run_third' as RunId });
    const three = await documentOf(list.events);
    expect(three).toMatchObject({ trajectory_id: SESSION, agent: { name: 'troupe' } });
    expect(three.steps.map(({ source, message }) => `${source}: ${String(message)}`)).toEqual([
      ...['user: do it, lead', 'agent: lead begins.', 'user: And now?', 'agent: lead begins.'],
      ...['user: do it, clerk', 'agent: clerk begins.'],
    ]);
    expect(three.subagent_trajectories?.map(({ trajectory_id: id }) => id)).toEqual([ROOT, 'run_third']);
  });

  it('hear what others said as they heard it', async () => {
    const list = eventList();
    started(list, 'lead');
    const said = { type: 'update', memberId: 'ann', message: 'It burns.', turnCount: 1, timestamp: '2026-01-02' } as const;
    list.add('team.broadcast', { team: 't', cycle: 1, ...said }, { run: CHILD, step: 'turn/1/broadcast' });
    const to = { assistant: 'lead', run: ROOT };
    const words = { message: 'm', thread: 't', from: to, to, content: 'Hurry.', fence: 'f' };
    list.add('message.sent', { ...words, person: { by: 'bob', where: 'terminal' } }, { step: 'message/m' });
    const added = [
      { step: 'turn/1/broadcast', run: CHILD },
      { step: 'message/m', run: ROOT },
      { step: 'gone', run: CHILD },
    ];
    list.add('model.request', { turn: 2, model: 'a/b', added });
    const [, heard, told] = (await documentOf(list.events)).steps;
    expect(heard).toMatchObject({ source: 'system', message: expect.stringContaining('It burns.') });
    expect(told).toMatchObject({ source: 'user', message: expect.stringContaining('Hurry.') });
  });

  it('what a fork began with is marked as copied, and costs nothing here', async () => {
    const list = eventList();
    list.add('session.started', { workspace: '/w', forked: { session: 'ses_a', run: 'run_a', event: 'ses_a.3' } });
    started(list, 'helper');
    says(list, [{ type: 'text', text: 'Then.' }], { forked: true, cost: { nanoUsd: 9_000, prices: 'x' } });
    list.add('run.reopened', { undone: [], forked: { session: 'ses_a', run: 'run_a', event: 'ses_a.3' } });
    says(list, [{ type: 'text', text: 'Now.' }], { cost: { nanoUsd: 1_000, prices: 'x' } });
    const all = await documentOf(list.events);
    expect(all.steps.map((one) => [one.is_copied_context, one.metrics?.cost_usd])).toEqual([
      [true, undefined],
      [true, undefined],
      [undefined, undefined],
      [undefined, 0.000001],
    ]);
    expect(all).toMatchObject({ final_metrics: { total_cost_usd: 0.000001 }, extra: { forked_from: { session: 'ses_a' } } });
  });
});

it('any session is a document of the format, with every run in it once', async () => {
  await fc.assert(
    fc.asyncProperty(anyEvents, async (events) => {
      const runs = new Set(events.flatMap((one) => (one.event_type === 'run.started' ? [one.run_id] : [])));
      if (runs.size === 0) return;
      const all = allIn(await documentOf(events));
      const named = all.flatMap(({ extra }) => (extra?.['runs'] ?? []) as readonly { readonly run: string }[]);
      expect(named.map(({ run }) => run).toSorted()).toEqual([...runs].toSorted());
    }),
    { numRuns: 100 },
  );
});

it('a page is written before the next one is read, however long a session is', async () => {
  const turns = 3_000;
  const list = eventList();
  started(list, 'helper');
  for (let turn = 1; turn <= turns; turn += 1) says(list, [{ type: 'text', text: `Turn ${turn}.` }], { turn });
  const whole = holding(list.events);
  let [reads, pieces, largest] = [0, 0, 0];
  const counted: Reading = {
    read: async (query) => {
      if (query.run !== undefined && query.limit === limits.readPageEvents) reads += 1;
      return await whole.read(query);
    },
  };
  for await (const piece of trajectoryFile(counted, { session: SESSION, version: '1' })) {
    if (piece.includes('"step_id"')) pieces += 1;
    expect(reads).toBeLessThanOrEqual(pieces + 1);
    largest = Math.max(largest, piece.length);
  }
  expect(reads).toBeGreaterThan(turns / limits.readPageEvents);
  expect(largest).toBeLessThan(limits.readPageEvents * 600);
});
