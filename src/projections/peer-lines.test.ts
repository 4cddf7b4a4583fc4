import { expect, it } from 'vitest';
import { eventList, started } from '../../test/support/event-list.ts';
import { foldTimeline, initialTimeline } from './timeline.ts';

it.each([
  { payload: { reached: true, state: 'canceled' }, line: 'info: the task there was cancelled' },
  { payload: { reached: true, state: 'working' }, line: 'warn: the task there was told to end, and is working' },
  { payload: { reached: true, state: 'ended' }, line: 'info: the task there had ended, or is not known there any more' },
  {
    payload: { reached: false, why: 'nobody\nis there' },
    line: 'warn: the task there could not be cancelled: nobody is there',
  },
])('says whether a peer has confirmed the end of its task: $line', ({ payload, line }) => {
  const list = eventList();
  list.add('session.started', { workspace: '/w' });
  started(list, 'far');
  list.add('peer.cancelled', { task: 'task-1', ...payload });
  const { lines } = list.events.reduce(foldTimeline, initialTimeline());
  expect(lines.map(({ level, text }) => `${level}: ${text}`)).toContain(line);
});
