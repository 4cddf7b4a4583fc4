/**
 * The end of a run and what is said to it at the same moment: whoever was told "accepted" is heard, or is told that it was too
 * late.
 */
import { describe, expect, it } from 'vitest';
import { resultOf, start, statesOf } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { answeredWith, atWindow, comesIn, lateWriter, signalled } from '../../../test/support/windows.ts';
import { agent, type Brain, calls, reports, says, turnOf } from '../../../test/support/world.ts';
import { createMessageService } from '../../assistants/threads/message-service.ts';
import { systemClock } from '../../base/clock.ts';
import { createIds, eventId, type RunId, type SessionId, threadOf } from '../../base/ids.ts';
import { seededRandom } from '../../base/random.ts';
import type { Append, Ledger, NewEvent } from '../../ledger/port.ts';
import { receiveInput } from '../../tools/assistants/schemas.ts';
import { readAll } from '../record/read-all.ts';

const RUN = 'run_0000000000000closing' as RunId;
const SESSION = 'ses_0000000000000closing' as SessionId;
const THREAD = threadOf(RUN);
const ids = { run: RUN, session: SESSION, origin: { kind: 'client', by: 'client' } as const };

const created = keptWorlds();

const ends = (request: Append): boolean => request.events.some((event) => event.type === 'run.ended' && event.run === RUN);
const atTheEnd = (news: readonly NewEvent[]) => atWindow({ beforeAppend: ends }, (inner) => comesIn(inner, SESSION, news));

const message = (text: string): NewEvent => ({
  ...{ type: 'message.sent', run: RUN, actor: 'user', cause: eventId(SESSION, 1), step: 'message/m1', at: 1 },
  payload: {
    ...{ message: 'm1', thread: THREAD, from: { assistant: 'client' }, to: { assistant: 'worker', run: RUN } },
    ...{ content: text, fence: 'f' },
  },
});

const heardIn = (request: unknown, text: string): boolean => JSON.stringify(request).includes(text);

const service = (ledger: Ledger) =>
  createMessageService({ ledger, clock: systemClock, ids: createIds(systemClock, seededRandom(1)) });
const call = { signal: new AbortController().signal };
const client = { kind: 'client', name: 'client' } as const;

describe('a message that comes while a run ends', () => {
  it('is heard before it ends', async () => {
    const heard: number[] = [];
    const brain: Brain = (asked) => {
      if (heardIn(asked.messages, 'one more thing')) heard.push(turnOf(asked));
      return says(`Answer ${turnOf(asked)}.`);
    };
    const { wrapLedger, happened } = atTheEnd([message('one more thing')]);
    const world = created({ brain, wrapLedger });
    const result = await resultOf(await start(world, ids));
    expect(happened()).toBe(true);
    expect(heard).toEqual([2]);
    expect(result).toMatchObject({ status: 'completed', report: { body: 'Answer 2.' } });
    expect(await world.ledger.runs({ run: RUN })).toMatchObject([{ state: 'completed', owner: null }]);
  });

  it('is given back, and its sender told, when there is no turn left', async () => {
    const { wrapLedger } = atTheEnd([message('one more thing')]);
    const world = created({ brain: () => says('Done.'), agents: [agent({ maxTurns: 1 })], wrapLedger });
    expect(await resultOf(await start(world, ids))).toMatchObject({ status: 'completed' });
    const received = await service(world.ledger).receive(client, receiveInput.parse({ thread_id: THREAD }), call);
    expect(JSON.stringify(received)).toMatch(/came too late, worker ended without having read it: \w/);
  });

  it('is refused by its name after the end, however late the sender looked', async () => {
    const world = created({ brain: () => says('Done.') });
    const gate = Promise.withResolvers<void>();
    const sending = Promise.withResolvers<void>();
    const late: Ledger = {
      ...world.ledger,
      append: async (request) => {
        sending.resolve();
        await gate.promise;
        return await world.ledger.append(request);
      },
    };
    const held = Promise.withResolvers<void>();
    const slow = created({
      ledger: world.ledger,
      brain: async () => {
        await held.promise;
        return says('Done.');
      },
    });
    const handle = await start(slow, ids);
    const sent = service(late).send(client, { thread_id: THREAD, to_assistant_id: 'worker', message: 'Hello?' }, call);
    await sending.promise;
    held.resolve();
    await resultOf(handle);
    gate.resolve();
    expect(await sent).toMatchObject({ ok: false, error: { code: 'ended' } });
    const types = (await readAll(world.ledger, SESSION)).map(({ event_type }) => event_type);
    expect(types.at(-1)).toBe('run.ended');
  });
});

describe('a cancel that comes while a run ends', () => {
  it('has its effect', async () => {
    const { wrapLedger, happened } = atTheEnd([signalled(SESSION, RUN, 'cancel')]);
    const world = created({ brain: () => reports('All done.'), wrapLedger });
    const result = await resultOf(await start(world, ids));
    expect(happened()).toBe(true);
    expect(result).toMatchObject({ status: 'cancelled', report: { body: 'All done.' } });
    expect(world.outside.modelCalls).toHaveLength(1);
  });

  it('has its effect on what ends below the run, too', async () => {
    const helperEnds = ({ events }: Append): boolean => events.some(({ type, run }) => type === 'run.ended' && run !== RUN);
    const { wrapLedger, happened } = atWindow({ beforeAppend: helperEnds }, (inner) =>
      comesIn(inner, SESSION, [signalled(SESSION, RUN, 'cancel')]),
    );
    const brain: Brain = (asked) =>
      asked.agent === 'helper' ? reports('Helped.') : calls({ name: 'helper', input: { prompt: 'Help', reason: 'need' } });
    const world = created({ brain, agents: [agent({ agents: ['helper'] }), agent({ name: 'helper' })], wrapLedger });
    const handle = await start(world, ids);
    expect(await resultOf(handle)).toMatchObject({ status: 'cancelled' });
    expect(happened()).toBe(true);
    expect(await statesOf(world, handle)).toEqual(['helper cancelled', 'worker cancelled']);
  });

  it('is told that it was too late when the end was first', async () => {
    const { looked, letGo, wrapLedger } = lateWriter();
    const world = created({ brain: () => looked.then(() => says('Done.')) });
    const outside = created({ ledger: world.ledger, brain: () => says(''), wrapLedger });
    const handle = await start(world, ids);
    const cancelling = outside.engine.cancel(RUN, 'enough');
    expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
    letGo();
    expect(await cancelling).toEqual({ kind: 'ended' });
  });
});

describe('two answers to one question', () => {
  it('one counts, and whoever gave the other is told', async () => {
    const wait = 'turn/1/tool/0/approval';
    const brain: Brain = (asked) => (turnOf(asked) === 1 ? calls({ name: 'act' }) : reports('Done.'));
    const agents = [agent({ permissions: { act: 'ask' } })];
    const isAnswer = (request: Append): boolean => request.events.some(({ type }) => type === 'approval.answered');
    const { wrapLedger, happened } = atWindow({ beforeAppend: isAnswer }, (inner) =>
      comesIn(inner, SESSION, [answeredWith(SESSION, RUN, wait, { kind: 'denied', note: 'the first' })]),
    );
    const world = created({ brain, agents, wrapLedger });
    const handle = await start(world, ids);
    expect(await handle.done).toMatchObject({ kind: 'waiting' });
    const told = { kind: 'answered', first: { answer: { kind: 'denied', note: 'the first' } } };
    expect(await world.engine.answer(RUN, wait, { kind: 'approved' })).toMatchObject(told);
    expect(happened()).toBe(true);
    expect(await world.engine.answer(RUN, wait, { kind: 'approved' })).toMatchObject(told);
    expect(world.outside.effects).toEqual([]);
  });
});
