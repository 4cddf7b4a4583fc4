/** What the console keeps of a session, without a browser: any moment is what a cold fold says, however it was come to. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunId } from '../../src/base/ids.ts';
import { userText } from '../../src/events/messages.ts';
import { anyEvents, eventList } from '../../test/support/event-list.ts';
import { createHistory } from './history.ts';
import { criticalPath, lanesOf, scaleOf } from './lanes.ts';
import { createFrameReader, type Frame } from './server-sent.ts';
import { foldEvent, initialFold } from './session-fold.ts';

describe('the history of a session', () => {
  it('is at any event what a fold from the beginning says, also while more comes, back and forth', () => {
    fc.assert(
      fc.property(anyEvents, fc.array(fc.nat(60), { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), (events, looks, every) => {
        const history = createHistory(every);
        const cold = (count: number) => {
          const fold = initialFold();
          for (const event of events.slice(0, count)) foldEvent(fold, event);
          return fold;
        };
        const half = Math.floor(events.length / 2);
        for (const [index, event] of events.entries()) {
          history.add(event);
          if (index === half)
            for (const look of looks) expect(history.at(Math.min(look, half))).toEqual(cold(Math.min(look, half)));
        }
        for (const look of looks) expect(history.at(look)).toEqual(cold(look));
        expect(history.fold).toEqual(cold(events.length));
        expect(history.lines.map(({ position }) => position)).toEqual(events.map(({ position }) => position));
      }),
      { numRuns: 40 },
    );
  });

  it('goes on after an event whose payload cannot be had, and says so', () => {
    const list = eventList();
    list.add('run.started', { agent: 'a', input: userText('x'), origin: { kind: 'person' }, depth: 0 });
    const gone = list.add('step.recorded', { value: 1 });
    const history = createHistory(1);
    for (const event of list.events) if (event !== gone) history.add(event);
    history.addUnreadable(gone, 'it was collected');
    expect(history.lines.at(-1)).toMatchObject({
      level: 'warn',
      text: 'step.recorded: what it holds could not be had: it was collected',
    });
    expect([history.unreadable.has(gone.position), history.at(2).tree.runs.size]).toEqual([true, 1]);
  });
});

describe('frames', () => {
  it('are read the same wherever the text is cut', () => {
    const text = 'retry: 1000\n: head ses_1.4\n\nevent: events\nid: ses_1.2\ndata: [1,\ndata: 2]\r\n\n: beat\n\ndata:x\n\n';
    const read = (pieces: readonly string[]) => {
      const frames: Frame[] = [];
      const comments: string[] = [];
      const reader = createFrameReader(
        (frame) => frames.push(frame),
        (comment) => comments.push(comment),
      );
      for (const piece of pieces) reader.push(piece);
      return { frames, comments };
    };
    const whole = read([text]);
    expect(whole).toEqual({
      frames: [
        { event: 'events', id: 'ses_1.2', data: '[1,\n2]' },
        { event: 'message', id: undefined, data: 'x' },
      ],
      comments: ['head ses_1.4', 'beat'],
    });
    for (let cut = 0; cut <= text.length; cut += 1) expect(read([text.slice(0, cut), text.slice(cut)])).toEqual(whole);
    expect(read([...text])).toEqual(whole);
  });
});

describe('lanes', () => {
  const started = (agent: string, parent?: string) =>
    ({
      ...{ agent, input: userText('x'), depth: 0 },
      origin: parent === undefined ? { kind: 'person' } : { kind: 'call', parent, step: 's' },
    }) as never;

  it('show what each run did, and whom the others waited for; where nobody works, time is folded', () => {
    const list = eventList();
    const child = 'run_child1' as RunId;
    list.add('run.started', started('lead'), { at: 0 });
    list.add('approval.asked', { wait: 'w', tool: 't', input: null, why: 'y' }, { at: 1 });
    list.add('approval.answered', { wait: 'w', answer: { kind: 'approved' } }, { at: 101 });
    list.add('tool.call', { id: 'c', name: 'child', input: {} } as never, { at: 102 });
    list.add('run.started', started('child', 'run_root01'), { at: 103, run: child });
    list.add('tool.result', { id: 'c', name: 'child', content: [], durationMs: 1 }, { at: 106 });
    const lanes = lanesOf(list.events, list.events.length);
    const root = lanes.get('run_root01') ?? [];
    const base = Date.parse(list.events[0]?.timestamp ?? '');
    expect(root.map(({ kind, from, to }) => [kind, (from - base) / 1_000, ((to ?? 0) - base) / 1_000])).toEqual([
      ['human', 1, 101],
      ['tool', 102, 106],
    ]);
    const scale = scaleOf(lanes, base, base + 106_000);
    expect(scale.folded).toEqual([{ from: base, to: base + 102_000 }]);
    expect(scale.at(base + 102_000)).toBeCloseTo(5 / 9);
    const history = createHistory();
    for (const event of list.events) history.add(event);
    const path = criticalPath(history.fold.tree, 'run_root01', base + 106_000);
    expect(path.at(0)).toMatchObject({ run: 'run_root01', from: base });
    expect(path.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(106_000);
  });
});
