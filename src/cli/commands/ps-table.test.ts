/** Processes as a table: what is in it, and what a narrow terminal leaves out. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { PsRow } from '../../front/run-rows.ts';
import { initialCosts } from '../../projections/costs.ts';
import { textWidth } from '../terminal/text-width.ts';
import { printCosts } from './cost.ts';
import { psLines } from './ps-table.ts';

function row(more: Partial<PsRow> = {}): PsRow {
  return {
    run: 'run_01m7h28733zfvr88pqjp' as RunId,
    session: 'ses_1' as SessionId,
    parent: null,
    depth: 0,
    agent: 'lead',
    state: 'running',
    status: 'running',
    verification: null,
    startedAt: 0,
    endedAt: null,
    owner: null,
    next: null,
    error: null,
    nextAttemptAt: null,
    pid: 19218,
    ageMs: 125_000,
    cost: { nanoUsd: 12_300_000, unknownCalls: 0 },
    unread: 0,
    oldestUnreadAt: null,
    lagMs: null,
    process: null,
    ...more,
  };
}

const spawned = (more: Partial<PsRow> = {}): PsRow =>
  row({
    run: 'run_7xh9dnmktvnxbyj429fp' as RunId,
    depth: 1,
    agent: 'scout',
    process: {
      spawnedBy: 'lead',
      thread: 'thr_7xh9dnmktvnxbyj429fp',
      status: 'running',
      exitCode: null,
      messages: 3,
      unreadByParent: 0,
    },
    ...more,
  });

it.each([24, 40, 50, 60, 80])('the price is never cut from the table of costs, at %i columns', (columns) => {
  const spent = { ...{ calls: 3, inputTokens: 1_234_567, outputTokens: 123_456, cacheReadTokens: 99_000 }, uncountedCalls: 1 };
  const known = { ...spent, nanoUsd: 2_600_000, unknownCalls: 0 };
  const line = { ...known, agent: 'a-worker-with-a-long-name', model: 'anthropic/claude-sonnet-4-5' };
  const costs = { ...initialCosts(), lines: new Map([['x', line]]), total: { ...known, unknownCalls: 2 } };
  const terminal = testTerminal({ tty: true, columns });
  printCosts({ terminal }, costs);
  const [, first = '', total = ''] = terminal.written.out.split('\n');
  expect(first).toMatch(/^a-work.* \$0\.0026$/);
  expect(total).toMatch(/ \$0\.0026 \+ unknown \(2 calls\)$/);
  if (columns >= 40) for (const row of terminal.written.out.split('\n')) expect(textWidth(row)).toBeLessThanOrEqual(columns);
});

describe('the table of processes', () => {
  it('says below a run why it failed and when its model is asked again, to people', () => {
    const failed = row({
      state: 'failed',
      error: { code: 'x', message: 'The agent used its 2 turns without giving an answer.' },
    });
    expect(psLines([failed], false, 50).slice(2)).toEqual([
      '        The agent used its 2 turns without giving',
      '        an answer.',
    ]);
    const long = row({ state: 'failed', error: { code: 'x', message: 'one two three four five six '.repeat(9) } });
    expect(psLines([long], false, 50).slice(2)).toEqual([
      '        one two three four five six one two three',
      '        four five six one two three four five six…',
    ]);
    const waiting = row({ nextAttemptAt: 65_000 });
    const told = 'waits for its provider, which is asked again in 40s';
    for (const width of [40, 60, 80, 200]) expect(psLines([waiting], false, width, 25_000)[1]).toContain(' running ');
    expect(psLines([waiting], false, 80, 25_000)[2]).toBe(`        ${told}`);
    // What is no screen has a line for each run.
    expect(psLines([failed, waiting], false, undefined, 25_000)).toEqual([
      expect.stringMatching(/^RUN/),
      expect.stringContaining(' failed '),
      expect.stringContaining(` running, ${told} `),
    ]);
  });

  it('shows pid, agent, thread, status, unread, age and cost', () => {
    expect(psLines([row(), spawned({ unread: 2, lagMs: 4_200_000, pid: 19268 })], false, 80)).toEqual([
      'RUN     PID    AGENT    THREAD  STATUS   UNREAD  AGE  TOOK  COST    NEXT',
      '88pqjp  19218  lead     -       running  -       2m   -     $0.012',
      'j429fp  19268  └ scout  j429fp  running  2 (1h)  2m   -     $0.012',
    ]);
  });

  it('has no columns for threads where nobody talks', () => {
    const [heading] = psLines([row()], false, 80);
    expect(heading).toBe('RUN     PID    AGENT  STATUS   AGE  TOOK  COST    NEXT');
  });

  it('tells a process that has not begun, a price that is not known and events that are gone', () => {
    const { process } = spawned();
    const starting = spawned({ process: process && { ...process, status: 'starting' } });
    const [, first, second, third] = psLines(
      [
        { ...starting, depth: 0 },
        row({ cost: { nanoUsd: 5_000_000_000, unknownCalls: 1 } }),
        row({ cost: null, state: 'completed_unverified' }),
      ],
      false,
    );
    expect(first).toContain('starting');
    expect(second).toMatch(/\$5\.00\+\?$/);
    expect(third).toMatch(/completed unverified .* \?$/);
  });

  it.each(['verified', 'unverified', 'unchecked'] as const)('says what a completed run is worth: %s', (verification) => {
    const state = verification === 'unverified' ? 'completed_unverified' : 'completed';
    const [, line] = psLines([row({ state, verification, endedAt: 4_000 })], false);
    expect(line).toContain(`completed, ${verification}`);
    const screen = (width: number, agent: string) =>
      psLines([row({ state, verification, endedAt: 4_000, agent })], false, width)[1];
    for (const width of [60, 80, 120]) expect(screen(width, 'lead')).toContain(` completed, ${verification} `);
    const brief = verification === 'unchecked' ? 'completed' : verification;
    expect(screen(60, 'a-rather-long-name-of-an-agent')).toContain(`…  ${brief} `);
    expect(screen(40, 'lead')).toContain(` ${brief} `);
  });

  const busy = [
    row({ state: 'interrupted', pid: null, next: 'troupe resume 88pqjp', agent: 'release-coordinator' }),
    spawned({
      state: 'waiting',
      next: 'troupe answer j429fp',
      agent: 'a-rather-long-name-of-an-agent',
      unread: 12,
      lagMs: 90_000,
    }),
    row({ state: 'completed_unverified', verification: 'unverified', endedAt: 4_000, pid: null }),
  ];

  it('says on 80 columns below a run what to do, and leaves out pids and threads before it cuts a name', () => {
    expect(psLines(busy, false, 80)).toEqual([
      'RUN     AGENT                             STATUS       UNREAD   AGE  COST',
      '88pqjp  release-coordinator               interrupted  -        2m   $0.012',
      '        next: troupe resume 88pqjp',
      'j429fp  └ a-rather-long-name-of-an-agent  waiting      12 (1m)  2m   $0.012',
      '        next: troupe answer j429fp',
      '88pqjp  lead                              unverified   -        2m   $0.012',
    ]);
  });

  it('cuts on 60 columns names only, and only long ones', () => {
    expect(psLines(busy, false, 60)).toEqual([
      'RUN     AGENT             STATUS       UNREAD   AGE  COST',
      '88pqjp  release-coord…    interrupted  -        2m   $0.012',
      '        next: troupe resume 88pqjp',
      'j429fp  └ a-rather-long…  waiting      12 (1m)  2m   $0.012',
      '        next: troupe answer j429fp',
      '88pqjp  lead              unverified   -        2m   $0.012',
    ]);
  });

  it('breaks a long command between its words', () => {
    const lines = psLines([row({ state: 'waiting', next: 'troupe -C /far/away answer j429fp "…"' })], false, 40);
    expect(lines.slice(2)).toEqual(['        next: troupe -C /far/away answer', '        j429fp "…"']);
  });

  it('has whole commands on 120', () => {
    const lines = psLines(busy, false, 120);
    expect(lines[1]).toContain('troupe resume 88pqjp');
    expect(lines[2]).toContain('a-rather-long-name-of-an-agent');
    expect(lines[0]).not.toContain('TOOK');
    expect(psLines(busy, false)[0]).toContain('TOOK');
  });

  it('shows everybody at work, and of those who have ended the newest', () => {
    const children = Array.from({ length: 12 }, (_, index) =>
      spawned({ agent: `child-${index}`, ...(index % 4 === 0 ? {} : { state: 'completed', endedAt: 1 }) }),
    );
    const text = psLines([row(), ...children, row()], false, 120).join('\n');
    for (const at of [0, 4, 8, 6, 7, 9, 10, 11]) expect(text).toContain(`child-${at} `);
    for (const left of [1, 2, 3, 5]) expect(text).not.toContain(`child-${left} `);
    expect(text).toContain('… 4 more runs: --all');
    expect(psLines([row(), ...children], true, 120)).toHaveLength(14);
  });

  it('is never wider than the terminal, whatever the names', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 20, max: 200 }), (agent, width) => {
        const lines = psLines(
          [row({ agent }), spawned({ agent, depth: 4, unread: 1, lagMs: 1, next: 'troupe answer x "…"' })],
          false,
          width,
        );
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});
