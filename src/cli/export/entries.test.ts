/** What an export says of events. */
import { expect, it } from 'vitest';
import { eventList } from '../../../test/support/event-list.ts';
import { limits } from '../../base/limits.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { userText } from '../../events/messages.ts';
import { createEntries } from './entries.ts';

it('an answer has its price, its calls and what it thought; bookkeeping is no entry; a picture is named', () => {
  const list = eventList();
  list.add('run.started', {
    agent: 'helper',
    input: {
      role: 'user',
      content: [
        { type: 'text', text: 'Go.' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      ],
    },
    origin: { kind: 'person' },
    depth: 0,
  });
  list.add('model.response', {
    turn: 1,
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: '' },
        { type: 'tool-call', id: 'a', name: 'read', input: {}, malformed: '{"path"' },
      ],
    },
    finish: 'tool-calls',
    usage: { inputTokens: 900, outputTokens: 40 },
    requested: 'a/b',
    served: 'a/b',
    attempts: 1,
    cost: { nanoUsd: 20_000_000, prices: 'x' },
    durationMs: 300,
  });
  list.add('budget.reserved', { scopes: [], amounts: { calls: 1, tokens: 1 } });
  list.add('model.request', { turn: 2, model: 'a/b', added: [{ step: 'x' }, { message: userText('Answer now.') }] });
  list.add('tool.result', { id: 'a', name: 'read', content: [], isError: true, durationMs: 5, wholeBytes: 70_000 });
  const entryOf = createEntries();
  const entries = list.events.map(entryOf);
  expect(
    entries.map((entry) => entry && [entry.agent, entry.title, ...entry.blocks.map(({ label = '', text }) => label + text)]),
  ).toEqual([
    ['helper', 'is asked', 'Go.', '[image: image/png]'],
    ['helper', 'turn 1 · a/b · 900 in, 40 out · $0.02 · 300ms', 'thinksHm.', 'calls read, not in JSON{"path"'],
    undefined,
    ['helper', 'is told by the runtime', 'Answer now.'],
    ['helper', 'error of read · 5ms · the agent saw a part of 70000 bytes'],
  ]);
});

it('a text that is too long ends with how much is missing', () => {
  const list = eventList();
  const text = 'x'.repeat(limits.exportTextCharacters + 3);
  list.add('tool.result', { id: 'a', name: 'read', content: [{ type: 'text', text }], durationMs: 5 });
  const said = list.events.map(createEntries())[0]?.blocks[0]?.text ?? '';
  expect(said.slice(limits.exportTextCharacters)).toBe(
    '\n… 3 more characters (limit exportTextCharacters); --format jsonl has all of them',
  );
});

it('an answer of a person says who gave it and for how long it holds; what was said last is not said again at the end', () => {
  const list = eventList();
  const by = 'ann@desk';
  list.add('approval.answered', { wait: 'a', answer: { kind: 'approved', whole: true }, by });
  list.add('approval.answered', { wait: 'b', answer: { kind: 'approved', remember: true, scope: 'project', whole: true }, by });
  list.add('approval.answered', { wait: 'c', answer: { kind: 'approved', input: { command: 'ls' } }, by });
  list.add('approval.answered', { wait: 'd', answer: { kind: 'denied', note: 'Not today.' }, by });
  list.add('approval.answered', { wait: 'e', answer: { kind: 'text', text: 'Blue.' } });
  list.add('approval.answered', { wait: 'f', answer: { kind: 'expired' } });
  const end = (body: string): Payloads['run.ended'] => ({
    ...{ status: 'completed', finalAgent: 'a', turns: 1, verification: { state: 'unchecked' }, report: { format: 'text', body } },
  });
  list.add('model.response', {
    ...{ turn: 1, finish: 'stop', usage: {}, requested: 'a/b', served: 'a/b', attempts: 1, durationMs: 300 },
    message: { role: 'assistant', content: [{ type: 'text', text: 'It is done.' }] },
  });
  list.add('run.ended', end('It is done.'));
  list.add('run.ended', end('Something else.'));
  const entries = list.events.map(createEntries());
  expect(entries.map((entry) => entry && [entry.title, ...entry.blocks.map(({ text }) => text)])).toEqual([
    ['approved by ann@desk'],
    ['approved by ann@desk, always in this project'],
    ['approved by ann@desk, with another input than was asked for', '{\n  "command": "ls"\n}'],
    ['denied by ann@desk', 'Not today.'],
    ['answered', 'Blue.'],
    ['nobody answered in time'],
    [expect.stringContaining('turn 1'), 'It is done.'],
    ['ended: completed'],
    ['ended: completed', 'Something else.'],
  ]);
});
