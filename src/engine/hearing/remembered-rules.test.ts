import { describe, expect, it } from 'vitest';
import { type EventList, eventList } from '../../../test/support/event-list.ts';
import { createRememberedRules } from './remembered-rules.ts';

const by = { by: 'me@here', where: 'command' } as const;

/** Asked and answered with "always". */
function always(list: EventList, command: string): void {
  const wait = `wait/${list.events.length}`;
  list.add('approval.asked', { wait, tool: 'shell', input: { command }, why: 'x', rule: `shell ${command}` });
  list.add('approval.answered', { wait, answer: { kind: 'approved', remember: true } });
}

function remembered(list: EventList, before: { readonly approved: readonly string[]; readonly at: number }, backwards = false) {
  const rules = createRememberedRules();
  rules.restore(before);
  const taken = list.events.filter(({ event_type }) => event_type === 'approval.withdrawn');
  const rest = list.events.filter(({ event_type }) => event_type !== 'approval.withdrawn');
  for (const event of backwards ? [...rest, ...taken] : [...taken, ...rest]) rules.apply(event);
  return rules.all().map(({ pattern }) => pattern);
}

const NONE = { approved: [], at: 0 };

describe('what is remembered', () => {
  it.each([false, true])('is what was not taken back since, in whatever order it is heard', (backwards) => {
    const list = eventList();
    for (const command of ['a', 'b', 'c']) always(list, command);
    list.add('approval.withdrawn', { rule: 'shell a', ...by });
    list.add('approval.withdrawn', { rule: 'shell b', ...by });
    always(list, 'b');
    expect(remembered(list, NONE, backwards)).toEqual(['b', 'c']);
    list.add('approval.withdrawn', by);
    expect(remembered(list, NONE, backwards)).toEqual([]);
    always(list, 'c');
    expect(remembered(list, NONE, backwards)).toEqual(['c']);
  });

  it('has what earlier runs left, unless it was taken back after they had written it down', () => {
    const list = eventList();
    const first = list.add('approval.withdrawn', { rule: 'shell a', ...by }).position;
    const approved = ['shell a', 'shell b'];
    expect(remembered(list, { approved, at: first })).toEqual(['a', 'b']);
    list.add('approval.withdrawn', { rule: 'shell a', ...by });
    expect(remembered(list, { approved, at: first })).toEqual(['b']);
  });

  it('has nothing that was approved once, denied, changed or answered too late', () => {
    const list = eventList();
    const answers = [
      { kind: 'approved' },
      { kind: 'denied' },
      { kind: 'approved', remember: true, input: { command: 'z' } },
      { kind: 'expired' },
    ] as const;
    for (const [index, answer] of answers.entries()) {
      list.add('approval.asked', { wait: `${index}`, tool: 'shell', input: { command: 'a' }, why: 'x', rule: 'shell a' });
      list.add('approval.answered', { wait: `${index}`, answer });
    }
    expect(remembered(list, NONE)).toEqual([]);
  });
});
