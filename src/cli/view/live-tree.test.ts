import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { answered, eventList, ROOT, SESSION, started, startedAt } from '../../../test/support/event-list.ts';
import { handClock } from '../../../test/support/hand-clock.ts';
import type { RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { foldRunTree, initialRunTree, type RunTree } from '../../projections/run-tree.ts';
import { createScreen } from '../terminal/terminal.ts';
import { textWidth } from '../terminal/text-width.ts';
import { createLiveTree, frameLines } from './live-tree.ts';
import { createPlainLines } from './plain-lines.ts';

const CHILD = 'run_child1' as RunId;
const paint = picocolors.createColors(false);
const fold = (events: readonly LedgerEvent[]): RunTree => events.reduce(foldRunTree, initialRunTree());

function team(): ReturnType<typeof eventList> {
  const list = eventList();
  started(list, 'lead', { budget: { usd: 0.5 } }, { at: 0 });
  list.add('model.request', { turn: 1, model: 'test/model', added: [] }, { at: 1 });
  answered(list, 1, { tokens: [1_200, 34], nanoUsd: 12_000_000 }, { at: 2 });
  list.add('tool.call', { turn: 1, id: 'a', name: 'shell', replay: 'never' }, { at: 3 });
  started(list, 'risk', { origin: { kind: 'pattern', parent: ROOT, role: 'advisor' } }, { run: CHILD, at: 3 });
  list.add(
    'approval.asked',
    { wait: 'w', tool: 'shell', input: { command: 'x' }, why: 'risk wants to use shell' },
    { run: CHILD, at: 4 },
  );
  return list;
}

const look = { now: startedAt(9), width: 80, height: 24, paint, text: '', call: './troupe' };

describe('frames of the live tree', () => {
  it('show who does what, since when, for how much', () => {
    expect(frameLines(fold(team().events), ROOT, look)).toMatchInlineSnapshot(`
      [
        "● lead  running shell 6s · turn 1 · 1.2k tokens · $0.012 of $0.50 · 9s",
        "├─ ● shell",
        "└─ ? risk (advisor)  waiting on you · 6s",
      ]
    `);
  });

  it('fit a narrow terminal, wide characters and all', () => {
    const list = team();
    started(
      list,
      '日本語の名前を持つエージェント',
      { origin: { kind: 'pattern', parent: ROOT, role: 'advisor' } },
      { run: 'run_wide01' as RunId },
    );
    for (const width of [20, 33, 47]) {
      for (const line of frameLines(fold(list.events), ROOT, { ...look, width, text: 'word '.repeat(40) })) {
        expect(textWidth(line)).toBeLessThanOrEqual(width);
      }
    }
  });

  it('are never taller than the screen', () => {
    const list = team();
    for (let index = 0; index < 50; index += 1)
      started(
        list,
        `worker-${index}`,
        { origin: { kind: 'pattern', parent: ROOT, role: 'advisor' } },
        { run: `run_w${index}` as RunId },
      );
    const lines = frameLines(fold(list.events), ROOT, { ...look, height: 10, text: 'much text' });
    expect(lines).toHaveLength(9);
    expect(lines.at(-1)).toBe(`  … and 44 more lines: ./troupe show ${ROOT.slice(-6)}`);
    const call = '/a/folder/that/has/a/long/name/troupe';
    const narrow = frameLines(fold(list.events), ROOT, { ...look, width: 40, height: 10, call });
    expect(narrow.at(-1)).toBe('  … and 44 more lines');
    for (const line of narrow) expect(textWidth(line)).toBeLessThanOrEqual(40);
  });

  it('show the end of the text that is being written, made safe', () => {
    const lines = frameLines(fold(team().events), ROOT, { ...look, text: 'one\n\u001b[2Jtwo' });
    expect(lines.slice(-2)).toEqual(['  one', '  two']);
  });

  it('make names and errors safe', () => {
    const list = eventList();
    started(list, 'evil\u001b[2J\nname');
    const error = { code: 'x', message: 'bad\u001b]0;owned\u0007\nthing' };
    list.add('run.ended', {
      status: 'failed',
      report: { format: 'text', body: '' },
      finalAgent: 'evil',
      error,
      verification: { state: 'unchecked' },
    });
    const tree = fold(list.events);
    // What went wrong with the whole stands in the summary below the tree.
    expect(frameLines(tree, ROOT, look)).toEqual(['✗ evil name  failed · 1.0s']);
    const node = tree.runs.get(ROOT);
    if (node === undefined) throw new Error('no root');
    const below = 'run_below' as RunId;
    tree.runs.set(below, { ...node, run: below, parent: ROOT });
    tree.runs.set(ROOT, { ...node, error: { code: 'y', message: 'something else' }, children: [below] });
    expect(frameLines(tree, ROOT, look)[1]).toBe('└─ ✗ evil name  failed · 1.0s · bad thing');
  });
});

describe('the live tree', () => {
  function live(): { clock: ReturnType<typeof handClock>; writes: string[]; view: ReturnType<typeof createLiveTree> } {
    const writes: string[] = [];
    const screen = createScreen({ write: (text) => writes.push(text), columns: 80, rows: 24, isTTY: true }, false);
    const clock = handClock();
    return { clock, writes, view: createLiveTree({ screen, clock, root: ROOT, call: 'troupe' }) };
  }

  it('draws at most ten times a second, however much happens', () => {
    const { clock, writes, view } = live();
    const { events } = team();
    const [first] = events;
    if (first === undefined) throw new Error('no events');
    const tree = fold(events);
    for (let index = 0; index < 1_000; index += 1) {
      view.event(first, tree);
      view.piece({
        session: SESSION,
        run: ROOT,
        agent: 'lead',
        turn: 1,
        attempt: 1,
        terminal: true,
        offset: 0,
        delta: { type: 'text', text: `${index} ` },
      });
      clock.advance(1);
    }
    expect(writes.length).toBeGreaterThan(5);
    expect(writes.length).toBeLessThanOrEqual(11);
  });

  it('shows the text of the answering agent, and of the others only that they write', () => {
    const { clock, writes, view } = live();
    const list = eventList();
    started(list, 'lead', {}, { at: 0 });
    started(list, 'risk', { origin: { kind: 'pattern', parent: ROOT, role: 'advisor' } }, { run: CHILD, at: 0 });
    list.add('model.request', { turn: 1, model: 'test/model', added: [] }, { run: CHILD, at: 0 });
    const last = list.events.at(-1);
    if (last === undefined) throw new Error('no events');
    view.event(last, fold(list.events));
    const piece = { session: SESSION, turn: 1, attempt: 1, offset: 0, delta: { type: 'text' as const, text: 'Some words.' } };
    view.piece({ ...piece, run: CHILD, agent: 'risk', terminal: false });
    clock.advance(200);
    expect(writes.join('')).toContain('writing, 11 characters');
    expect(writes.join('')).not.toContain('Some words.');
    view.piece({ ...piece, run: ROOT, agent: 'lead', terminal: true });
    clock.advance(200);
    expect(writes.join('')).toContain('Some words.');
  });

  it('shows of an answer that broke off and was asked for again only what is said now', () => {
    const { clock, writes, view } = live();
    const list = eventList();
    const last = started(list, 'lead', {}, { at: 0 });
    view.event(last, fold(list.events));
    const says = (attempt: number, text: string): string => {
      view.piece({
        session: SESSION,
        run: ROOT,
        agent: 'lead',
        turn: 1,
        attempt,
        offset: 0,
        terminal: true,
        delta: { type: 'text', text },
      });
      writes.length = 0;
      clock.advance(200);
      return writes.join('');
    };
    expect(says(1, 'Half of an ans')).toContain('Half of an ans');
    expect(says(2, 'Half of it a')).toContain('Half of it a');
    expect(writes.join('')).not.toContain('Half of an ans');
    expect(says(2, 'gain')).toContain('Half of it again');
  });

  it('draws nothing when nothing is different', () => {
    const { clock, writes, view } = live();
    const list = eventList();
    started(list, 'lead', {}, { at: 0 });
    list.add(
      'run.ended',
      { status: 'completed', report: { format: 'text', body: 'x' }, finalAgent: 'lead', verification: { state: 'unchecked' } },
      { at: 1 },
    );
    const [, last] = list.events;
    if (last === undefined) throw new Error('no events');
    view.event(last, fold(list.events));
    clock.advance(30_000);
    expect(writes).toHaveLength(1);
  });

  it('leaves the last picture and the cursor, once', () => {
    const { clock, writes, view } = live();
    const { events } = team();
    const tree = fold(events);
    const [first] = events;
    if (first === undefined) throw new Error('no events');
    view.event(first, tree);
    clock.advance(200);
    view.rest(tree);
    view.rest(tree);
    expect(writes.join('').split('\u001b[?25h')).toHaveLength(2);
    const settled = writes.length;
    clock.advance(10_000);
    expect(writes).toHaveLength(settled);
  });
});

describe('plain lines', () => {
  it('say what is worth knowing, without colours or motion', () => {
    let written = '';
    const screen = createScreen({ write: (text) => (written += text) }, false);
    const view = createPlainLines(screen, 'info');
    const tree = initialRunTree();
    for (const event of team().events) view.event(event, foldRunTree(tree, event));
    expect(written).toMatchInlineSnapshot(`
      "03:04:05 lead: started: do it, lead
      03:04:07 lead: turn 1: says: Done. [1.2k in, 34 out, $0.012, 1.2s]
      03:04:08 risk: started as advisor
      03:04:09 risk: asks to use shell
      "
    `);
  });
});
