import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { answered, eventList, ROOT, started, startedAt } from '../../../test/support/event-list.ts';
import type { RunId } from '../../base/ids.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { userText } from '../../events/messages.ts';
import { foldRunTree, initialRunTree, type RunTree } from '../../projections/run-tree.ts';
import { textWidth } from '../terminal/text-width.ts';
import { treeLines } from './tree-lines.ts';

const paint = picocolors.createColors(false);
const run = (name: string): RunId => `run_${name}` as RunId;
const report = (body: string) => ({ format: 'text' as const, body });

/** A desk routes to a lead with a team of one over two cycles; the member asks a reader, and asks it again. */
function session(): RunTree {
  const list = eventList();
  const end = (one: RunId, agent: string, more: Partial<Payloads['run.ended']> = {}): void =>
    void list.add(
      'run.ended',
      { status: 'completed', report: report('x'), finalAgent: agent, verification: { state: 'unchecked' }, ...more },
      { run: one },
    );
  const seat = (cycle: number, role: 'member' | 'supervisor', member: string) => ({
    origin: {
      kind: 'seat',
      parent: run('lead'),
      role,
      seat: { team: run('lead'), member, role, cycle, turnsBefore: 0 },
    } as const,
  });
  started(list, 'desk');
  list.add('router.chose', { agent: 'lead', message: 'Settle it.' });
  started(list, 'lead', { origin: { kind: 'pattern', parent: ROOT, role: 'router' } }, { run: run('lead') });
  started(list, 'clerk', seat(1, 'member', 'clerk'), { run: run('m1') });
  const call = list.add('tool.call', { turn: 1, id: 'a', name: 'reader', replay: 'safe' }, { run: run('m1') });
  const called = { kind: 'call', parent: run('m1'), reason: 'it knows' } as const;
  started(list, 'reader', { origin: called }, { run: run('r1'), cause: call.position });
  end(run('r1'), 'reader');
  const again = list.add('tool.call', { turn: 2, id: 'b', name: 'ask_clarification', replay: 'safe' }, { run: run('m1') });
  const question = userText('## CLARIFICATION REQUEST FROM desk\n\nAre you sure?');
  const asked = { kind: 'clarification', parent: run('m1'), maxTurns: 5 } as const;
  started(list, 'reader', { origin: asked, continues: run('r1'), input: question }, { run: run('r2'), cause: again.position });
  end(run('r2'), 'reader');
  list.add('tool.call', { turn: 3, id: 'c', name: 'read', replay: 'safe' }, { run: run('m1') });
  end(run('m1'), 'clerk', { spoke: 'update' });
  started(list, 'lead', seat(1, 'supervisor', 'lead'), { run: run('s1') });
  end(run('s1'), 'lead', { spoke: 'update' });
  started(list, 'stand-in', seat(2, 'member', 'clerk'), { run: run('m2') });
  answered(list, 1, { tokens: [90, 10] }, { run: run('m2') });
  end(run('m2'), 'stand-in', { spoke: 'final' });
  started(list, 'lead', seat(2, 'supervisor', 'lead'), { run: run('s2') });
  end(run('s2'), 'lead');
  end(run('lead'), 'lead', { finalRun: run('s2') });
  end(ROOT, 'lead', { finalRun: run('s2') });
  return list.events.reduce(foldRunTree, initialRunTree());
}

it('says why a model has to be asked again, once for all that wait for the same', () => {
  const list = eventList();
  started(list, 'lead');
  const fails = (run: RunId, message: string): void => {
    list.add('model.request', { turn: 1, model: 'test/model', added: [] }, { run });
    const error = { kind: 'network', message } as const;
    list.add('model.failed', { turn: 1, model: 'test/model', attempt: 1, error, final: false, nextInMs: 40_000 }, { run });
  };
  const away = 'test cannot be reached: connect ECONNREFUSED 127.0.0.1:9';
  fails(ROOT, away);
  for (const name of ['a', 'b']) {
    started(list, name, { origin: { kind: 'call', parent: ROOT, reason: 'need' } }, { run: run(name) });
    fails(run(name), name === 'a' ? away : 'test is out of order (HTTP 503)');
  }
  const tree = list.events.reduce(foldRunTree, initialRunTree());
  const look = { now: startedAt(list.events.length), width: 100, paint };
  const shown = treeLines(tree, ROOT, look).join('\n');
  expect(shown.split(away)).toHaveLength(2);
  expect(shown).toMatch(/^● lead {2}attempt 2 in .*\n│ test cannot be reached/);
  expect(shown).toMatch(/└─ ● b .*attempt 2 in .*\n {5}test is out of order \(HTTP 503\)$/);
  expect(treeLines(tree, ROOT, { ...look, standing: () => 'interrupted' }).join()).not.toMatch(/ECONNREFUSED|503/);
  answered(list, 1, {}, { run: ROOT });
  expect(treeLines(list.events.reduce(foldRunTree, initialRunTree()), ROOT, look)[1]).not.toContain('ECONNREFUSED');
});

it('says of a run that it waits while all that it waits for asks somebody, and that it works as soon as one of them does', () => {
  const list = eventList();
  started(list, 'boss');
  for (const name of ['w1', 'w2']) {
    const call = list.add('tool.call', { turn: 1, id: name, name, replay: 'safe' });
    started(list, name, { origin: { kind: 'call', parent: ROOT, reason: 'r' } }, { run: run(name), cause: call.position });
  }
  const asks = (name: string) => list.add('task.clarify', { wait: `w/${name}`, question: 'q?' }, { run: run(name) });
  const bossLine = (): string => treeLines(list.events.reduce(foldRunTree, initialRunTree()), ROOT, look)[0] ?? '';
  asks('w1');
  expect(bossLine()).toMatch(/^● boss {2}running w1, w2/);
  asks('w2');
  expect(bossLine()).toMatch(/^\? boss {2}waiting ·/);
  list.add('tool.call', { turn: 1, id: 'x', name: 'shell', replay: 'never' });
  expect(bossLine()).toMatch(/^● boss {2}running w1, w2, shell/);
});

it('says of several that ask what each of them asks, within the width, and of one alone nothing more', () => {
  const list = eventList();
  started(list, 'boss');
  for (const name of ['w1', 'w2']) {
    const call = list.add('tool.call', { turn: 1, id: name, name, replay: 'safe' });
    started(list, name, { origin: { kind: 'call', parent: ROOT, reason: 'r' } }, { run: run(name), cause: call.position });
  }
  const lines = (width: number) => treeLines(list.events.reduce(foldRunTree, initialRunTree()), ROOT, { ...look, width });
  const input = { command: `rm -rf /tmp/\u202ex ${'y'.repeat(300)}\nls` };
  list.add('approval.asked', { wait: 'a', tool: 'shell', input, why: 'w1 wants to use shell' }, { run: run('w1') });
  expect(lines(60).join('\n')).not.toContain('asks:');
  list.add('task.clarify', { wait: 'b', question: 'Which one?\nThis?' }, { run: run('w2') });
  const asks = lines(60).filter((line) => line.includes('asks:'));
  expect(asks).toEqual([
    expect.stringMatching(/^│ {3,4}asks: shell rm -rf \/tmp\/⟨U\+202E⟩x y+…$/u),
    expect.stringMatching(/^ {4,5}asks: Which one\?/),
  ]);
  for (const line of lines(60)) expect(textWidth(line)).toBeLessThanOrEqual(60);
  list.add('approval.answered', { wait: 'a', answer: { kind: 'denied' } }, { run: run('w1') });
  expect(lines(60).join('\n')).not.toContain('asks:');
});

const look = { now: 0, width: 120, paint, calls: 100, notes: true };
const withoutFacts = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replace(/(?<=[\w)]) {2}.*?(?= “|$)/u, ''));

describe('a tree of patterns', () => {
  it('shows who called whom, as what and why, and who gave the answer', () => {
    expect(withoutFacts(treeLines(session(), ROOT, look)).map((line) => line.trimEnd())).toEqual([
      '○ desk',
      '└─ ○ lead (router) “Settle it.”',
      '   ├─ cycle 1',
      '   │  ├─ ○ clerk (member)',
      '   │  │  ├─ ○ reader (sub-agent) “it knows”',
      '   │  │  ├─ ○ reader (clarification) “Are you sure?”',
      '   │  │  └─ ● read',
      '   │  └─ ○ lead (supervisor)',
      '   └─ cycle 2',
      '      ├─ ○ stand-in (member, for clerk)',
      '      └─ ○ lead (supervisor, gives the answer)',
    ]);
  });

  it.each([
    ['verified', '✓ desk  completed, verified'],
    ['unverified', '~ desk  completed, unverified'],
    ['unchecked', '○ desk  completed, unchecked'],
  ] as const)('tells apart what a completed run is worth: %s', (state, line) => {
    const list = eventList();
    list.add('run.started', { agent: 'desk', input: userText('Go.'), origin: { kind: 'person' }, depth: 0 });
    const status = state === 'unverified' ? 'completed_unverified' : 'completed';
    const verification = state === 'unverified' ? { state, reasons: ['no'] } : { state };
    list.add('run.ended', { status, report: report('x'), finalAgent: 'desk', verification });
    const [first] = treeLines(list.events.reduce(foldRunTree, initialRunTree()), ROOT, look);
    expect(first).toContain(line);
  });

  it('gives cycles that are over one line when it is to be brief', () => {
    const lines = treeLines(session(), ROOT, { ...look, brief: true });
    expect(lines).toHaveLength(4);
    expect(lines[3]).toMatch(/^ {3}└─ cycle 2 {2}1 member · 100 tokens · .* · [\d.]+s$/);
  });

  it('puts what does not fit beside a run below it, and never passes the width', () => {
    for (const width of [24, 40, 60]) {
      const lines = treeLines(session(), ROOT, { ...look, width });
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
    }
    expect(treeLines(session(), ROOT, { ...look, width: 60 })).toContain('   │  │  │    “Are you sure?”');
  });
});

describe('on a narrow screen', () => {
  const busy = (): RunTree => {
    const list = eventList();
    started(list, 'a-rather-long-name');
    list.add('model.request', { turn: 12, model: 'anthropic/claude-sonnet-5-with-a-long-name', added: [] });
    for (let call = 0; call < 9; call += 1) list.add('tool.result', { id: `${call}`, name: 'read', content: [], durationMs: 1 });
    answered(list, 12, { tokens: [90_000, 10_000], nanoUsd: 1_250_000_000 });
    list.add('model.request', { turn: 13, model: 'anthropic/claude-sonnet-5-with-a-long-name', added: [] });
    return list.events.reduce(foldRunTree, initialRunTree());
  };
  const lineAt = (width: number): string => treeLines(busy(), ROOT, { ...look, width, now: startedAt(75) })[0] ?? '';

  it.each([60, 80, 120, 200])('of %i columns a run shows what it does, what it cost and how long it has taken', (width) => {
    const line = lineAt(width);
    expect(textWidth(line)).toBeLessThanOrEqual(width);
    expect(line).toMatch(/ asking anthropic.* · \$1\.25 · 1m14s$/);
  });

  it.each([30, 40])('of %i columns a run shows what it cost and how long it has taken, and who it is', (width) => {
    expect(textWidth(lineAt(width))).toBeLessThanOrEqual(width);
    expect(lineAt(width)).toMatch(/^● a-rat.* {2}ask(?:ing )?… · \$1\.25 · 1m14s$/);
  });

  it('so does one below that waits, whose part is not said before that', () => {
    const list = eventList();
    started(list, 'desk');
    const origin = { kind: 'call', parent: ROOT, reason: 'r' } as const;
    started(list, 'summarizer', { origin }, { run: run('one'), at: 2 });
    answered(list, 1, { tokens: [90, 10] }, { run: run('one') });
    list.add('approval.asked', { wait: 'w', tool: 'shell', input: {}, why: 'w' }, { run: run('one') });
    const tree = list.events.reduce(foldRunTree, initialRunTree());
    const below = (width: number) => treeLines(tree, ROOT, { ...look, width, now: startedAt(67) })[1];
    expect(below(40)).toBe('└─ ? summarizer  waiting · $? · 1m05s');
    expect(below(80)).toBe('└─ ? summarizer (sub-agent)  waiting on you · cost unknown (1 call) · 1m05s “r”');
  });

  it('cycles do, too', () => {
    expect(treeLines(session(), ROOT, { ...look, brief: true, width: 36 }).at(-1)).toMatch(
      /^ {3}└─ cycle 2 {2}.* · \$\S+ · \S+s$/,
    );
  });

  it('counts go first, the calls of tools before all', () => {
    expect(lineAt(200)).toContain(' · turn 13 · 9 tools · 100.0k tokens · ');
    expect(lineAt(60)).not.toMatch(/turn|tools|tokens/);
  });
});

describe('a call that was refused', () => {
  const call = (id: string, command: string) => ({ type: 'tool-call' as const, id, name: 'shell', input: { command } });
  const refused = { name: 'shell', content: [], isError: true, durationMs: 0 };

  it('has a line among those that were made, and is one call when it is made after all', () => {
    const list = eventList();
    started(list, 'desk');
    list.add('model.request', { turn: 1, model: 'test/model', added: [] });
    list.add('model.response', {
      ...{ turn: 1, finish: 'tool-calls', usage: {}, requested: 'm', served: 'm', attempts: 1, durationMs: 1 },
      message: { role: 'assistant', content: [call('a', 'touch a'), call('b', 'touch b')] },
    });
    list.add('tool.call', { turn: 1, id: 'b', name: 'shell', replay: 'never' });
    list.add('tool.result', { id: 'b', name: 'shell', content: [], durationMs: 5 });
    const denied = list.add('tool.result', { id: 'a', ...refused });
    const lines = () => treeLines(list.events.reduce(foldRunTree, initialRunTree()), ROOT, look).slice(1);
    expect(lines()).toEqual(['├─ ✗ shell touch a · not run', '└─ ✓ shell touch b · 5ms']);
    list.add('run.reopened', { undone: [denied.position] });
    list.add('tool.call', { turn: 1, id: 'a', name: 'shell', replay: 'never' });
    list.add('tool.result', { id: 'a', name: 'shell', content: [], durationMs: 7 });
    expect(lines()).toEqual(['├─ ✓ shell touch a · 7ms', '└─ ✓ shell touch b · 5ms']);
  });

  it('is not a call of an agent that failed once more', () => {
    const list = eventList();
    started(list, 'desk');
    list.add('model.request', { turn: 1, model: 'test/model', added: [] });
    list.add('tool.call', { turn: 1, id: 'a', name: 'helper', replay: 'safe' });
    const first = list.add('tool.result', { id: 'a', ...refused, name: 'helper' });
    list.add('run.reopened', { undone: [first.position] });
    list.add('tool.result', { id: 'a', ...refused, name: 'helper', durationMs: 3 });
    expect(treeLines(list.events.reduce(foldRunTree, initialRunTree()), ROOT, look).slice(1)).toEqual(['└─ ✗ helper · 3ms']);
  });
});
