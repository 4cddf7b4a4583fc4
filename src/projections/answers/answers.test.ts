/** The folds behind the questions, on sessions that are written by hand: every way to end, and every reason not to be called. */
import { describe, expect, it } from 'vitest';
import { answered, type EventList, eventList, ROOT, started } from '../../../test/support/event-list.ts';
import type { RunId } from '../../base/ids.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { costDrivers, foldCostDrivers, initialCostDrivers } from './cost-drivers.ts';
import { endingOf, foldEnding, initialEnding } from './ending.ts';
import { absences, foldAbsence, initialAbsence } from './not-called.ts';

const CHILD = 'run_child1' as RunId;

function begun(more: Partial<Payloads['session.config']> = {}): EventList {
  const list = eventList();
  list.add('session.started', { workspace: '/w' });
  started(list, 'fixer');
  const tools = ['read', 'shell'].map((name) => ({ name, description: '', inputSchema: {}, replay: 'safe' as const }));
  list.add('session.config', { agent: 'fixer', definition: { tools: ['read', 'shell', 'mcp'] }, system: '', tools, ...more });
  return list;
}

const end = (list: EventList, more: Partial<Payloads['run.ended']>) =>
  list.add('run.ended', {
    ...{ status: 'failed', report: { format: 'text', body: 'No.' }, finalAgent: 'fixer', verification: { state: 'unchecked' } },
    ...more,
  });

const failed = (list: EventList, attempt: number, final: boolean) =>
  list.add('model.failed', { turn: 1, model: 'm', attempt, final, error: { kind: 'overloaded', message: 'busy' } });

describe('why a run stopped', () => {
  const ending = (list: EventList) => endingOf(list.events.reduce(foldEnding, initialEnding(ROOT)));

  it.each<readonly [string, (list: EventList) => unknown, object]>([
    ['is at work', () => undefined, { reason: 'working', event: null }],
    [
      'waits for a person',
      (list) => list.add('task.clarify', { wait: 'w', question: 'Which one?' }, { run: CHILD }),
      { reason: 'waiting', because: [{ event: 'ses_test.4', text: 'asks: Which one?' }] },
    ],
    [
      'was paused by somebody',
      (list) => {
        list.add('run.signalled', { signal: 'pause', by: 'ann', where: 'api', reason: 'lunch' });
        list.add('run.paused', { reason: 'asked to' });
      },
      { reason: 'paused', because: [{ event: 'ses_test.4', text: 'ann (api) asked to pause it: lunch' }] },
    ],
    [
      'was cancelled',
      (list) => {
        list.add('run.signalled', { signal: 'cancel', by: 'ann' });
        end(list, { status: 'cancelled' });
      },
      { reason: 'cancelled', event: 'ses_test.5', because: [{ event: 'ses_test.4', text: 'ann asked to cancel it' }] },
    ],
    [
      'has used up its budget',
      (list) => end(list, { status: 'budget_exhausted', error: { code: 'budget_exhausted', message: 'All of $1 is spent.' } }),
      { reason: 'budget', text: 'All of $1 is spent.' },
    ],
    [
      'could not reach its model',
      (list) => {
        failed(list, 1, false);
        failed(list, 2, true);
        end(list, { error: { code: 'model_overloaded', message: 'The model is busy.' } });
      },
      {
        ...{ reason: 'provider', text: 'The model is busy.', event: 'ses_test.6' },
        because: [
          { event: 'ses_test.4', text: 'turn 1, attempt 1 at m: overloaded, busy' },
          { event: 'ses_test.5', text: 'turn 1, attempt 2 at m: overloaded, busy' },
        ],
      },
    ],
    [
      'stands still',
      (list) => list.add('run.parked', { reason: 'key', error: { code: 'model_auth', message: 'The key is refused.' } }),
      { reason: 'parked', text: 'It stands still: The key is refused.' },
    ],
    [
      'goes on after its end',
      (list) => {
        end(list, { error: { code: 'model_auth', message: 'no' } });
        list.add('run.reopened', { undone: [4] });
      },
      { reason: 'working' },
    ],
    ['said itself that it failed', (list) => end(list, {}), { reason: 'failed', text: 'No.' }],
    [
      'was answered by another',
      (list) => end(list, { status: 'completed', finalAgent: 'writer', turns: 2 }),
      { reason: 'answered', text: 'Writer gave its answer in turn 2; unchecked: nothing was claimed and nothing demanded.' },
    ],
  ])('%s', (_name, tell, expected) => {
    const list = begun();
    tell(list);
    expect(ending(list)).toMatchObject(expected);
  });
});

describe('why a tool was not called', () => {
  const why = (list: EventList, name: string) =>
    absences(list.events.reduce(foldAbsence, initialAbsence(name))).map(
      ({ reason, text, event }) => `${reason} ${event}: ${text}`,
    );

  function asked(list: EventList, name: string): void {
    list.add('model.request', { turn: 1, model: 'm', added: [] });
    const content = [{ type: 'tool-call' as const, id: 'c', name, input: {} }];
    const said = { turn: 1, finish: 'tool-calls', usage: {}, requested: 'm', served: 'm', attempts: 1, durationMs: 1 } as const;
    list.add('model.response', { ...said, message: { role: 'assistant', content } });
  }

  const refused = (list: EventList, name: string, text: string) =>
    list.add(
      'tool.result',
      { id: 'c', name, content: [{ type: 'text', text }], isError: true, durationMs: 0 },
      { step: 'turn/1/tool/0' },
    );

  it('was called after all', () => {
    const list = begun();
    asked(list, 'shell');
    list.add('tool.call', { turn: 1, id: 'c', name: 'shell', replay: 'never' }, { step: 'turn/1/tool/0' });
    expect(why(list, 'shell')).toEqual(['called ses_test.6: it was called once']);
  });

  it('somebody said no, or nobody answered', () => {
    for (const [answer, expected] of [
      [
        { kind: 'denied', note: 'not on main' },
        'denied_by_person ses_test.6: asked for, and not made: ann (inbox) said no: not on main',
      ],
      [{ kind: 'expired' }, 'unanswered ses_test.6: asked for, and not made: nobody answered in time'],
    ] as const) {
      const list = begun();
      asked(list, 'shell');
      list.add('approval.answered', { wait: 'turn/1/tool/0/approval/2', answer, by: 'ann', where: 'inbox' });
      refused(list, 'shell', 'Not run: the user said no.');
      expect(why(list, 'shell')).toEqual([expected]);
    }
  });

  it('a rule of the settings, a limit, broken arguments, a run that was left', () => {
    for (const [text, reason] of [
      ['Not run: this agent may not use shell (permissions).', 'denied_by_rule'],
      ['Not run: this session is read-only, so nothing is changed.', 'denied_by_rule'],
      ['Not run: at most 16 tool calls are allowed in one turn (maxToolCallsPerTurn).', 'at_a_limit'],
      ['Not run: the arguments are not valid JSON and could not be repaired.', 'malformed'],
      ['Not run: the run was cancelled.', 'not_made'],
    ] as const) {
      const list = begun();
      asked(list, 'shell');
      refused(list, 'shell', text);
      expect(why(list, 'shell')[0]).toMatch(new RegExp(`^${reason} ses_test.6: asked for, and not made: `));
    }
    const left = begun();
    asked(left, 'shell');
    expect(why(left, 'shell')).toEqual(['not_made ses_test.5: asked for, and the run stopped before it was made']);
  });

  it('it was not offered, not there, not listed', () => {
    const list = begun();
    list.add('model.request', { turn: 1, model: 'm', added: [], tools: ['read'] });
    answered(list, 1);
    expect(why(list, 'shell')).toEqual(['withheld ses_test.3: it has it, but it was offered in none of its 1 turns']);
    expect(why(list, 'mcp')).toEqual(['not_there ses_test.3: its file lists it, but it was not there when the run was set up']);
    expect(why(list, 'fetch')).toEqual(['not_in_list ses_test.3: not among its tools: it has read, shell']);
    expect(why(list, 'read')).toEqual(['never_asked ses_test.3: offered in 1 of 1 turns, and the model never asked for it']);
  });
});

it('why it was dear: exact sums by agent, turn, failed attempts, and what was sent again', () => {
  const list = begun();
  answered(list, 1, { tokens: [100, 10], nanoUsd: 1_000 });
  failed(list, 1, false);
  answered(list, 2, { tokens: [300, 20], nanoUsd: 3_000 });
  answered(list, 3, { tokens: [250, 20], nanoUsd: 2_500 });
  started(list, 'writer', { origin: { kind: 'pattern', parent: ROOT, role: 'worker' } }, { run: CHILD });
  answered(list, 1, { tokens: [50, 5], nanoUsd: 500 }, { run: CHILD });
  const { total, agents, turns, retries, growth } = costDrivers(list.events.reduce(foldCostDrivers, initialCostDrivers()));
  expect(total).toMatchObject({ calls: 4, inputTokens: 700, nanoUsd: 7_000 });
  expect(agents.map(({ agent, runs, spent }) => [agent, runs, spent.nanoUsd])).toEqual([
    ['fixer', 1, 6_500],
    ['writer', 1, 500],
  ]);
  expect(turns.map(({ agent, turn, nanoUsd }) => `${agent} ${turn} ${nanoUsd}`)).toEqual([
    ...['fixer 2 3000', 'fixer 3 2500', 'fixer 1 1000', 'writer 1 500'],
  ]);
  expect(retries).toMatchObject({ failedAttempts: 1, answersAfterFailure: 0, spent: { calls: 0 } });
  // The second request had the 100 of the first; the third was condensed, and none of it can be more than it is.
  expect(growth).toEqual([
    { run: ROOT, agent: 'fixer', turns: 3, firstInputTokens: 100, lastInputTokens: 250, sentAgainTokens: 350, inputTokens: 650 },
  ]);
});
