import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Party } from '../events/assistants.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { createSessionThreads } from './threads.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const parties: readonly Party[] = [
  { assistant: 'lead', run: 'run_1' },
  { assistant: 'coder', run: 'run_2' },
  { assistant: 'ann' },
  // A client that calls itself like a run, and an agent like a client.
  { assistant: 'run_1' },
  { assistant: 'ann', run: 'run_3' },
];
const names = ['thr_1', 'thr_2'] as const;

const event = (event_type: string, payload: object, index: number, step: string | null = null): LedgerEvent =>
  ({
    event_type,
    payload,
    step,
    run_id: 'run_1',
    event_id: `ses_1.${index}`,
    timestamp: new Date(START + index).toISOString(),
    position: index,
  }) as unknown as LedgerEvent;

const sent = (message: string, thread: string, from: Party, to: Party, index: number): LedgerEvent =>
  event('message.sent', { message, thread, from, to, content: message, fence: 'f' }, index, `message/${message}`);

const party = fc.constantFrom(...parties);
const id = fc.integer({ min: 0, max: 12 }).map(String);
const change = fc.oneof(
  fc.record({ kind: fc.constant('sent' as const), id, thread: fc.constantFrom(...names), from: party, to: party }),
  fc.record({ kind: fc.constant('included' as const), id }),
  fc.record({ kind: fc.constant('read' as const), id, reader: party }),
);

describe('the threads of a session', () => {
  it('knows what was sent to whom and who has read it, as a plain list of everything does', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const threads = createSessionThreads();
        const plain: { id: string; thread: string; to: Party; at: number; readAt: number | null }[] = [];
        for (const [index, one] of changes.entries()) {
          const known = plain.find((message) => message.id === one.id);
          if (one.kind === 'sent') {
            threads.apply(sent(one.id, one.thread, one.from, one.to, index));
            if (known === undefined) plain.push({ id: one.id, thread: one.thread, to: one.to, at: START + index, readAt: null });
          } else if (one.kind === 'included') {
            threads.apply(event('message.included', { message: one.id, thread: 'thr_1', reader: 'x', request: 'turn/1' }, index));
            if (known !== undefined) known.readAt ??= START + index;
          } else {
            threads.apply(event('message.read', { message: one.id, thread: 'thr_1', reader: one.reader }, index, 'read/1'));
            const { to } = known ?? {};
            const isReader = to?.run === one.reader.run && (to?.run !== undefined || to?.assistant === one.reader.assistant);
            if (known !== undefined && isReader) known.readAt ??= START + index;
          }
          for (const thread of names) {
            const inThread = plain.filter((message) => message.thread === thread);
            expect(threads.messages(thread).map((message) => [message.id, message.readAt])).toEqual(
              inThread.map((message) => [message.id, message.readAt]),
            );
            for (const reader of parties) {
              const received = inThread.filter(
                ({ to }) => to.run === reader.run && (to.run !== undefined || to.assistant === reader.assistant),
              );
              const unread = received.filter(({ readAt }) => readAt === null);
              expect(threads.summary(thread, reader)).toEqual({
                total: inThread.length,
                received: received.length,
                unread: unread.length,
                lastAt: inThread.at(-1)?.at ?? null,
                oldestUnreadAt: unread[0]?.at ?? null,
              });
            }
          }
        }
      }),
    );
  });

  it('remembers which request carried a message, and which call marked it', () => {
    const threads = createSessionThreads();
    const [lead, coder] = parties as readonly [Party, Party];
    threads.apply(sent('m', 'thr_1', lead, coder, 1));
    threads.apply(event('message.included', { message: 'm', thread: 'thr_1', reader: 'run_2', request: 'turn/3/model' }, 2));
    threads.apply(event('message.read', { message: 'm', thread: 'thr_1', reader: coder }, 3, 'read/call'));
    expect(threads.messages('thr_1')).toMatchObject([{ includedIn: 'turn/3/model', markedIn: 'read/call', readAt: START + 2 }]);
  });

  it('looks at each message a few times, with a question after every one', () => {
    const [lead, coder] = parties as readonly [Party, Party];
    const threads = createSessionThreads();
    const count = 2_000;
    let looks = 0;
    for (let index = 0; index < count; index += 1) {
      threads.apply(sent(String(index), 'thr_1', lead, coder, index));
      const message = threads.messages('thr_1').at(-1) as object;
      let readAt: unknown = null;
      const get = (): unknown => {
        looks += 1;
        return readAt;
      };
      const set = (value: unknown): void => {
        readAt = value;
      };
      Object.defineProperty(message, 'readAt', { get, set });
      threads.summary('thr_1', coder);
      threads.apply(event('message.included', { message: String(index), thread: 'thr_1', reader: 'run_2', request: 't' }, index));
      threads.summary('thr_1', coder);
    }
    // A question that walked the thread would look a million times.
    expect(looks).toBeGreaterThanOrEqual(count);
    expect(looks).toBeLessThan(count * 10);
  });
});
