import picocolors from 'picocolors';
import { expect, it } from 'vitest';
import { answered, eventList, ROOT, SESSION, started } from '../../../test/support/event-list.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { readWhy } from '../../front/looking/why.ts';
import { foldCauses, initialCauses, resultEvent, whyOf } from '../../projections/why.ts';
import { whyLines } from './why.ts';

const COMMAND = `echo ${'harmless '.repeat(30)}; touch last`;
const paint = picocolors.createColors(false);

/** A call that was asked about twice, and approved both times. */
function causesOf() {
  const list = eventList();
  list.add('session.started', { workspace: '/w' });
  started(list, 'fixer');
  list.add('model.request', { turn: 1, model: 'test/model', added: [] });
  answered(list, 1, { text: 'I try.', nanoUsd: 1, tokens: [1, 1] });
  for (const [index, wait] of ['s1/t0/approval', 's1/t0/approval/2', 's1/t1/approval'].entries()) {
    const command = [`echo old`, COMMAND, 'echo other'][index] ?? '';
    list.add('approval.asked', { wait, tool: 'shell', input: { command }, why: 'to try' }, { step: wait, cause: 4 });
    list.add('approval.answered', { wait, answer: { kind: 'approved' }, by: 'ann@desk', where: 'inbox' });
  }
  list.add('tool.call', { turn: 1, id: 'a', name: 'shell', replay: 'never' }, { step: 's1/t0', cause: 4 });
  return list.events.reduce(foldCauses, initialCauses());
}

it('all of what was approved stands below the call, on a narrow screen in several lines, with who approved it and where', () => {
  const causes = causesOf();
  const newest = resultEvent(causes, ROOT);
  if (newest === undefined) throw new Error('nothing happened');
  const lines = whyLines(causes, whyOf(causes, newest), { all: false, width: 60, paint });
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  const text = lines.map((line) => line.replace(/^ {8}/, '').replace(/ \[\d+\]$/, '')).join('');
  expect(text).toContain(COMMAND.slice(-80));
  expect(text).toContain('approved by ann@desk (inbox)');
  expect(text).not.toMatch(/old|other/);
});

it('of a run that waits, who asks what comes first, whole; more questions stand beside it', async () => {
  const question = `Which of these is meant: ${'this one or '.repeat(9)}that one?`;
  const list = eventList();
  list.add('session.started', { workspace: '/w' });
  started(list, 'lead');
  answered(list, 1, { text: 'I ask.', nanoUsd: 1, tokens: [1, 1] });
  list.add('task.clarify', { wait: 'c', question }, { cause: 3 });
  list.add('approval.asked', { wait: 'w', tool: 'shell', input: { command: 'ls' }, why: 'to look' }, { cause: 3 });
  list.add('run.resumed', { owner: 'me', takenOver: false }, { cause: 2 });
  const read = async ({ after = 0 }): Promise<readonly LedgerEvent[]> => list.events.filter(({ position }) => position > after);
  const { causes, chain } = await readWhy({ read }, SESSION, { run: ROOT });
  const lines = whyLines(causes, chain, { all: false, width: 60, paint });
  expect(lines.map((line) => line.replace(/^ {8}/, '').replace(/ \[\d+\]$/, '')).join('')).toContain(
    `lead: asks you: ${question}`,
  );
  expect(lines.join('\n')).toMatch(/ {4}and [\d:]+ lead: asks to use shell: ls \[5\]/);
  expect(lines.join('\n')).not.toContain('resumed');
});
