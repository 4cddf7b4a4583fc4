/** Threads as `troupe show` prints them, from a real ledger. */
import { describe, expect, it } from 'vitest';
import { got, openFamily, quietly, reading, type TestProcess, writing } from '../../../test/support/assistants/family.ts';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { threadsOf } from '../../front/shown-threads.ts';
import { readEvents } from '../../ledger/pages.ts';
import { createProcesses } from '../../projections/processes.ts';
import { foldRunTree, initialRunTree, subtree } from '../../projections/run-tree.ts';
import { createSessionThreads } from '../../projections/threads.ts';
import { createScreen } from '../terminal/terminal.ts';
import { textWidth } from '../terminal/text-width.ts';
import { threadLines } from './thread-lines.ts';

const { paint } = createScreen({ write: () => undefined }, false);

async function shown({ ledger }: ReturnType<typeof openFamily>, root: TestProcess) {
  const [tree, sessionThreads, processes] = [initialRunTree(), createSessionThreads(), createProcesses()];
  for await (const event of readEvents(ledger, { session: root.session })) {
    foldRunTree(tree, event);
    sessionThreads.apply(event);
    processes.apply(event);
  }
  return threadsOf({ sessionThreads, processes }, subtree(tree, root.run), systemClock.now());
}

describe('threads as lines and as JSON', () => {
  it('say of each message what became of it', async () => {
    const family = openFamily();
    const lead = await family.root('lead');
    const scout = await family.child(lead, 'scout');
    const send = (by: TestProcess, to: string, text: string) =>
      got(family.service.send(by.caller, writing(scout, to, text), quietly));
    await send(lead, 'scout', 'First.');
    await got(family.service.receive(scout.caller, reading(scout, { mark_as_read: true }), quietly));
    await send(lead, 'scout', 'Second,\nwith \u001b[2J a second line.');
    await send(scout, 'lead', 'An answer.');
    const [, , third] = (await shown(family, lead))[0]?.messages ?? [];
    const receipt = { message: third?.id ?? '', thread: scout.thread, reader: lead.run, request: 'turn/4/model' };
    await family.write(lead, { type: 'message.included', payload: receipt, step: 'included' });

    const threads = await shown(family, lead);
    expect(threads).toMatchObject([{ thread: scout.thread, process: scout.run, agent: 'scout', status: 'starting', total: 3 }]);
    expect(threadLines(threads, paint, 100)).toEqual([
      `thread ${scout.thread} of scout: starting, 3 messages`,
      expect.stringMatching(/^ {2}lead → scout {2}“First\.” {2}read after \d+ms$/),
      expect.stringMatching(/^ {2}lead → scout {2}“Second, with .* a second line\.” {2}unread for \d+ms$/),
      expect.stringMatching(/^ {2}scout → lead {2}“An answer\.” {2}in turn 4 after \d+ms$/),
    ]);
    expect(threadLines(threads, paint, 100).join('')).not.toContain('\u001b');
    for (const line of threadLines(threads, paint, 40)) expect(textWidth(line)).toBeLessThanOrEqual(40);

    await family.end(scout);
    expect((await shown(family, lead))[0]?.messages[1]).toMatchObject({ readAt: null, lagMs: null });
    expect(threadLines(await shown(family, lead), paint, 100)[2]).toMatch(/never read$/);
    await family.ledger.close();
  });

  it('are bounded, in lines and in JSON', async () => {
    const family = openFamily();
    const lead = await family.root('lead');
    for (let index = 0; index < 25; index += 1) {
      const child = await family.child(lead, `child-${index}`);
      if (index > 0) continue;
      for (let sent = 0; sent < limits.messagesPerRead + 10; sent += 1)
        await got(family.service.send(lead.caller, writing(child, 'child-0', `message ${sent}`), quietly));
    }
    const threads = await shown(family, lead);
    expect(threads[0]?.messages).toHaveLength(limits.messagesPerRead);
    const lines = threadLines(threads, paint, 120);
    expect(lines).toHaveLength(20 + 1 + 8 + 1);
    expect(lines[1]).toBe('  … 202 earlier: --json');
    expect(lines.at(-1)).toBe('… 5 more threads: --json');
    await family.ledger.close();
  });
});
