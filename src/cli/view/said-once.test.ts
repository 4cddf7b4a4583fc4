import { expect, it } from 'vitest';
import { eventList, started } from '../../../test/support/event-list.ts';
import type { RunId } from '../../base/ids.ts';
import { timelineLine } from '../../projections/timeline.ts';
import { createSaidOnce } from './said-once.ts';

it('what failed anew says why anew, and no line is empty', () => {
  const list = eventList();
  started(list, 'house');
  for (const run of ['run_first01' as RunId, 'run_second1' as RunId]) {
    started(list, 'far', {}, { run });
    list.add('model.request', { turn: 1, model: 'a2a:far', added: [] }, { run });
    const error = { kind: 'network', message: 'far: nobody is there', peer: true } as const;
    list.add('model.failed', { turn: 1, model: 'a2a:far', attempt: 5, error, final: true }, { run });
    const ended = { code: 'peer_network', message: error.message };
    list.add('task.error', ended, { run });
  }
  const printed: string[] = [];
  const once = createSaidOnce(({ text }) => printed.push(text));
  const agents = new Map<RunId, string>();
  for (const event of list.events) once.event(event, timelineLine(agents, event));
  once.end(undefined);
  expect(printed.filter((text) => text.includes('gave up'))).toEqual([
    expect.stringContaining('far: nobody is there'),
    expect.stringContaining('far: nobody is there'),
  ]);
  expect(printed.filter((text) => text.trim() === '')).toEqual([]);
});
