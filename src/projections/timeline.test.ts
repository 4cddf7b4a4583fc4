import { describe, expect, it } from 'vitest';
import { answered, eventList, ROOT, started } from '../../test/support/event-list.ts';
import type { Payloads } from '../events/catalogue.ts';
import { foldTimeline, initialTimeline } from './timeline.ts';
import { foldWaits, initialWaits } from './waits.ts';
import { foldCauses, initialCauses, openQuestions, resultEvent, whyOf } from './why.ts';

function session(): ReturnType<typeof eventList> {
  const list = eventList();
  list.add('session.started', { workspace: '/w' });
  started(list, 'fixer');
  list.add('model.request', { turn: 1, model: 'test/model', added: [] });
  answered(list, 1, { text: 'I see\nit.', nanoUsd: 1_200_000, tokens: [1_500, 20] });
  list.add('tool.call', { turn: 1, id: 'a', name: 'shell', replay: 'never' });
  list.add('cli.run', { command: 'node --test', cwd: '/w', exitCode: 1, signal: null, durationMs: 61_000 });
  list.add('tool.result', { id: 'a', name: 'shell', content: [{ type: 'text', text: 'boom' }], isError: true, durationMs: 5 });
  list.add('approval.asked', { wait: 'w1', tool: 'shell', input: { command: 'npm test' }, why: 'to test' }, { cause: 4 });
  list.add('file.diff', { path: 'a.js', before: 'x', after: 'y', addedLines: 2, removedLines: 1, diff: '' }, { cause: 4 });
  list.add(
    'run.ended',
    {
      status: 'completed',
      report: { format: 'text', body: 'Fixed.' },
      finalAgent: 'fixer',
      verification: { state: 'unchecked' },
    },
    { cause: 4 },
  );
  return list;
}

describe('the timeline of a session', () => {
  it('says each event in one line', () => {
    const { lines } = session().events.reduce(foldTimeline, initialTimeline());
    expect(lines.map((line) => `${line.level} ${line.agent}: ${line.text}`)).toMatchInlineSnapshot(`
      [
        "detail -: session started in /w",
        "info fixer: started: do it, fixer",
        "detail fixer: turn 1: asking test/model",
        "info fixer: turn 1: says: I see it. [1.5k in, 20 out, $0.0012, 1.2s]",
        "detail fixer: calling shell",
        "warn fixer: $ node --test (exit 1, 1m01s)",
        "warn fixer: shell failed after 5ms: boom",
        "warn fixer: asks to use shell: npm test",
        "info fixer: changed a.js (+2 -1)",
        "info fixer: ended completed, unchecked: Fixed.",
      ]
    `);
  });
});

describe('why', () => {
  it('walks from the result back to the prompt', () => {
    const causes = session().events.reduce(foldCauses, initialCauses());
    const result = resultEvent(causes, ROOT);
    if (result === undefined) throw new Error('no result');
    expect(whyOf(causes, result).map((cause) => cause.type)).toEqual([
      'run.ended',
      'model.response',
      'model.request',
      'run.started',
      'session.started',
    ]);
  });

  it('of a run that waits begins with what is asked in it or below it, until that is answered or the run has ended', () => {
    const list = eventList();
    list.add('session.started', { workspace: '/w' });
    started(list, 'lead');
    const below = { run: 'run_below1' as typeof ROOT };
    started(list, 'helper', { origin: { kind: 'pattern', parent: ROOT, role: 'worker' } }, below);
    const first = list.add('task.clarify', { wait: 'c', question: 'Which one?' }, below);
    const second = list.add('approval.asked', { wait: 'w', tool: 'shell', input: {}, why: 'to try' }, { cause: 2 });
    list.add('run.resumed', { owner: 'me', takenOver: false }, { cause: 2 });
    const causes = list.events.reduce(foldCauses, initialCauses());
    expect([resultEvent(causes, ROOT), openQuestions(causes, ROOT)]).toEqual([first.event_id, [first.event_id, second.event_id]]);
    expect(whyOf(causes, first.event_id).map((cause) => cause.agent)).toEqual(['helper', 'helper', 'lead', '-']);
    const answer = list.add('approval.answered', { wait: 'c', answer: { kind: 'text', text: 'The first.' } }, below);
    foldCauses(causes, answer);
    expect(resultEvent(causes, ROOT)).toBe(second.event_id);
    const end = list.add('run.ended', session().events.at(-1)?.payload as Payloads['run.ended']);
    foldCauses(causes, end);
    expect([resultEvent(causes, ROOT), openQuestions(causes, ROOT)]).toEqual([end.event_id, []]);
    // One that goes on is not judged by the end that it had.
    const reopened = list.add('run.reopened', { undone: [] });
    expect(resultEvent(foldCauses(causes, reopened), ROOT)).toBe(reopened.event_id);
  });

  it('knows nothing of an event that is not there', () => {
    expect(whyOf(initialCauses(), 'ses_x.1' as never)).toEqual([]);
  });
});

describe('waits of a run', () => {
  it('are gone when the run has ended', () => {
    const { events } = session();
    expect([...events.slice(0, 8).reduce(foldWaits, initialWaits()).values()]).toMatchObject([
      { run: ROOT, wait: 'w1', kind: 'permission', tool: 'shell', question: 'to test:\n  | npm test' },
    ]);
    expect(events.reduce(foldWaits, initialWaits()).size).toBe(0);
  });
});
