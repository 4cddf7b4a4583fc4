/** Pieces and events come by different ways: neither may take away what the other has brought. */
import { expect, it } from 'vitest';
import { answered, eventList, ROOT, SESSION, started } from '../../../test/support/event-list.ts';
import type { RunId } from '../../base/ids.ts';
import type { LivePiece } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { createLiveWords } from './live-words.ts';

const CHILD = 'run_child1' as RunId;

const piece = (text: string, changes: Partial<LivePiece> = {}): LivePiece => ({
  ...{ session: SESSION, run: ROOT, agent: 'helper', turn: 1, attempt: 1, terminal: true, offset: 0 },
  delta: { type: 'text', text },
  ...changes,
});

const asks = (turn: number, run = ROOT): LedgerEvent =>
  eventList().add('model.request', { turn, model: 'test/model', added: [] }, { run });

const answers = (turn: number, run = ROOT): LedgerEvent => answered(eventList(), turn, {}, { run });

it('keeps the first words when the request is seen after them', () => {
  const words = createLiveWords();
  words.piece(piece('The first '));
  words.event(asks(1));
  words.piece(piece('words'));
  expect(words.text()).toBe('The first words');
  words.event(answers(1));
  expect(words.text()).toBe('');
});

it('keeps the words of the next turn when the answer before is seen after them', () => {
  const words = createLiveWords();
  words.piece(piece('Looking.'));
  words.piece(piece('Found ', { turn: 2 }));
  words.event(answers(1));
  words.event(asks(2));
  words.piece(piece('it.', { turn: 2 }));
  expect(words.text()).toBe('Found it.');
});

it('forgets what was said in a turn before, and in an attempt that broke off', () => {
  const words = createLiveWords();
  words.piece(piece('Half'));
  words.event(asks(2));
  expect(words.text()).toBe('');
  words.piece(piece('Broken', { turn: 2 }));
  words.piece(piece('Whole', { turn: 2, attempt: 2 }));
  expect(words.text()).toBe('Whole');
});

it('counts what others write by the same rule', () => {
  const words = createLiveWords();
  const child = { run: CHILD, terminal: false };
  words.piece(piece('12345', child));
  words.event(asks(1, CHILD));
  words.piece(piece('678', child));
  expect(words.writing.get(CHILD)).toBe(8);
  words.piece(piece('12', { ...child, turn: 2 }));
  words.event(answers(1, CHILD));
  expect(words.writing.get(CHILD)).toBe(2);
  words.event(answers(2, CHILD));
  expect(words.writing.has(CHILD)).toBe(false);
});

it('has nothing left of a run that has ended', () => {
  const words = createLiveWords();
  words.piece(piece('Half'));
  const list = eventList();
  started(list, 'helper');
  const report = { format: 'text', body: 'x' } as const;
  words.event(list.add('run.ended', { status: 'cancelled', report, finalAgent: 'helper', verification: { state: 'unchecked' } }));
  expect(words.text()).toBe('');
});
