/**
 * A message that is accepted at the very moment at which a run is condensed: it lies before the summary in the ledger, and nobody
 * had heard it when the past was cut off there. Whenever the process dies afterwards, the run hears it.
 */
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds, eventId, type RunId, type SessionId, threadOf } from '../../src/base/ids.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { RunEnd } from '../../src/engine/port.ts';
import { userText } from '../../src/events/messages.ts';
import type { Ledger, NewEvent } from '../../src/ledger/port.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import type { ModelOutcome, ModelRequest } from '../../src/models/port.ts';
import { type Tool, textResult } from '../../src/tools/port.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { agent, calls, createWorld, says, type World } from '../support/world.ts';

const DEAD_PID = 2 ** 22 + 1;
const SESSION = 'ses_0000000000condensed' as SessionId;
const RUN = 'run_0000000000000000one' as RunId;
const WORDS = 'one more thing';
const TURNS = 18;

const tool = (name: string, replay: Tool['replay']): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
  replay,
  readOnly: replay === 'safe',
  run: async (input) => textResult(`${JSON.stringify(input)} ${'lorem ipsum '.repeat(60)}`),
});

const message: NewEvent = {
  ...{ type: 'message.sent', run: RUN, actor: 'user', cause: eventId(SESSION, 1), step: 'message/m1', at: 1 },
  payload: {
    ...{ message: 'm1', thread: threadOf(RUN), from: { assistant: 'client' }, to: { assistant: 'worker', run: RUN } },
    ...{ content: WORDS, fence: 'f' },
  },
};

interface WatchedLedger {
  readonly ledger: Ledger;
  /** In how many appends the message had come: the one that it went before is the last of them. */
  comes(): number | undefined;
}

/** The message goes into the ledger right before the first summary that cuts the past off. */
function withMessage(inner: Ledger): WatchedLedger {
  let appends = 0;
  let came: number | undefined;
  const cuts = ({ type, payload }: NewEvent): boolean => type === 'task.summary' && payload.cut !== undefined;
  return {
    comes: () => came,
    ledger: {
      ...inner,
      append: (request) => {
        appends += 1;
        if (came === undefined && request.events.some(cuts)) {
          came = appends;
          void inner.append({ session: SESSION, fence: null, events: [message] });
        }
        return inner.append(request);
      },
    },
  };
}

const memory = (): Ledger =>
  openSqliteLedger({
    path: ':memory:',
    clock: systemClock,
    ids: createIds(systemClock, seededRandom(1)),
    validate: true,
    owner: { pid: DEAD_PID },
  });

const turnIn = ({ idempotencyKey }: ModelRequest): number => Number(/turn\/(\d+)\//.exec(idempotencyKey)?.[1]);
const hears = ({ messages }: ModelRequest): boolean => JSON.stringify(messages).includes(WORDS);

/** From a provider that does not say how much it read. */
const uncounted = (outcome: ModelOutcome): ModelOutcome =>
  outcome.kind === 'answer' ? { ...outcome, answer: { ...outcome.answer, usage: {} } } : outcome;

function worldOn(ledger: Ledger, answer: (request: ModelRequest) => ModelOutcome): World {
  const small = { maxTurns: TURNS + 5, contextWindow: 1_500, maxOutputTokens: 300, toolResponseMaxBytes: 400 };
  return createWorld({
    ledger,
    tools: [tool('look', 'safe'), tool('act', 'never')],
    agents: [agent({ tools: ['look', 'act'], permissions: { act: 'ask' }, ...small })],
    brain: (request) => uncounted(answer(request)),
  });
}

async function live({ engine }: World): Promise<RunEnd | undefined> {
  const request = { agent: 'worker', input: userText('Go.'), workspace: tmpdir(), run: RUN, session: SESSION };
  const started = await engine.start({ ...request, origin: { kind: 'client', by: 'client' } });
  const end = started.kind === 'started' ? await started.handle.done : undefined;
  await engine.close();
  return end;
}

const call = (name: string, turn: number): ModelOutcome => calls({ name, input: { name: String(turn) }, id: `c${turn}` });

describe('a message that comes while a run is condensed', () => {
  it.each([0, 1, 2, 3, 5, 9])('is heard when the process dies %i appends later', async (later) => {
    const heard: number[] = [];
    const answer = (request: ModelRequest): ModelOutcome => {
      const turn = turnIn(request);
      if (hears(request)) heard.push(turn);
      return turn < TURNS ? call('look', turn) : says('Done.');
    };
    const whole = withMessage(memory());
    await live(worldOn(whole.ledger, answer));
    const comes = whole.comes();
    if (comes === undefined) throw new Error('it was never condensed');
    expect(heard.length).toBeGreaterThan(0);

    const inner = memory();
    heard.length = 0;
    const watched = withMessage(inner);
    await live(worldOn(crashAt(watched.ledger, comes + later).ledger, answer));
    expect(watched.comes()).toBe(comes);
    heard.length = 0;
    expect(await live(worldOn(inner, answer))).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(heard.length).toBeGreaterThan(0);
  });

  it('is still part of the conversation after an approval', async () => {
    const heard: number[] = [];
    let first: number | undefined;
    const answer = (request: ModelRequest): ModelOutcome => {
      const turn = turnIn(request);
      if (hears(request)) heard.push(turn);
      first ??= heard[0];
      if (first !== undefined && turn === first + 1) return call('act', turn);
      return first !== undefined && turn >= first + 2 ? says('Done.') : call('look', turn);
    };
    const watched = withMessage(memory());
    const world = worldOn(watched.ledger, answer);
    const request = { agent: 'worker', input: userText('Go.'), workspace: tmpdir(), run: RUN, session: SESSION };
    const started = await world.engine.start({ ...request, origin: { kind: 'client', by: 'client' } });
    if (started.kind !== 'started') throw new Error(started.kind);
    const end = await started.handle.done;
    if (end.kind !== 'waiting') throw new Error(end.kind);
    for (const { run, wait } of end.waits) await world.engine.answer(run, wait, { kind: 'approved' });
    const resumed = await world.engine.resume(RUN);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(heard).toEqual([first, (first ?? 0) + 1, (first ?? 0) + 2]);
    await world.close();
  });
});
