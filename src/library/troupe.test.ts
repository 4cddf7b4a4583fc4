/** What a program sees of its runs: the outcome, the events, the text, what it is asked, and what an abort leaves behind. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { defineAgent } from '../agents/definition/define-agent.ts';
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { ReplyInput } from '../models/scripted/script-file.ts';
import { createTemporaryProject, type TemporaryProjectOptions } from '../testing/temporary-project.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { RunOutcome } from './run-outcome.ts';
import { createTroupe, run } from './troupe.ts';

const sold: string[] = [];
const stock = defineTool({
  name: 'stock',
  description: 'How many of an article are left.',
  input: z.object({ article: z.string() }),
  readOnly: true,
  run: ({ article }) => `7 of ${article}`,
});
const sell = defineTool({
  name: 'sell',
  description: 'Sells one.',
  input: z.object({ article: z.string() }),
  run: ({ article }) => {
    sold.push(article);
    return `sold a ${article}`;
  },
});
const clerk = defineAgent({ name: 'clerk', prompt: 'You know the shop.', tools: ['stock', 'sell', 'ask'] });
const speaker = defineAgent({ name: 'speaker', prompt: 'You speak.' });

const looks: ReplyInput = { toolCalls: [{ name: 'stock', input: { article: 'lamp' } }] };
const sells: ReplyInput = { toolCalls: [{ name: 'sell', input: { article: 'lamp' } }] };
const asks: ReplyInput = { toolCalls: [{ name: 'ask', input: { question: 'Which one?', choices: ['red', 'blue'] } }] };
const reports: ReplyInput = { finalReport: 'The shop says: {{lastToolResult}}' };

const shop = (replies: TemporaryProjectOptions['replies']) =>
  createTemporaryProject({ replies, agents: [clerk, speaker], tools: [stock, sell] });

const bodyOf = (outcome: RunOutcome): string => ('report' in outcome ? outcome.report.body : outcome.status);

describe('a run', () => {
  it('has a result with a report, what it is worth, what it used and what it cost', async () => {
    await using project = await shop([looks, reports]);
    const outcome = await project.troupe.run('clerk', 'How many lamps?');
    expect(outcome).toMatchObject({
      status: 'completed',
      agent: 'clerk',
      finalAgent: 'clerk',
      report: { body: 'The shop says: 7 of lamp' },
      verification: { state: 'unchecked' },
      usage: { modelCalls: 2, toolCalls: 1, runs: 1, inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      cost: { usd: 0, nanoUsd: 0, unknownCalls: 0 },
    });
    expect(outcome.usage.inputTokens).toBeGreaterThan(100);
    const row = await project.troupe.ledger.runs({ run: outcome.run });
    expect(row).toMatchObject([{ session: outcome.session, state: 'completed' }]);
  });

  it('that fails says why, and does not reject', async () => {
    await using project = await shop([looks]);
    const outcome = await project.troupe.run('clerk', 'How many lamps?');
    expect(outcome).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('no reply for turn 2') } });
    expect(project.model.unexpected).toHaveLength(1);
  });

  it('that cannot start rejects with what to do about it', async () => {
    await using project = await shop([]);
    await expect(project.troupe.run('nobody', 'x')).rejects.toMatchObject({ code: 'no_agent', fix: expect.any(String) });
    const workspace = join(project.folder, 'none');
    await expect(project.troupe.run('clerk', 'x', { workspace })).rejects.toMatchObject({ code: 'usage' });
  });

  it('goes on in its session, and works in the folder it is given', async () => {
    await using project = await shop((request) => ({ text: `${request.messages.length} messages` }));
    const workspace = join(project.folder, 'desk');
    await mkdir(workspace);
    const first = await project.troupe.run('speaker', 'Hello.', { workspace });
    const second = await project.troupe.run('speaker', 'Once more.', { session: first.session });
    expect([bodyOf(first), bodyOf(second)]).toEqual(['1 messages', '3 messages']);
    const [started] = await project.troupe.ledger.read({ session: first.session, types: ['session.started'] });
    expect(started?.payload).toMatchObject({ workspace });
  });

  it('keeps to its budget', async () => {
    await using project = await shop([looks, looks, looks, reports]);
    const outcome = await project.troupe.run('clerk', 'How many lamps?', { budget: { calls: 2 } });
    expect(outcome).toMatchObject({ status: 'budget_exhausted', usage: { modelCalls: 2 } });
  });
});

describe('a program that watches', () => {
  it('sees every event once and in order', async () => {
    await using project = await shop([looks, reports]);
    const seen: number[] = [];
    const { session } = await project.troupe.run('clerk', 'How many lamps?', { onEvent: ({ position }) => seen.push(position) });
    const all = await project.troupe.ledger.read({ session });
    expect(seen).toEqual(all.map(({ position }) => position));
    expect(all.at(-1)?.event_type).toBe('run.ended');
  });

  it('hears an answer piece by piece', async () => {
    const text = 'A long answer that does not come in one piece.';
    await using project = await shop([{ text }]);
    const pieces: string[] = [];
    await project.troupe.run('speaker', 'Speak.', { onText: (piece, { agent }) => pieces.push(`${agent}: ${piece}`) });
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('').replaceAll('speaker: ', '')).toBe(text);
  });

  it('hears a report that comes whole as the last piece, and only what is said in its own run', async () => {
    await using project = await shop({
      agents: { clerk: [{ ...looks, text: 'I will look.' }, reports], speaker: [{ text: 'Psst.' }] },
    });
    const pieces: string[] = [];
    const heard = project.troupe.run('clerk', 'How many lamps?', { onText: (piece) => pieces.push(piece) });
    await Promise.all([heard, project.troupe.run('speaker', 'Speak.', { onText: () => undefined })]);
    expect(pieces).toEqual(['I will look.', 'The shop says: 7 of lamp']);
  });

  it.each(['onEvent', 'onText'] as const)('whose %s throws gets its error back, and the run can go on', async (callback) => {
    await using project = await shop([{ ...looks, text: 'I will look.' }, reports]);
    const broken = {
      [callback]: () => {
        throw new Error('broken screen');
      },
    };
    await expect(project.troupe.run('clerk', 'How many lamps?', broken)).rejects.toThrow('broken screen');
    const [row] = await project.troupe.ledger.runs({ roots: true });
    expect(row?.owner).toBeNull();
    const outcome = await project.troupe.resume(row?.run as RunId);
    expect(outcome).toMatchObject({ status: 'completed', usage: { modelCalls: 2, toolCalls: 1 } });
  });
});

const endless: unknown[] = [];
endless.push(endless);
describe('a program that is asked', () => {
  it('decides about each call by what it is', async () => {
    sold.length = 0;
    await using project = await shop([sells, sells, reports]);
    const asked: unknown[] = [];
    const outcome = await project.troupe.run('clerk', 'Sell two lamps.', {
      approve: ({ agent, tool, input }) => asked.push({ agent, tool, input }) === 1,
    });
    expect(asked).toEqual(Array.from({ length: 2 }, () => ({ agent: 'clerk', tool: 'sell', input: { article: 'lamp' } })));
    expect(sold).toEqual(['lamp']);
    expect(outcome.status).toBe('completed');
  });

  it('sees all of a call, also what a question has no room for', async () => {
    sold.length = 0;
    const article = 'lamp '.repeat(limits.requestCharacters);
    await using project = await shop([{ toolCalls: [{ name: 'sell', input: { article } }] }, reports]);
    const outcome = await project.troupe.run('clerk', 'Sell it.', {
      approve: ({ input }) => isDeepStrictEqual(input, { article }),
    });
    expect(outcome.status).toBe('completed');
    expect(sold).toEqual([article]);
  });

  it('can say always, and why not', async () => {
    sold.length = 0;
    await using project = await shop([sells, sells, reports]);
    let asked = 0;
    const always = () => {
      asked += 1;
      return 'always' as const;
    };
    await project.troupe.run('clerk', 'Sell two lamps.', { approve: always });
    expect({ asked, sold }).toEqual({ asked: 1, sold: ['lamp', 'lamp'] });
    const denied = await project.troupe.run('clerk', 'One more.', { approve: async () => ({ deny: 'the shop is closed' }) });
    expect(bodyOf(denied)).toContain('the shop is closed');
  });

  it('can have a call made with something else', async () => {
    sold.length = 0;
    await using project = await shop([sells, reports]);
    const outcome = await project.troupe.run('clerk', 'Sell one.', { approve: () => ({ input: { article: 'chair' } }) });
    expect(sold).toEqual(['chair']);
    expect(bodyOf(outcome)).toContain('The user changed this call before it was made');
    const answers = await project.troupe.ledger.read({ session: outcome.session, types: ['approval.answered'] });
    expect(answers).toMatchObject([
      { payload: { answer: { kind: 'approved', input: { article: 'chair' } }, where: 'library', by: expect.any(String) } },
    ]);
  });

  it.each([
    ['no JSON', () => ({ input: { article: () => 'chair' } })],
    ['endless', () => ({ input: endless })],
  ])('has nothing made of an input that is %s', async (_name, approve) => {
    sold.length = 0;
    await using project = await shop([sells, reports]);
    const given = project.troupe.run('clerk', 'Sell one.', { approve: approve as unknown as () => true });
    await expect(given).rejects.toThrow('is no answer.');
    expect(sold).toEqual([]);
  });

  it('answers questions', async () => {
    await using project = await shop([asks, reports]);
    const outcome = await project.troupe.run('clerk', 'Sell one.', { answer: ({ choices }) => choices?.[1] });
    expect(bodyOf(outcome)).toBe('The shop says: blue');
  });

  it('and does not answer is told what the run waits for, and goes on later', async () => {
    sold.length = 0;
    await using project = await shop([sells, asks, reports]);
    const waiting = await project.troupe.run('clerk', 'Sell one.', { approve: () => undefined });
    expect(waiting).toMatchObject({
      status: 'waiting',
      waits: [{ kind: 'permission', agent: 'clerk', tool: 'sell', input: { article: 'lamp' } }],
    });
    const next = await project.troupe.resume(waiting.run, { approve: () => true });
    expect(next).toMatchObject({
      status: 'waiting',
      waits: [{ kind: 'question', question: 'Which one?', choices: ['red', 'blue'] }],
    });
    const ended = await project.troupe.resume(waiting.run, { answer: () => 'green' });
    expect(bodyOf(ended)).toBe('The shop says: green');
    expect(ended.usage).toMatchObject({ modelCalls: 3, toolCalls: 2 });
    expect(sold).toEqual(['lamp']);
    expect(await project.troupe.resume(waiting.run)).toEqual(ended);
  });

  it('and throws gets its error back; the run waits on', async () => {
    await using project = await shop([sells, reports]);
    const approve = () => Promise.reject(new Error('nobody there'));
    await expect(project.troupe.run('clerk', 'Sell one.', { approve })).rejects.toThrow('nobody there');
    const [row] = await project.troupe.ledger.runs({ roots: true });
    expect((await project.troupe.resume(row?.run as RunId, { approve: () => true })).status).toBe('completed');
  });
});

describe('going on', () => {
  it('with a run that is not there, or that somebody else drives, is refused with what to do; one’s own is joined', async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<string>();
    const blocking = defineTool({
      ...{ name: 'block', description: 'Blocks.', input: z.object({}), readOnly: true, timeoutMs: 20_000 },
      run: () => {
        asked.resolve();
        return answered.promise;
      },
    });
    await using project = await temporaryProject({ 'replies.yaml': '[{ toolCalls: [{ name: block }] }, { text: Done. }]' });
    const agents = [defineAgent({ name: 'blocked', prompt: 'You wait.', tools: ['block'] })];
    const options = {
      root: project.root,
      env: { HOME: project.root },
      model: 'scripted:replies.yaml',
      agents,
      tools: [blocking],
    };
    await using troupe = await createTroupe(options);
    await expect(troupe.resume('run_nobody' as RunId)).rejects.toMatchObject({ code: 'unknown_run', fix: expect.any(String) });
    const running = troupe.run('blocked', 'Go.');
    await asked.promise;
    const [row] = await troupe.ledger.runs({ roots: true });
    const other = await createTroupe(options);
    const refused = await other.resume(row?.run as RunId).catch((error: unknown) => error);
    await other.close();
    const joined = troupe.resume(row?.run as RunId);
    answered.resolve('at last');
    expect(refused).toMatchObject({ code: 'held', fix: expect.any(String) });
    expect(bodyOf(await running)).toBe('Done.');
    expect(await joined).toEqual(await running);
  });

  it('that has ended for good is told again where its model cannot be asked', async () => {
    await using project = await shop([{ text: 'Well.' }]);
    const { run: id } = await project.troupe.run('speaker', 'Speak.');
    await using other = await createTroupe({ root: project.folder, env: { HOME: project.folder } });
    expect(await other.resume(id)).toMatchObject({ status: 'completed', report: { body: 'Well.' } });
  });

  it('below another one is told of as the run at the top, with all that was used', async () => {
    const lead = defineAgent({ name: 'lead', prompt: 'You lead.', handoff: 'speaker' });
    await using project = await createTemporaryProject({ agents: [lead, speaker], replies: () => ({ text: 'Well.' }) });
    const outcome = await project.troupe.run('lead', 'Speak.');
    const child = (await project.troupe.ledger.runs({})).find(({ parent }) => parent !== null);
    expect(child?.agent).toBe('speaker');
    expect(await project.troupe.resume(child?.run ?? '')).toEqual(outcome);
  });

  it('after the project was closed and opened again is going on where it was', async () => {
    await using project = await temporaryProject({
      'agents/asker.md': '---\ntools: [ask]\n---\nx',
      'replies.yaml': '[{ toolCalls: [{ name: ask, input: { question: Which? } }] }, { text: "So: {{lastToolResult}}" }]',
    });
    const options = { root: project.root, env: { HOME: project.root }, model: 'scripted:replies.yaml' };
    const waiting = await run('asker', 'Ask.', options);
    expect(waiting).toMatchObject({ status: 'waiting', waits: [{ question: 'Which?' }] });
    await using troupe = await createTroupe(options);
    const outcome = await troupe.resume(waiting.run, { answer: () => 'this one' });
    expect(outcome).toMatchObject({ status: 'completed', report: { body: 'So: this one' }, usage: { modelCalls: 2 } });
  });
});

describe('an abort', () => {
  const HOUR_MS = 3_600_000;
  const slow: ReplyInput = { ...looks, delayMs: HOUR_MS };

  it('cancels the run for good, also in the middle of a call', async () => {
    await using project = await shop([slow, reports]);
    const stop = new AbortController();
    const outcome = await project.troupe.run('clerk', 'How many lamps?', {
      signal: stop.signal,
      onEvent: ({ event_type: type }) => void (type === 'model.request' && stop.abort()),
    });
    expect(outcome).toMatchObject({ status: 'cancelled', report: { synthetic: true } });
    expect((await project.troupe.resume(outcome.run)).status).toBe('cancelled');
  });

  it('leaves a run that can be resumed, where it is asked to', async () => {
    const stop = new AbortController();
    // Is under way until the pause is in the ledger.
    const slowly = defineTool({
      name: 'slowly',
      description: 'Takes its time.',
      input: z.object({}),
      replay: 'safe',
      run: async (_input, { run: id }) => {
        stop.abort();
        const { ledger } = project.troupe;
        const [row] = await ledger.runs({ run: id });
        await expect
          .poll(async () => row && (await ledger.read({ session: row.session, types: ['run.signalled'] })))
          .toHaveLength(1);
        return 'done';
      },
    });
    const agents = [defineAgent({ name: 'worker', prompt: 'You work.', tools: ['slowly'] })];
    await using project = await createTemporaryProject({
      replies: [{ toolCalls: [{ name: 'slowly' }] }, reports],
      agents,
      tools: [slowly],
    });
    const outcome = await project.troupe.run('worker', 'Work.', { signal: stop.signal, whenAborted: 'pause' });
    expect(outcome).toMatchObject({ status: 'paused', reason: 'the program aborted it', usage: { modelCalls: 1, toolCalls: 1 } });
    const ended = await project.troupe.resume(outcome.run);
    expect(ended).toMatchObject({ status: 'completed', usage: { modelCalls: 2, toolCalls: 1 } });
  });

  it('does not wait for a callback that never answers', async () => {
    await using project = await shop([sells, reports]);
    const stop = new AbortController();
    const approve = () => {
      stop.abort();
      return Promise.withResolvers<boolean>().promise;
    };
    expect((await project.troupe.run('clerk', 'Sell one.', { signal: stop.signal, approve })).status).toBe('cancelled');
  });

  it('before the beginning starts nothing', async () => {
    await using project = await shop([]);
    const signal = AbortSignal.abort(new Error('never mind'));
    await expect(project.troupe.run('clerk', 'Sell one.', { signal })).rejects.toThrow('never mind');
    expect(await project.troupe.ledger.runs({})).toEqual([]);
  });
});

describe('opening a project', () => {
  const files = {
    'troupe.yaml': 'model: scripted:settings.yaml\n',
    'agents/plain.md': '---\n---\nx',
    'agents/choosy.md': '---\nmodel: scripted:own.yaml\n---\nx',
    'settings.yaml': '- { text: by the settings }\n',
    'own.yaml': '- { text: by its own }\n',
    'given.yaml': '- { text: by the program }\n',
  };
  const said = async (root: string, agent: string, models: { model?: string; modelForAll?: string }): Promise<string> =>
    bodyOf(await run(agent, 'Speak.', { root, env: { HOME: root }, ...models }));

  it('with a model gives it to the agents that name none', async () => {
    await using project = await temporaryProject(files);
    const model = 'scripted:given.yaml';
    expect(await said(project.root, 'plain', {})).toBe('by the settings');
    expect(await said(project.root, 'plain', { model })).toBe('by the program');
    expect(await said(project.root, 'choosy', { model })).toBe('by its own');
  });

  it('with a model for all gives it to all', async () => {
    await using project = await temporaryProject(files);
    expect(await said(project.root, 'choosy', { modelForAll: 'scripted:given.yaml' })).toBe('by the program');
    const both = { model: 'scripted:own.yaml', modelForAll: 'scripted:given.yaml' };
    expect(await said(project.root, 'plain', both)).toBe('by the program');
  });

  it('closes once, and is closed at the end of a scope', async () => {
    await using project = await temporaryProject(files);
    const troupe = await createTroupe({ root: project.root, env: { HOME: project.root } });
    await Promise.all([troupe.close(), troupe.close(), troupe[Symbol.asyncDispose]()]);
    expect(await readdir(project.root)).not.toContain('.troupe');
  });
});
