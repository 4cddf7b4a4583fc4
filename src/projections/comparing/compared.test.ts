/** How two runs are aligned, and what counts as a difference. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { commonPlaces } from './common.ts';
import { comparePlays, differencesIn } from './compared.ts';
import { createPlayed, type Played } from './played.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

type Call = readonly [name: string, input: object, result?: string];
interface Turn {
  readonly text?: string;
  readonly calls?: readonly Call[];
}

/** Events of one run after the other, as the engine writes them; what a test is not about is left out. */
function recorded(session: string) {
  const events: LedgerEvent[] = [];
  const add = (run: string, type: string, payload: object, step: string | null = null, cause = events.length): number => {
    const position = events.length + 1;
    const envelope = { session_id: session as SessionId, run_id: run as RunId, timestamp: '2026-01-01T00:00:00.000Z', step };
    const event = {
      ...envelope,
      event_id: `${session}.${position}`,
      parent_event_id: cause === 0 ? null : `${session}.${cause}`,
    };
    events.push({ ...event, position, event_type: type, payload, schema_version: 1 } as unknown as LedgerEvent);
    return position;
  };
  const start = (run: string, agent: string, prompt: string, parent?: string, cause?: number): void => {
    const origin = parent === undefined ? { kind: 'person' } : { kind: 'call', parent };
    const input = { role: 'user', content: [{ type: 'text', text: prompt }] };
    add(run, 'run.started', { agent, input, origin, depth: 0 }, 'input', cause);
  };
  const turn = (run: string, number: number, { text = '', calls = [] }: Turn, answers = true): readonly number[] => {
    const parts = calls.map(([name, input], index) => ({ type: 'tool-call', id: `${number}.${index}`, name, input }));
    const message = { role: 'assistant', content: [{ type: 'text', text }, ...parts] };
    add(run, 'model.response', { turn: number, message, usage: {}, served: 'm' }, `turn/${number}/model`);
    return calls.map(([name, input, result = 'ok'], index) => {
      const step = `turn/${number}/tool/${index}`;
      const made = add(run, 'tool.call', { turn: number, id: `${number}.${index}`, name, replay: 'safe', ...input }, step);
      if (answers) add(run, 'tool.result', { id: '', name, content: [{ type: 'text', text: result }], durationMs: 1 }, step);
      return made;
    });
  };
  const end = (run: string, status = 'completed'): void =>
    void add(
      run,
      'run.ended',
      { status, report: { format: 'text', body: 'x' }, finalAgent: '', verification: { state: 'unchecked' } },
      'end',
    );
  return { events, add, start, turn, end };
}

function played(events: readonly LedgerEvent[], workspace?: string): Played {
  const [first] = events;
  const { played: made, fold } = createPlayed(first?.run_id as RunId, digest, workspace);
  for (const event of events) fold(event);
  return made;
}

function runOf(turns: readonly Turn[], workspace?: string): Played {
  const list = recorded('ses_a');
  list.start('run_a', 'boss', 'Go.');
  for (const [at, one] of turns.entries()) list.turn('run_a', at + 1, one);
  list.end('run_a');
  return played(list.events, workspace);
}

const kinds = ({ steps }: ReturnType<typeof comparePlays>) => steps.map(({ kind }) => kind);
const read = (path: string, result?: string): Call =>
  ['read', { path }, ...(result === undefined ? [] : [result])] as unknown as Call;

const turns = fc.array(
  fc.record({
    text: fc.constantFrom('', 'Well.', 'So.'),
    calls: fc.array(
      fc.tuple(fc.constantFrom('read', 'write'), fc.record({ path: fc.constantFrom('a', 'b', 'c') }), fc.constantFrom('x', 'y')),
      { maxLength: 3 },
    ),
  }),
  { maxLength: 6 },
);

describe('two runs', () => {
  it('are the same as themselves', () => {
    fc.assert(
      fc.property(turns, fc.boolean(), (some, prose) => {
        const compared = comparePlays(runOf(some), runOf(some), prose);
        expect(differencesIn(compared.counts)).toBe(0);
        expect([compared.first, compared.terms, compared.counts.moved, compared.sameAnswer]).toEqual([null, [], 0, true]);
      }),
    );
  });

  it('differ by as much, whichever is looked at first', () => {
    fc.assert(
      fc.property(turns, turns, fc.boolean(), (some, others, prose) => {
        const [one, other] = [comparePlays(runOf(some), runOf(others), prose), comparePlays(runOf(others), runOf(some), prose)];
        const { onlyA, onlyB, ...counts } = other.counts;
        expect(one.counts).toEqual({ ...counts, onlyA: onlyB, onlyB: onlyA });
        expect(one.first === null).toBe(other.first === null);
      }),
    );
  });

  it('leave nothing out: every step is counted once on each side', () => {
    fc.assert(
      fc.property(turns, turns, (some, others) => {
        const [a, b] = [runOf(some), runOf(others)];
        const { same, changed, answers, results, onlyA, onlyB } = comparePlays(a, b, true).counts;
        const both = same + changed + answers + results;
        const amount = ({ runs, root }: Played) => runs.get(root)?.acts.size;
        expect([both + onlyA, both + onlyB]).toEqual([amount(a), amount(b)]);
      }),
    );
  });

  it('name the call that was made with other arguments, and what is the same before and after', () => {
    const compared = comparePlays(
      runOf([{ calls: [read('a')] }, { calls: [read('b')] }, { calls: [read('c')] }]),
      runOf([{ calls: [read('a')] }, { calls: [read('x')] }, { calls: [read('c')] }]),
      false,
    );
    expect(kinds(compared)).toEqual(['same', 'changed', 'same']);
    expect(compared.first).toMatchObject({
      a: { path: 'turn/2/tool/0', name: 'read', given: '{"path":"b"}' },
      b: { path: 'turn/2/tool/0', given: '{"path":"x"}' },
    });
  });

  it('do not part for good over one turn more, or over calls of a turn in another order', () => {
    const more = comparePlays(
      runOf([{ calls: [read('a')] }, { calls: [read('b')] }, { calls: [read('c')] }]),
      runOf([{ calls: [read('a')] }, { calls: [['list', {}]] }, { calls: [read('b')] }, { calls: [read('c')] }]),
      false,
    );
    expect(more.counts).toMatchObject({ same: 4, onlyB: 1, onlyA: 0, changed: 0 });
    expect(more.first).toMatchObject({ kind: 'only_b', b: { name: 'list', path: 'turn/2/tool/0' } });
    const order = comparePlays(
      runOf([{ calls: [read('a'), read('b'), read('c')] }]),
      runOf([{ calls: [read('c'), read('a'), read('b')] }]),
      false,
    );
    expect(order.counts).toMatchObject({ same: 4, moved: 1, onlyA: 0, onlyB: 0 });
    expect(order.first).toBeNull();
  });

  it('are told apart by results, and by words only when that is asked for', () => {
    const [a, b] = [runOf([{ text: 'Well.', calls: [read('a', 'one')] }]), runOf([{ text: 'So.', calls: [read('a', 'two')] }])];
    expect(comparePlays(a, b, false).first).toMatchObject({ kind: 'result', a: { result: 'one' }, b: { result: 'two' } });
    expect(comparePlays(a, b, true).first).toMatchObject({ kind: 'changed', a: { kind: 'words', given: 'Well.' } });
  });

  it('do not differ by ids, fences and the folder that they work in', () => {
    const say = (id: string, fence: string, folder: string): readonly Turn[] => [
      {
        calls: [
          ['read', { path: `${folder}/a` }, `run_${id.repeat(20)} <output-${fence.repeat(12)}>x</output-${fence.repeat(12)}>`],
        ],
      },
    ];
    const [a, b] = [
      runOf(say('1', 'a', '/home/user/one'), '/home/user/one'),
      runOf(say('2', 'b', '/home/user/other'), '/home/user/other'),
    ];
    expect(comparePlays(a, b, true).first).toBeNull();
  });
});

describe('runs below', () => {
  function team(inner: readonly Turn[], said: string): Played {
    const list = recorded('ses_t');
    list.start('run_t', 'boss', 'Go.');
    const [call = 0] = list.turn('run_t', 1, { calls: [['helper', { prompt: 'Help.' }]] }, false);
    list.start('run_h', 'helper', 'Help.', 'run_t', call);
    for (const [at, one] of inner.entries()) list.turn('run_h', at + 1, one);
    list.end('run_h');
    const content = [{ type: 'text', text: said }];
    list.add('run_t', 'tool.result', { id: '', name: 'helper', content, durationMs: 1 }, 'turn/1/tool/0');
    list.end('run_t');
    return played(list.events);
  }

  it('are held against each other through the call that began them; what a helper says is words', () => {
    const compared = comparePlays(team([{ calls: [read('a')] }], 'One.'), team([{ calls: [read('b')] }], 'Two.'), false);
    expect(compared.counts).toMatchObject({ changed: 1, results: 0 });
    expect(compared.first).toMatchObject({ a: { agent: 'helper', path: 'turn/1/tool/0/helper/turn/1/tool/0' } });
    expect(comparePlays(team([], 'One.'), team([], 'Two.'), false).first).toBeNull();
    expect(comparePlays(team([], 'One.'), team([], 'Two.'), true).first).toMatchObject({ kind: 'result' });
  });

  it('count whole where the other side has none', () => {
    const { counts, first } = comparePlays(runOf([]), team([{ calls: [read('a')] }], 'One.'), false);
    expect(first).toMatchObject({ kind: 'only_b', below: 2 });
    expect(counts.onlyB).toBe(3);
  });
});

it('steps that a run went on from after its end do not count twice', () => {
  const list = recorded('ses_r');
  list.start('run_a', 'boss', 'Go.');
  list.turn('run_a', 1, { calls: [read('a')] });
  list.end('run_a', 'failed');
  list.add('run_a', 'run.reopened', { undone: [4, 5] });
  list.add(
    'run_a',
    'tool.result',
    { id: '', name: 'read', content: [{ type: 'text', text: 'ok' }], durationMs: 1 },
    'turn/1/tool/0',
  );
  list.end('run_a');
  expect(comparePlays(played(list.events), runOf([{ calls: [read('a')] }]), true).first).toBeNull();
});

describe('the longest common subsequence', () => {
  it('is one, and no other is longer', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
    fc.assert(
      fc.property(letters, letters, (one, other) => {
        const pairs = commonPlaces(one, other, 100) ?? [];
        for (const [at, [left, right]] of pairs.entries()) {
          expect(one[left]).toBe(other[right]);
          const [before, beside] = pairs[at - 1] ?? [-1, -1];
          expect(left > before && right > beside).toBe(true);
        }
        expect(pairs).toHaveLength(lengthOf(one, other));
      }),
    );
  });

  it('is not looked for where the lists differ by more than was allowed', () => {
    expect(commonPlaces(['a', 'b', 'c'], ['x', 'y', 'z'], 5)).toBeUndefined();
    expect(commonPlaces(['a', 'b', 'c'], ['x', 'y', 'z'], 6)).toEqual([]);
  });
});

function lengthOf(one: readonly string[], other: readonly string[]): number {
  const rows = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let x = 1; x <= one.length; x += 1)
    for (let y = 1; y <= other.length; y += 1)
      (rows[x] ?? [])[y] =
        one[x - 1] === other[y - 1] ? (rows[x - 1]?.[y - 1] ?? 0) + 1 : Math.max(rows[x - 1]?.[y] ?? 0, rows[x]?.[y - 1] ?? 0);
  return rows.at(-1)?.at(-1) ?? 0;
}
