import { expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { type AssistantState, orchestrationText } from './service-context.ts';

const state = (index: number, status: AssistantState['status'], unread = 0): AssistantState => ({
  assistant_id: `agent-${index}`,
  process_id: `run_${index}`,
  thread_id: `thr_${index}`,
  status,
  unread,
});

it('counts first, then names assistants: those at work before the newest of the others', () => {
  const text = orchestrationText([state(1, 'finished', 2), state(2, 'running'), state(3, 'failed'), state(4, 'starting')], 2);
  expect(text.split('\n')).toEqual([
    '# Assistant Orchestration',
    '- Running: 2',
    '- Pending Messages: 2',
    '- agent-2: running (process_id run_2, thread_id thr_2)',
    '- agent-4: starting (process_id run_4, thread_id thr_4)',
    '- agent-3: failed (process_id run_3, thread_id thr_3)',
    '- agent-1: finished, 2 unread (process_id run_1, thread_id thr_1)',
  ]);
});

it('the service context stays short however many assistants there are', () => {
  const many = Array.from({ length: 64 }, (_, index) => state(index, 'running'));
  const lines = orchestrationText(many, 0).split('\n');
  expect(lines).toHaveLength(3 + limits.contextAssistants + 1);
  expect(lines.at(-1)).toBe(`- and ${64 - limits.contextAssistants} more assistants`);
});
