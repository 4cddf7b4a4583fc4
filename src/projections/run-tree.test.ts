import { describe, expect, it } from 'vitest';
import { answered, eventList, ROOT, started, startedAt } from '../../test/support/event-list.ts';
import type { RunId } from '../base/ids.ts';
import type { Payloads } from '../events/catalogue.ts';
import { activityOf, foldRunTree, initialRunTree, type RunNode, subtree, subtreeSpending } from './run-tree.ts';

const CHILD = 'run_child1' as RunId;

function nodeAfter(list: ReturnType<typeof eventList>, run: RunId = ROOT): RunNode {
  const node = list.events.reduce(foldRunTree, initialRunTree()).runs.get(run);
  if (node === undefined) throw new Error('the run is not there');
  return node;
}

describe('what a run is doing', () => {
  it('asks a model, tries again, and has asked', () => {
    const list = eventList();
    started(list, 'fixer');
    list.add('model.request', { turn: 2, model: 'test/model', added: [] }, { at: 10 });
    expect(activityOf(nodeAfter(list), startedAt(13))).toEqual({ kind: 'asking', model: 'test/model', forMs: 3_000, attempt: 1 });
    const error = { kind: 'overloaded', message: 'busy' } as const;
    list.add('model.failed', { turn: 2, model: 'test/model', attempt: 1, error, final: false });
    expect(activityOf(nodeAfter(list), startedAt(13))).toMatchObject({ attempt: 2 });
    list.add('model.failed', { turn: 2, model: 'test/model', attempt: 2, error, final: false, nextInMs: 3_600_000 });
    expect(activityOf(nodeAfter(list), startedAt(14))).toMatchObject({ kind: 'outage', model: 'test/model', attempt: 3 });
    expect(activityOf(nodeAfter(list), startedAt(14) + 7_200_000)).toMatchObject({ kind: 'asking', attempt: 3 });
    answered(list, 2);
    expect(activityOf(nodeAfter(list), startedAt(13))).toEqual({ kind: 'working' });
    expect(nodeAfter(list).turn).toBe(2);
  });

  it('runs several tools at once, until each has answered', () => {
    const list = eventList();
    started(list, 'fixer');
    for (const id of ['a', 'b']) list.add('tool.call', { turn: 1, id, name: `tool-${id}`, replay: 'safe' }, { at: 20 });
    expect(activityOf(nodeAfter(list), startedAt(21))).toEqual({ kind: 'tools', names: ['tool-a', 'tool-b'], forMs: 1_000 });
    list.add('tool.result', { id: 'a', name: 'tool-a', content: [], durationMs: 1 });
    expect(nodeAfter(list)).toMatchObject({ toolCalls: 1, tools: [{ id: 'b' }] });
  });

  it('has the calls of a turn in the order in which they were asked for, whichever of them began first', () => {
    const list = eventList();
    started(list, 'fixer');
    const call = (id: string) => ({ type: 'tool-call', id, name: 'read', input: { path: `${id}.js` } }) as const;
    const usage = { inputTokens: 1, outputTokens: 1 };
    const said = { finish: 'tool-calls', usage, requested: 'a', served: 'a', attempts: 1, durationMs: 1 } as const;
    for (const turn of [1, 2]) {
      list.add('model.response', { ...said, turn, message: { role: 'assistant', content: ['a', 'b', 'c'].map(call) } });
      for (const id of ['c', 'a', 'b']) list.add('tool.call', { turn, id, name: 'read', replay: 'safe' });
      for (const id of ['b', 'c', 'a']) list.add('tool.result', { id, name: 'read', content: [], durationMs: turn });
    }
    const { recent } = nodeAfter(list);
    expect(recent.map(({ turn, subject }) => `${turn} ${subject}`)).toEqual(
      [1, 2].flatMap((turn) => ['a', 'b', 'c'].map((id) => `${turn} ${id}.js`)),
    );
    expect(recent.map(({ position }) => position)).toEqual(recent.map(({ position }) => position).toSorted((l, r) => l - r));
    expect(new Set(recent.map(({ event }) => event)).size).toBe(6);
    expect(recent.map(({ durationMs }) => durationMs)).toEqual([1, 1, 1, 2, 2, 2]);
  });

  it('waits on a person, and goes on with the answer', () => {
    const list = eventList();
    started(list, 'fixer');
    list.add('task.clarify', { wait: 'w', question: 'Which?' });
    expect(nodeAfter(list)).toMatchObject({ state: 'waiting', waits: ['w'] });
    expect(activityOf(nodeAfter(list), 0)).toEqual({ kind: 'waiting' });
    list.add('approval.answered', { wait: 'w', answer: { kind: 'text', text: 'This' } });
    expect(nodeAfter(list)).toMatchObject({ state: 'running', waits: [] });
  });

  it('forgets what was under way in a process that died', () => {
    const list = eventList();
    started(list, 'fixer');
    list.add('tool.call', { turn: 1, id: 'a', name: 'shell', replay: 'never' });
    list.add('run.resumed', { owner: 'other', takenOver: true });
    expect(nodeAfter(list)).toMatchObject({ state: 'running', tools: [], asking: null });
  });

  it('has a line for a call that was turned away before anything was recorded of it', () => {
    const list = eventList();
    started(list, 'fixer');
    list.add('model.request', { turn: 1, model: 'm', added: [] });
    const content = ['a', 'b'].map((id) => ({ type: 'tool-call', id, name: id, input: { path: `${id}.txt` } }) as const);
    list.add('model.response', {
      ...{ turn: 1, message: { role: 'assistant', content }, finish: 'tool-calls', usage: {}, requested: 'm', served: 'm' },
      ...{ attempts: 1, durationMs: 1 },
    });
    list.add('tool.call', { turn: 1, id: 'b', name: 'b', replay: 'safe' });
    list.add('tool.result', { id: 'b', name: 'b', content: [], durationMs: 5 });
    const told = {
      type: 'tool-result',
      id: 'a',
      name: 'a',
      content: [{ type: 'text', text: 'Not run.' }],
      isError: true,
    } as const;
    const away = { message: { role: 'tool', content: [{ ...told, turnedAway: true }] } } as const;
    const ending = { message: { role: 'tool', content: [{ ...told, id: 'r', name: 'final_report' }] } } as const;
    list.add('model.request', { turn: 2, model: 'm', added: [away, ending] } as unknown as Payloads['model.request']);
    expect(nodeAfter(list).recent).toMatchObject([
      { name: 'a', subject: 'a.txt', notRun: true, failed: true, turn: 1 },
      { name: 'b', notRun: false },
    ]);
  });

  it('never shows time running backwards', () => {
    const list = eventList();
    started(list, 'fixer');
    list.add('model.request', { turn: 1, model: 'test/model', added: [] }, { at: 100 });
    expect(activityOf(nodeAfter(list), startedAt(50))).toMatchObject({ forMs: 0 });
  });
});

describe('the tree', () => {
  it('puts children below their parent and adds up what they spent', () => {
    const list = eventList();
    started(list, 'lead');
    started(
      list,
      'risk',
      { origin: { kind: 'pattern', parent: ROOT, role: 'advisor', reason: 'look for risks' } },
      { run: CHILD },
    );
    answered(list, 1, { nanoUsd: 5 });
    answered(list, 1, { nanoUsd: 7 }, { run: CHILD });
    const tree = list.events.reduce(foldRunTree, initialRunTree());
    expect(subtree(tree, ROOT).map((node) => node.agent)).toEqual(['lead', 'risk']);
    expect(subtreeSpending(tree, ROOT)).toMatchObject({ calls: 2, nanoUsd: 12, inputTokens: 200, unknownCalls: 0 });
    expect(tree.runs.get(CHILD)).toMatchObject({ parent: ROOT, role: 'advisor', reason: 'look for risks' });
  });

  it('counts a call without a known price as unknown, not as free', () => {
    const list = eventList();
    started(list, 'lead');
    answered(list, 1);
    expect(nodeAfter(list).spent).toMatchObject({ nanoUsd: 0, unknownCalls: 1 });
  });

  it('keeps the result, the error and whether it was verified', () => {
    const list = eventList();
    started(list, 'lead');
    const error = { code: 'x', message: 'it broke' };
    list.add('run.ended', {
      status: 'failed',
      report: { format: 'text', body: 'No.' },
      finalAgent: 'lead',
      error,
      verification: { state: 'unchecked' },
    });
    expect(nodeAfter(list)).toMatchObject({
      state: 'failed',
      verification: { state: 'unchecked' },
      error,
      report: { body: 'No.' },
    });
    expect(activityOf(nodeAfter(list), 0)).toEqual({ kind: 'ended' });
  });
});
