import picocolors from 'picocolors';
import { expect, it } from 'vitest';
import { answered, eventList, ROOT, started, startedAt } from '../../../test/support/event-list.ts';
import { foldRunTree, initialRunTree } from '../../projections/run-tree.ts';
import { afterFailure } from './after-failure.ts';
import { summarise, summaryLines } from './run-summary.ts';

const paint = picocolors.createColors(false);

function linesAfter(change: (list: ReturnType<typeof eventList>) => void): string {
  const list = eventList();
  started(list, 'writer');
  list.add('model.request', { turn: 1, model: 'test/model', added: [] });
  change(list);
  const report = { format: 'text', body: 'So far' } as const;
  list.add('run.ended', { status: 'completed', report, finalAgent: 'writer', turns: 1, verification: { state: 'unchecked' } });
  const tree = list.events.reduce(foldRunTree, initialRunTree());
  const node = tree.runs.get(ROOT);
  if (node === undefined) throw new Error('the run is not there');
  return summaryLines(summarise(tree, node, { session: 's', ledger: 'l', now: startedAt(9) }), { paint, call: 'troupe' }).join(
    '\n',
  );
}

it('says that an answer was cut, and what was not reported', () => {
  const answer = (finish: 'stop' | 'length', usage: { inputTokens?: number }) =>
    linesAfter((list) =>
      list.add('model.response', {
        ...{ turn: 1, finish, usage, requested: 'test/model', served: 'test/model', attempts: 1, durationMs: 1 },
        message: { role: 'assistant', content: [{ type: 'text', text: 'So far' }] },
      }),
    );
  expect(answer('length', {})).toContain('limit of one answer was reached (maxOutputTokens)');
  expect(answer('length', {})).toContain('tokens not reported');
  expect(answer('stop', { inputTokens: 5 })).not.toContain('maxOutputTokens');
  expect(answer('stop', { inputTokens: 5 })).toContain('5 tokens (5 in, 0 out)');
  expect(linesAfter((list) => answered(list, 1))).not.toContain('not reported');
});

const ALL = { code: 'all_workers_failed', message: 'Every worker failed.' };

it.each([
  ['a provider that is down', { code: 'model_network', message: 'nobody answers' }, 'resume abc123'],
  ['a model that refuses', { code: 'model_invalid_request', message: 'no such model' }, 'show abc123'],
  ['workers that failed themselves', ALL, 'retry abc123'],
  ['workers that failed for want of a provider', { ...ALL, fix: 'Go on: troupe resume abc123' }, 'resume abc123'],
])('names the command that takes it further: %s', (_what, error, command) => {
  expect(afterFailure('abc123', 'failed', error)).toBe(command);
});
