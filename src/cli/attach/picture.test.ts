/** The whole screen, drawn from what there is and how large the window is. */
import { stripVTControlCharacters } from 'node:util';
import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { eventList, ROOT, started } from '../../../test/support/event-list.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { OpenWait } from '../../engine/port.ts';
import { type InboxItem, inboxKey } from '../../front/inbox.ts';
import { foldRunTree, initialRunTree } from '../../projections/run-tree.ts';
import { textWidth } from '../terminal/text-width.ts';
import { typedDraft } from './draft.ts';
import { helpPages, layoutOf, OTHER_ROWS, type Picture, picture } from './picture.ts';
import { type AttachState, neighbour } from './state.ts';

const CHILDREN = ['run_child1', 'run_child2', 'run_child3', 'run_child4', 'run_child5', 'run_child6'] as RunId[];

function stateOf(
  changes: Partial<AttachState> = {},
  children = 2,
  more?: (list: ReturnType<typeof eventList>) => void,
): AttachState {
  const list = eventList();
  started(list, 'worker');
  for (const run of CHILDREN.slice(0, children))
    started(list, `helper\u001b[31m ${run.at(-1)}`, { origin: { kind: 'pattern', parent: ROOT, role: 'worker' } }, { run });
  more?.(list);
  const tree = initialRunTree();
  for (const event of list.events) foldRunTree(tree, event);
  return {
    ...{ tree, root: ROOT, selected: ROOT, back: 0, waits: [], inbox: [], call: './troupe', notice: undefined },
    body: Array.from({ length: 100 }, (_none, index) => `word ${index + 1}`),
    driver: { by: 'elsewhere', who: 'process 7 on desk\u001b[2J' },
    mode: { kind: 'looking' },
    ...changes,
  };
}

const wait: OpenWait = { kind: 'question', run: ROOT, agent: 'worker', wait: 'w', question: 'Which?', askedAt: '' };
const paint = picocolors.createColors(true);

function drawn(state: AttachState, width: number, height: number): Picture & { readonly text: string } {
  const made = picture(state, { width, height, now: 0, paint });
  expect(made.rows).toHaveLength(height);
  const plain = made.rows.map((row) => stripVTControlCharacters(row));
  for (const row of plain) expect(textWidth(row), row).toBeLessThanOrEqual(width);
  // What strangers are called must not move the cursor.
  expect(made.rows.join('')).not.toContain('\u001b[2J');
  return { ...made, text: plain.map((row) => row.trimEnd()).join('\n') };
}

const modes: readonly AttachState['mode'][] = [
  { kind: 'looking' },
  { kind: 'help', page: 0 },
  { kind: 'help', page: 9 },
  { kind: 'leaving' },
  { kind: 'inbox', marked: undefined },
  { kind: 'writing', draft: typedDraft('x'.repeat(300)) },
  {
    kind: 'asked',
    said: ['y'.repeat(1_000)],
    prompt: '  allow? yes, always, edit, no (or no and why): ',
    draft: typedDraft('yes'),
    back: 0,
  },
];

describe.each([
  [60, 15],
  [80, 24],
  [120, 30],
  [200, 50],
])('a window of %i by %i', (width, height) => {
  it.each(modes)('is filled and never overfull: $kind', (mode) => {
    for (const waits of [[], [wait, wait]])
      for (const notice of [undefined, 'n'.repeat(500)])
        for (const children of [0, 2, 6]) drawn(stateOf({ mode, waits, notice }, children), width, height);
  });

  it('shows who works on it, the tree, the last words, and the keys', () => {
    const { text, cursor } = drawn(stateOf({ waits: [wait] }), width, height);
    expect(text).toMatch(/^worker \w+ · 1 question for you · running, worked on by/);
    expect(text).toContain('▸ ● worker');
    expect(text).toContain('● helper 1');
    expect(text).toContain('word 100');
    expect(text).toContain('worker waits for you: i answers');
    expect(text).toMatch(/q leave · \? keys · i answer/);
    expect(cursor).toBeUndefined();
  });
});

it.each([
  [40, 10],
  [60, 15],
  [80, 24],
  [200, 50],
])('the help is whole in a window of %i by %i, on as many pages as it takes', (width, height) => {
  const pages = helpPages(width, height - OTHER_ROWS).map((_rows, page) =>
    drawn(stateOf({ mode: { kind: 'help', page } }), width, height).text.split('\n'),
  );
  const shown = pages
    .flatMap((rows) => rows.slice(2, -3))
    .join(' ')
    .replaceAll(/\s+/g, ' ');
  for (const said of ['Home, End: to their ends', 'of the marked run first', 'Enter answers, Esc comes back', 'fg comes back'])
    expect(shown).toContain(said);
  expect(shown).not.toContain('…');
  expect(pages.map((rows) => rows.at(-1))).toEqual([...pages.slice(1).map(() => 'any key the rest · Esc back'), 'any key back']);
  if (width >= 60) expect(pages).toHaveLength(1);
});

it('a run that nobody works on because it waits for an answer is waiting, and not to be taken up', () => {
  const waiting = drawn(stateOf({ waits: [wait], driver: { by: 'nobody' } }), 100, 12).text;
  expect(waiting).toMatch(/^worker \w+ · 1 question for you · waiting$/m);
  expect(waiting).not.toContain('take it up');
  const mode = { kind: 'asked', said: ['Which?'], prompt: '> ', draft: typedDraft(''), back: 0 } as const;
  expect(drawn(stateOf({ waits: [wait], driver: { by: 'nobody' }, mode }), 100, 12).text).not.toContain('takes it up');
  const cut = drawn(stateOf({ driver: { by: 'nobody' } }), 100, 12).text;
  expect(cut).toMatch(/^worker \w+ · interrupted: nobody works on it$/m);
  expect(cut).toContain('r take it up');
  // Nor does the tree say that it works.
  expect(cut).toMatch(/▸ ‖ worker {2}interrupted/);
  expect(cut).not.toMatch(/working|asking/);
});

it('says why a model has to be asked again: of the marked run, or else of the first that waits for that', () => {
  const [first = ROOT, second = ROOT] = CHILDREN;
  const fail = (list: ReturnType<typeof eventList>): void => {
    for (const [run, message] of [
      [first, 'test cannot be reached\u001b[2J'],
      [second, 'test is out of order'],
    ] as const) {
      list.add('model.request', { turn: 1, model: 'test/model', added: [] }, { run });
      const error = { kind: 'network', message } as const;
      list.add('model.failed', { turn: 1, model: 'test/model', attempt: 1, error, final: false, nextInMs: 40_000 }, { run });
    }
  };
  const shown = (changes: Partial<AttachState>): string => drawn(stateOf(changes, 2, fail), 100, 15).text;
  expect(shown({})).toMatch(/^helper 1: test cannot be reached$/m);
  expect(shown({ selected: second })).toMatch(/^helper 2: test is out of order$/m);
  expect(shown({ waits: [wait] })).toMatch(/^\? worker waits for you: i answers; helper 1: test cannot be reached$/m);
  // Whoever has stopped waits for nothing.
  expect(shown({ driver: { by: 'nobody' } })).not.toContain('cannot be reached');
  expect(drawn(stateOf(), 100, 15).text).not.toContain('helper 1:');
});

it('says what there is more of than the first question', () => {
  const asked = (count: number) => drawn(stateOf({ waits: Array.from({ length: count }, () => wait) }), 100, 12).text;
  expect(asked(1)).toContain('? worker waits for you: i answers');
  expect(asked(2)).toContain('? worker waits for you, and 1 more question: i answers');
  expect(asked(3)).toContain(', and 2 more questions: i answers');
});

const itemIn = (root: RunId, question: string): InboxItem => ({
  ...{ wait: { ...wait, run: root, wait: question, question }, session: 'ses_1' as SessionId, root },
  ...{ path: ['lead', 'worker'], ageMs: 60_000 },
});

it('says how many questions of other runs are open, and the way to them', () => {
  const inbox = [itemIn(ROOT, 'Which?'), itemIn('run_other1' as RunId, 'One?'), itemIn('run_other2' as RunId, 'Two?')];
  const told = (changes: Partial<AttachState>): string => drawn(stateOf({ inbox, ...changes }), 100, 12).text;
  expect(told({})).toContain('\n2 questions in other runs: o shows all\n');
  expect(told({ waits: [wait] })).toContain('? worker waits for you: i answers; 2 questions in other runs: o shows all');
  expect(told({ inbox: inbox.slice(0, 1) })).not.toMatch(/other runs|inbox/);
});

it('shows the inbox with what is marked in sight, the oldest once that is gone', () => {
  const inbox = Array.from({ length: 30 }, (_none, index) => itemIn(`run_other${index}` as RunId, `Question ${index}?\u001b[2J`));
  const shown = (marked: string | undefined, items = inbox): string =>
    drawn(stateOf({ inbox: items, mode: { kind: 'inbox', marked } }), 60, 15).text;
  expect(shown(undefined)).toMatch(/^▸ 1m00s ago · lead › worker · \w+\n {4}Question 0\?/m);
  for (const [index, item] of inbox.entries())
    expect(shown(inboxKey(item))).toMatch(new RegExp(`^▸ .*\\n {4}Question ${index}\\?`, 'm'));
  expect(shown('gone')).toBe(shown(undefined));
  expect(shown(undefined, [])).toContain('nothing waits for you');
  expect(shown(undefined)).toContain('Enter answer · Esc back · ↑↓ mark');
});

it('has the tree above the words, and beside them where there is room', () => {
  const narrow = drawn(stateOf(), 80, 12).text.split('\n');
  expect(narrow.slice(2, 6)).toEqual([
    expect.stringMatching(/^▸ ● worker/),
    expect.stringContaining('2 more runs: Tab'),
    '─'.repeat(80),
    'word 97',
  ]);
  const wide = drawn(stateOf(), 120, 12).text.split('\n');
  expect(wide[2]).toMatch(/^▸ ● worker .* │ word 94$/);
  expect(wide[4]).toMatch(/^ {4}● helper 2 .* │ word 96$/);
});

it('goes up as far as there is something, and marks whose words they are', () => {
  const { height } = layoutOf({ width: 80, height: 24 }, 3).body;
  expect(drawn(stateOf({ back: 100 - height }), 80, 24).text).toContain('word 1\n');
  expect(drawn(stateOf({ back: 500 }), 80, 24).text).toContain('word 1\n');
  const state = stateOf({}, 6);
  const visited = new Set<RunId>();
  for (let at = state; !visited.has(at.selected); at = { ...at, selected: neighbour(at, 1) }) {
    visited.add(at.selected);
    expect(drawn(at, 60, 15).text).toContain('▸');
  }
  expect([...visited]).toEqual([ROOT, ...CHILDREN]);
  expect(neighbour(state, -1)).toBe(CHILDREN[5]);
});

it('shows all of a request, row by row, and the cursor in what is typed', () => {
  const said = ['worker wants to use shell:', `  | ${'z'.repeat(100)}END`];
  const mode = { kind: 'asked', said, prompt: '  allow? ', draft: typedDraft('ye'), back: 0 } as const;
  const { text, cursor } = drawn(stateOf({ mode }), 60, 15);
  expect(text.replaceAll('\n', '')).toContain(`${'z'.repeat(100)}END`);
  expect(cursor).toEqual({ row: 13, column: 11 });
  expect(drawn(stateOf({ mode: { ...mode, prompt: undefined } }), 60, 15).cursor).toBeUndefined();
});

it.each([
  ['ended', { driver: { by: 'ended' } }, /q leave · \? keys · Tab next run/],
  [
    'nobody',
    { driver: { by: 'nobody' } },
    /interrupted: nobody works on it[\s\S]*r takes it up here\n\nq leave · \? keys · r take it up/,
  ],
  [
    'here',
    { driver: { by: 'here' }, mode: { kind: 'leaving' } },
    /worked on here[\s\S]*leaving stops it\. Leave\? y or n \(to go on: \.\/troupe resume \w+\)[\s\S]*y leave · n stay/,
  ],
] as const)('says what can be done: %s', (_name, changes, expected) => {
  expect(drawn(stateOf(changes), 100, 24).text).toMatch(expected);
});

it.each([
  [39, 24],
  [80, 9],
  [20, 2],
])('says of %i by %i that it is too small', (width, height) => {
  const made = picture(stateOf(), { width, height, now: 0, paint });
  expect(made.rows).toHaveLength(height);
  expect(made.rows[0]).toContain('too small');
});
