/** A window that is made narrower and wider faster than the program hears of it, as under tmux: nothing is left behind. */
import { expect, it } from 'vitest';
import { answered, eventList, ROOT, started, startedAt } from '../../../test/support/event-list.ts';
import { handClock } from '../../../test/support/hand-clock.ts';
import { createTerminalScreen } from '../../../test/support/terminal/screen.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { ok } from '../../base/result.ts';
import type { PermissionWait } from '../../engine/port.ts';
import { foldRunTree, initialRunTree } from '../../projections/run-tree.ts';
import { askPerson } from '../drive/ask-person.ts';
import { createScreen } from '../terminal/terminal.ts';
import { textWidth } from '../terminal/text-width.ts';
import { createLiveTree } from './live-tree.ts';
import type { TypedLine } from './run-view.ts';

const ROWS = 24;

/** A terminal that breaks every line anew at once, and a program that hears of it when it is told. */
function lateTerminal(columns: number, rows = ROWS) {
  const emulator = createTerminalScreen(columns, rows, true);
  let written = Promise.resolve();
  let told = columns;
  const listeners = new Set<() => void>();
  const write = (text: string): void => {
    written = written.then(() => emulator.write(text.replaceAll('\n', '\r\n')));
  };
  const output = {
    write,
    isTTY: true,
    rows,
    get columns() {
      return told;
    },
    on: (_event: 'resize', callback: () => void) => listeners.add(callback),
    off: (_event: 'resize', callback: () => void) => listeners.delete(callback),
  };
  return {
    screen: createScreen(output, false),
    async resize(wide: number) {
      await written;
      emulator.resize(wide, rows);
    },
    tell(wide: number) {
      told = wide;
      for (const listener of listeners) listener();
    },
    async inSight() {
      await written;
      return emulator.inSight();
    },
    async lines() {
      await written;
      return emulator.lines();
    },
  };
}

function team() {
  const list = eventList();
  started(list, 'lead', {}, { at: 0 });
  list.add('model.request', { turn: 1, model: 'test/model', added: [] }, { at: 1 });
  answered(list, 1, { tokens: [1_200, 34], nanoUsd: 12_000_000 }, { at: 2 });
  list.add('tool.call', { turn: 1, id: 'a', name: 'shell', replay: 'never' }, { at: 3 });
  return list.events;
}

const ABOVE = Array.from({ length: 8 }, (_none, index) => `what was there before, line ${index + 1}`);
const QUESTION: TypedLine = { prompt: '  allow? yes, always, edit, no (or no and why): ', text: 'no', cursor: 2 };

it.each([
  ['a tree', undefined],
  ['a question below it', QUESTION],
])('%s is there once, and what was above it too', async (_what, typed) => {
  const terminal = lateTerminal(100);
  const clock = { ...handClock(), now: () => startedAt(0) };
  terminal.screen.write(ABOVE.map((line) => `${line}\n`).join(''));
  const view = createLiveTree({ screen: terminal.screen, clock, root: ROOT, call: 'troupe' });
  const tree = initialRunTree();
  for (const event of team()) view.event(event, foldRunTree(tree, event));
  if (typed !== undefined) view.typing(typed);
  clock.advance(2_000);
  const before = await terminal.lines();
  // It is told of the first width when the window has another one already, and of the last one late.
  await terminal.resize(90);
  terminal.tell(90);
  await terminal.resize(40);
  clock.advance(100);
  await terminal.resize(110);
  terminal.tell(40);
  clock.advance(200);
  view.say(['somebody has answered']);
  await terminal.resize(100);
  terminal.tell(100);
  clock.advance(limits.resizeSettlesMs);
  expect(await terminal.lines()).toEqual([...ABOVE, 'somebody has answered', ...before.slice(8)]);
  // One that stays narrower is drawn anew, too.
  await terminal.resize(45);
  terminal.tell(45);
  clock.advance(limits.resizeSettlesMs);
  const narrow = await terminal.lines();
  expect(narrow.slice(0, 9)).toEqual([...ABOVE, 'somebody has answered']);
  expect(narrow).toHaveLength(before.length + 1);
});

it.each([24, 40, 60])('what is typed in wide letters stays in its row at %i columns, and all above it stays', async (columns) => {
  const terminal = lateTerminal(columns);
  const view = createLiveTree({ screen: terminal.screen, clock: handClock(), root: ROOT, call: 'troupe' });
  const above = ABOVE.map((line) => line.slice(0, columns));
  view.say(above);
  const text = 'no,\t漢字 is not my language: e\u0301 漢字かな交じりの文章を書く';
  const letters = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  for (let count = 0; count <= letters.length; count += 1) {
    const typed = letters.slice(0, count).join('');
    view.typing({ ...QUESTION, text: typed, cursor: typed.length });
    const lines = await terminal.lines();
    expect(lines.slice(0, -1)).toEqual(above);
    const newest = letters
      .slice(Math.max(0, count - 3), count)
      .join('')
      .replace(/\s/g, '');
    expect(lines.at(-1)?.replaceAll(' ', '').endsWith(newest)).toBe(true);
  }
  // In the middle of it: what is behind the cursor is seen as far as there is room.
  view.typing({ ...QUESTION, text, cursor: 4 });
  expect(await terminal.lines()).toEqual([...above, expect.stringMatching(/no, {2}漢/)]);
});

it.each([
  [40, 10],
  [80, 24],
])('a question stays in sight below which a tall tree is drawn, at %i columns and %i rows', async (columns, rows) => {
  const terminal = lateTerminal(columns, rows);
  const clock = handClock();
  const view = createLiveTree({ screen: terminal.screen, clock, root: ROOT, call: 'troupe' });
  const list = eventList();
  started(list, 'lead');
  for (let child = 0; child < 30; child += 1)
    started(list, `w${child}`, { origin: { kind: 'pattern', parent: ROOT, role: 'advisor' } }, { run: `run_w${child}` as RunId });
  const tree = list.events.reduce(foldRunTree, initialRunTree());
  const [first] = list.events;
  if (first === undefined) throw new Error('no events');
  view.event(first, tree);
  clock.advance(1_000);
  const question = `Which of the two?\n${'A sentence that has no room in one row of a narrow window. '.repeat(2)}`;
  const wait = { run: ROOT, agent: 'w', wait: 'w', question, askedAt: '', kind: 'question', choices: ['one', 'two'] } as const;
  let seen: readonly string[] = [];
  const desk = {
    say: (...lines: readonly string[]) => view.say(lines),
    put: (...lines: readonly string[]) => view.say(lines, 'asks'),
    ask: async (prompt: TypedLine['prompt'], put: { readonly about?: () => readonly string[] } = {}) => {
      // Something happens before the question is there to be answered.
      view.event(first, tree);
      clock.advance(1_000);
      view.typing({ prompt, text: '', cursor: 0, about: put.about });
      seen = await terminal.inSight();
      return undefined;
    },
    edit: async () => undefined,
  };
  await askPerson(desk, terminal.screen, wait, async () => undefined);
  const text = seen.join(' ').replace(/\s+/g, ' ');
  expect(text).toContain(`? w: ${question.trim().replaceAll('\n', ' ')} 1. one 2. two`);
  expect(seen.filter((row) => row !== '').at(-1)).toBe('  answer:');
});

it.each([24, 30, 40, 45, 60, 80])('a question shows every choice at %i columns', async (columns) => {
  const terminal = lateTerminal(columns);
  const view = createLiveTree({ screen: terminal.screen, clock: handClock(), root: ROOT, call: 'troupe' });
  const input = { command: 'touch a' };
  const asked = { run: ROOT, agent: 'w', wait: 'turn/1/tool/0/approval', question: '', askedAt: '' };
  const wait: PermissionWait = {
    ...asked,
    kind: 'permission',
    tool: 'shell',
    input,
    missing: 0,
    request: 'w wants to use shell in a sentence of some length that is never broken by the terminal itself',
  };
  const seen: string[] = [];
  /** Edits the call, then leaves: both questions have been put by then. */
  const desk = {
    say: (...lines: readonly string[]) => view.say(lines),
    put: (...lines: readonly string[]) => {
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
      view.say(lines, 'asks');
    },
    ask: async (prompt: TypedLine['prompt']) => {
      view.typing({ prompt, text: '', cursor: 0 });
      seen.push((await terminal.lines()).at(-1) ?? '');
      return seen.length === 1 ? 'e' : undefined;
    },
    edit: async () => ok('touch b'),
  };
  await askPerson(desk, terminal.screen, wait, async () => undefined);
  expect(seen).toEqual([
    expect.stringMatching(/y(?:es)?, ?a(?:lways)?, ?e(?:dit)?, ?n(?:o\b)?:?/),
    expect.stringMatching(/y(?:es)?, ?e(?:dit)?, ?n(?:o\b)?/),
  ]);
});
