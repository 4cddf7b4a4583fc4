/** Transcripts as the real programs wrote them: what becomes of their records, and that the sums are those of the programs. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { testFolder } from '../../test/support/ledger/sqlite-folder.ts';
import { allIn, costOfSteps, trajectoryIn } from '../../test/support/trajectories.ts';
import {
  claudeFixture,
  codexFixture,
  importWorld,
  opencodeFixture,
  payloads,
  totalsOf,
  writtenLines,
} from '../../test/support/transcripts/fixtures.ts';
import { trajectoryFile } from '../front/trajectory/trajectory-file.ts';
import { foldRunTree, initialRunTree } from '../projections/run-tree.ts';
import { createTranscripts } from '../projections/transcript.ts';

it('of Claude Code: one answer for its lines, the sub-agent below its call, and what it says that it cost', async () => {
  const world = importWorld();
  const { session, counts } = await world.take(claudeFixture());
  const events = await world.events(session);
  expect(counts).toEqual({ runs: 3, answers: 7, results: 5, records: expect.any(Number) });
  // The last `cost-state` of the transcript says the same.
  expect(totalsOf(events)).toMatchObject({ inputTokens: 7_028, outputTokens: 378, cacheReadTokens: 1_400, nanoUsd: 22_974_000 });
  expect(payloads(events, 'model.response').every(({ cost }) => cost?.estimated === true)).toBe(true);
  expect(payloads(events, 'session.started')).toMatchObject([
    { workspace: '/project', imported: { program: 'claude-code', version: '2.1.312' } },
  ]);
  const tree = events.reduce(foldRunTree, initialRunTree());
  const nodes = [...tree.runs.values()].map(({ agent, state, verification }) => [agent, state, verification?.state]);
  expect(nodes).toEqual([
    ['claude-code', 'completed', 'unchecked'],
    ['general-purpose', 'completed', 'unchecked'],
    ['claude-code', 'completed', 'unchecked'],
  ]);
  expect(tree.roots).toHaveLength(2);
  expect(payloads(events, 'run.ended').map(({ finalAgent, turns }) => [finalAgent, turns])).toEqual([
    ['general-purpose', 2],
    ['claude-code', 4],
    ['claude-code', 1],
  ]);
  const [first] = payloads(events, 'model.response');
  expect(first?.message.content.map(({ type }) => type)).toEqual(['text', 'tool-call', 'tool-call']);
  expect(
    payloads(events, 'file.diff').map(({ path, before, addedLines, removedLines }) => [
      path,
      before !== null,
      addedLines,
      removedLines,
    ]),
  ).toEqual([
    ['a.txt', false, 2, 0],
    ['a.txt', true, 1, 1],
  ]);
  expect(payloads(events, 'tool.result').filter(({ isError }) => isError)).toMatchObject([
    { content: [{ text: expect.stringContaining('Exit code 3') }] },
  ]);
  const [setup] = payloads(events, 'session.config');
  expect(setup?.system).toBe('You are an agent.');
});

it.each([
  ['Claude Code', claudeFixture],
  ['Codex', codexFixture],
  ['opencode', opencodeFixture],
])('what %s has said and done goes out as a trajectory, with the same sums', async (program, fixture) => {
  const world = importWorld();
  const { session } = await world.take(fixture());
  let text = '';
  for await (const piece of trajectoryFile(world.ledger, { session, version: '1' })) text += piece;
  const all = allIn(trajectoryIn(text));
  const { inputTokens, outputTokens, nanoUsd } = totalsOf(await world.events(session));
  const sum = (of: 'total_prompt_tokens' | 'total_completion_tokens'): number =>
    all.reduce((total, { final_metrics: metrics }) => total + (metrics?.[of] ?? 0), 0);
  expect([sum('total_prompt_tokens'), sum('total_completion_tokens')]).toEqual([inputTokens, outputTokens]);
  expect(costOfSteps(all)).toBe(nanoUsd);
  const [first] = all.filter(({ extra }) => extra?.['runs'] !== undefined);
  expect(first).toMatchObject({ agent: { version: expect.stringMatching(/^\d/) }, extra: { transcript_of: program } });
});

it('of Codex: an answer took what the sum has grown by, and the sum of all is its last', async () => {
  const world = importWorld();
  const { session, counts } = await world.take(codexFixture());
  const events = await world.events(session);
  expect(counts).toMatchObject({ runs: 2, answers: 4, results: 2 });
  expect(totalsOf(events)).toMatchObject({ inputTokens: 4_010, outputTokens: 210, cacheReadTokens: 800, unknownCalls: 4 });
  expect(payloads(events, 'model.response').map(({ usage, requested }) => [usage.inputTokens, requested])).toEqual([
    [1_001, 'here/gpt-5'],
    [1_002, 'here/gpt-5'],
    [1_003, 'here/gpt-5'],
    [1_004, 'here/gpt-5'],
  ]);
  expect(payloads(events, 'run.started').map(({ input }) => input.content)).toEqual([
    [{ type: 'text', text: 'Do the main thing' }],
    [{ type: 'text', text: 'Once more' }],
  ]);
  expect(
    payloads(events, 'run.ended').map(({ status, report, verification }) => [status, report.body, verification.state]),
  ).toEqual([
    ['completed', 'All is done.', 'unchecked'],
    ['completed', 'All is done.', 'unchecked'],
  ]);
  expect(payloads(events, 'tool.result').map(({ isError }) => isError)).toEqual([true, undefined]);
  expect(payloads(events, 'file.diff')).toMatchObject([{ path: 'b.txt', before: null, addedLines: 1 }]);
});

it('of opencode: each answer with what it cost by its own word', async () => {
  const world = importWorld();
  const path = opencodeFixture();
  const { session, counts } = await world.take(path);
  const events = await world.events(session);
  expect(counts).toMatchObject({ runs: 2, answers: 4, results: 3 });
  const database = new DatabaseSync(path, { readOnly: true });
  const own = database.prepare('SELECT cost, tokens_input, tokens_output, tokens_cache_read FROM session').get();
  database.close();
  expect(own).toMatchObject({ cost: 0.013092, tokens_input: 3_214, tokens_output: 214, tokens_cache_read: 800 });
  expect(totalsOf(events)).toMatchObject({
    nanoUsd: 13_092_000,
    inputTokens: 3_214 + 800,
    outputTokens: 214,
    cacheReadTokens: 800,
  });
  expect(payloads(events, 'tool.result').map(({ name, isError }) => [name, isError])).toEqual([
    ['write', undefined],
    ['edit', undefined],
    ['bash', true],
  ]);
  expect(payloads(events, 'file.diff')).toMatchObject([{ path: 'a.txt', before: null, addedLines: 2 }]);
});

it('each stands in the ledger as a conversation does: a sound chain, times of its own, every call with a result', async () => {
  const world = importWorld();
  for (const path of [claudeFixture(), codexFixture(), opencodeFixture()]) {
    const { session, events: count } = await world.take(path);
    const events = await world.events(session);
    expect(events).toHaveLength(count);
    expect(events.at(-1)?.event_type).toBe('transcript.imported');
    expect(events.slice(0, -1).every(({ timestamp }) => timestamp.startsWith('2026-11-18T20:25'))).toBe(true);
    const transcripts = createTranscripts();
    for (const event of events) transcripts.apply(event);
    const last = events.findLast(({ event_type }) => event_type === 'run.started');
    const messages = transcripts.of(last?.run_id ?? '');
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'All is done.' }] });
    const called = messages.flatMap(({ role, content }) =>
      role === 'assistant' ? content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])) : [],
    );
    const given = messages.flatMap(({ role, content }) => (role === 'tool' ? content.map(({ id }) => id) : []));
    expect(given).toEqual(called);
    expect(called.length).toBeGreaterThan(1);
  }
  expect(await world.ledger.verify()).toMatchObject({ kind: 'sound', sessions: 3 });
});

it('of earlier versions of Claude Code: what sub-agents did stands between the lines, below their calls', async () => {
  const world = importWorld();
  const line = (type: string, uuid: string, parentUuid: string | null, message: object, more: object = {}) => ({
    ...{ type, uuid, parentUuid, isSidechain: false, sessionId: 'old', version: '1.0.60', cwd: '/project' },
    ...{ timestamp: '2025-08-01T10:00:00.000Z', message: { role: type, ...message }, ...more },
  });
  const model = 'claude-sonnet-4-20250514';
  const called = [{ type: 'tool_use', id: 't1', name: 'Task', input: { prompt: 'Look around' } }];
  const given = [{ type: 'tool_result', tool_use_id: 't1', content: 'Seen.' }];
  const says = (id: string, text: string) => ({ id, model, content: [{ type: 'text', text }], stop_reason: 'end_turn' });
  const side = { isSidechain: true };
  const error = { model: '<synthetic>', content: [{ type: 'text', text: 'API Error: 529' }] };
  const { session } = await world.take(
    writtenLines(join(testFolder(), 'old.jsonl'), [
      line('user', 'u1', null, { content: 'Main' }),
      line('assistant', 'a1', 'u1', { id: 'm1', model, content: called, usage: { input_tokens: 4, output_tokens: 2 } }),
      line('user', 's1', null, { content: 'Look around' }, side),
      line('assistant', 's2', 's1', { ...says('m2', 'Seen.'), usage: { input_tokens: 10, output_tokens: 5 } }, side),
      line('user', 'u2', 'a1', { content: given }),
      line('assistant', 'a2', 'u2', { ...says('m3', 'Done.'), usage: { input_tokens: 20, output_tokens: 6 } }),
      line('user', 'c1', 'a2', { content: 'It was so.' }, { isCompactSummary: true }),
      line('user', 'u3', 'c1', { content: 'Next' }),
      line('assistant', 'e1', 'u3', error, { isApiErrorMessage: true }),
      line('user', 'u4', 'e1', { content: 'Again' }),
      line('user', 'u5', 'u4', { content: [{ type: 'text', text: '[Request interrupted by user]' }] }),
    ]),
  );
  const events = await world.events(session);
  const ended = events.flatMap(({ event_type, payload }) =>
    event_type === 'run.ended' ? [[payload.finalAgent, payload.status, payload.report.body]] : [],
  );
  expect(ended).toEqual([
    ['sub-agent', 'completed', 'Seen.'],
    ['claude-code', 'completed', 'Done.'],
    ['claude-code', 'failed', ''],
    ['claude-code', 'cancelled', ''],
  ]);
  const types = events.map(({ event_type }) => event_type);
  expect(types.indexOf('run.ended')).toBeLessThan(types.indexOf('tool.result'));
  expect(payloads(events, 'task.summary')).toMatchObject([{ text: 'It was so.' }]);
  expect(totalsOf(events)).toMatchObject({ inputTokens: 34, outputTokens: 13 });
});
