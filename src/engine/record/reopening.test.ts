/** Which ends are final, what is undone of the others, and under which terms a run goes on. */
import { describe, expect, it } from 'vitest';
import { answered, type EventList, eventList, ROOT, started } from '../../../test/support/event-list.ts';
import type { RunId } from '../../base/ids.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { ResumeTerms } from '../port.ts';
import { reopening } from './reopening.ts';
import { startedUnder, termsIn } from './standing-events.ts';

const CHILD = 'run_child1' as RunId;
const DOWN = { code: 'model_network', message: 'nobody answers' };
type Ended = Payloads['run.ended'];

function ended(list: EventList, more: Partial<Ended>, run = ROOT): number {
  const report = { format: 'text', body: 'Over.' } as const;
  const payload: Ended = { status: 'failed', report, finalAgent: 'worker', verification: { state: 'unchecked' }, ...more };
  return list.add('run.ended', payload, { run }).position;
}

/** A root that has answered once, and a run below it that found nobody to ask. */
function tree(below: Partial<Ended>, child: Partial<Payloads['run.started']> = {}): EventList {
  const list = eventList();
  started(list, 'worker', { budget: { calls: 10 } });
  answered(list, 1);
  started(list, 'helper', { origin: { kind: 'pattern', parent: ROOT, role: 'worker' }, ...child }, { run: CHILD });
  ended(list, below, CHILD);
  return list;
}

const of = ({ events }: EventList, terms: ResumeTerms = {}) => {
  const found = reopening(events, ROOT, terms);
  return found.kind === 'stays' ? found.why.code : found.runs.map(({ run, payload }) => [run, payload] as const);
};

describe('a run that ends though one below it could go on', () => {
  it('goes on with it where that made it end', () => {
    const list = tree({ error: DOWN });
    const end = ended(list, { error: { code: 'parts_failed', message: 'no part is done' } });
    expect(of(list)).toEqual([
      [ROOT, { undone: [end] }],
      [CHILD, { undone: [end - 1] }],
    ]);
  });

  it('what the question carried that nobody answered is carried by the one in its place', () => {
    const list = tree({ error: DOWN });
    const step = 'turn/2/model';
    const request = list.add('model.request', { turn: 2, model: 'test/model', added: [] }, { step }).position;
    const receipt = { message: 'm1', thread: 'thr_1', reader: ROOT, request: step };
    const included = list.add('message.included', receipt, { step: 'message/m1' }).position;
    const error = { kind: 'network', message: 'nobody answers' } as const;
    const failed = list.add('model.failed', { turn: 2, model: 'test/model', attempt: 1, error, final: true }, { step }).position;
    const end = ended(list, { error: DOWN });
    expect(of(list)).toEqual([
      [ROOT, { undone: [request, included, failed, end] }],
      [CHILD, { undone: [request - 1] }],
    ]);
  });

  it.each<[string, Partial<Ended>]>([
    ['was cancelled', { status: 'cancelled', error: { code: 'cancelled', message: 'stop' } }],
    ['gave its answer', { status: 'completed' }],
    ['said itself that it could not do it', { error: { code: 'reported_failure', message: 'I cannot' } }],
  ])('stays as it ended where it %s', (_name, end) => {
    const list = tree({ error: DOWN });
    ended(list, end);
    expect(of(list)).toBe('ended');
  });
});

it('of what the limit of time cut off, the calls that were never made are made, and no other again', () => {
  const list = eventList();
  started(list, 'worker', { budget: { wallMs: 1_000 } });
  answered(list, 1);
  const result = { name: 'act', content: [], durationMs: 1 };
  list.add('tool.call', { turn: 1, id: 'a', name: 'act', replay: 'never' }, { step: 'turn/1/tool/0' });
  list.add('tool.result', { id: 'a', ...result }, { step: 'turn/1/tool/0' });
  const cut = list.add('tool.result', { id: 'b', ...result, isError: true }, { step: 'turn/1/tool/1' }).position;
  const end = ended(list, { status: 'budget_exhausted', reason: 'time', exhausted: ROOT });
  expect(of(list, { budget: { wallMs: 1_000 } })).toBe('ended');
  expect(of(list, { budget: { wallMs: 2_000 } })).toEqual([[ROOT, { undone: [cut, end], budget: { wallMs: 2_000 } }]]);
});

it('a limit is raised for whose it was, and for nobody else', () => {
  const out = {
    status: 'budget_exhausted',
    error: { code: 'budget_exhausted', message: 'no calls left' },
    exhausted: CHILD,
  } as const;
  const list = tree(out, { budget: { calls: 1 } });
  const end = ended(list, { error: { code: 'parts_failed', message: 'no part is done' } });
  expect(of(list, { budget: { calls: 1 } })).toBe('ended');
  expect(of(list, { budget: { calls: 5 } })).toEqual([
    [ROOT, { undone: [end] }],
    [CHILD, { undone: [end - 1], budget: { calls: 5 } }],
  ]);
});

it('what was given takes the place of its limit, the last word counts, and all else stays', () => {
  const list = eventList();
  const first = started(list, 'worker', { budget: { calls: 1, tokens: 100, wallMs: 7 } });
  list.add('run.reopened', { undone: [], budget: { calls: 2, tokens: 200 }, model: 'test/one', maxTurns: 10 });
  list.add('run.reopened', { undone: [], budget: { calls: 3 }, model: 'test/two' });
  list.add('run.reopened', { undone: [], maxTurns: 20 });
  if (first.event_type !== 'run.started') throw new Error(first.event_type);
  expect(startedUnder(first.payload, list.events).budget).toEqual({ calls: 3, tokens: 200, wallMs: 7 });
  expect(termsIn(list.events)).toEqual({ model: 'test/two', maxTurns: 20 });
});
