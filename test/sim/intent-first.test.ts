/**
 * Nothing happens before its intent is there (E2). At each append of a run the ledger stops answering: what the world outside
 * has seen by then must be in the ledger, and what must not be repeated must have been asked for with `sync: power`.
 */
import { expect, it } from 'vitest';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import type { Append, Ledger } from '../../src/ledger/port.ts';
import type { ModelRequest } from '../../src/models/port.ts';
import { everythingElse, stallAt } from '../support/ledger/crash.ts';
import { brainPeers, newPeerMemory, remote } from '../support/peers/brain-peers.ts';
import { agent, calls, createWorld, type Outside, reports, says, turnOf } from '../support/world.ts';

const RUN = 'run_0000000000000intent' as RunId;
const SESSION = 'ses_0000000000000intent' as SessionId;

const brain = (request: ModelRequest) => {
  const turn = turnOf(request);
  if (turn === 1) return calls({ name: 'look' }, { name: 'act', input: { name: 'a' } }, { name: 'act', input: { name: 'b' } });
  return turn === 2 ? calls({ name: 'act', input: { name: 'c' } }) : reports('Done.');
};

interface Told {
  readonly outside: Outside;
  /** Whether the run came to its end. */
  readonly ended: boolean;
  /** What was committed, and how. */
  readonly committed: readonly Append[];
  readonly steps: { readonly model: readonly string[]; readonly acts: readonly string[]; readonly reserved: readonly string[] };
}

/** A life whose ledger stops answering after `lastAppend` appends, and what there was of it when nothing moved any more. */
async function lifeUntil(lastAppend: number): Promise<Told> {
  const outside: Outside = { modelCalls: [], effects: [] };
  const committed: Append[] = [];
  const noting = (inner: Ledger): Ledger => ({
    ...inner,
    append: async (request) => {
      const outcome = await inner.append(request);
      if (outcome.kind === 'appended') committed.push(request);
      return outcome;
    },
  });
  let stalled: Promise<void> = Promise.resolve();
  let store: Ledger | undefined;
  const world = createWorld({
    outside,
    brain,
    agents: [agent({ budget: { usd: 10 } })],
    wrapLedger: (inner) => {
      store = inner;
      const stalling = stallAt(noting(inner), lastAppend);
      stalled = stalling.stalled;
      return stalling.ledger;
    },
  });
  const done = world.engine
    .start({ agent: 'worker', input: userText('Go.'), workspace: '.', run: RUN, session: SESSION })
    .then(async (started) => (started.kind === 'started' ? await started.handle.done : started));
  const ended = await Promise.race([done.then(() => true), stalled.then(() => false)]);
  await everythingElse();
  if (store === undefined) throw new Error('no ledger was opened');
  const events = await readAll(store, SESSION);
  const stepsOf = (type: string, name?: string): string[] =>
    events
      .filter((event) => event.event_type === type && (name === undefined || event.tool === name))
      .map(({ step }) => step ?? '');
  const steps = { model: stepsOf('model.request'), acts: stepsOf('tool.call', 'act'), reserved: stepsOf('budget.reserved') };
  await store.close();
  return { outside, ended, committed, steps };
}

it('no model is asked and nothing is done before it is committed that this will be', async () => {
  let cuts = 0;
  for (let lastAppend = 0; ; lastAppend += 1) {
    const { outside, ended, committed, steps } = await lifeUntil(lastAppend);
    const asked = outside.modelCalls.map((key) => key.slice(RUN.length + 1));
    expect(steps.model, `the requests, cut at ${lastAppend}`).toEqual(expect.arrayContaining(asked));
    expect(steps.reserved, `the reservations, cut at ${lastAppend}`).toEqual(expect.arrayContaining(asked));
    const acted = outside.effects.filter((effect) => effect.startsWith('act'));
    expect(acted.length, `the effects, cut at ${lastAppend}`).toBeLessThanOrEqual(steps.acts.length);
    const intents = committed.filter(({ events }) => events.some(({ type, tool }) => type === 'tool.call' && tool === 'act'));
    expect(intents.map(({ sync }) => sync)).toEqual(intents.map(() => 'power'));
    if (ended) break;
    cuts += 1;
  }
  // The opening, three requests with their answers, the calls and their results, the end.
  expect(cuts).toBeGreaterThan(10);
});

it('a message to an agent elsewhere goes out when its intent was asked for with power', async () => {
  const committed: Append[] = [];
  const known: (string | undefined)[][] = [];
  const world = createWorld({
    brain,
    agents: [remote('weather')],
    wrapLedger: (inner) => ({
      ...inner,
      append: async (request) => {
        const outcome = await inner.append(request);
        committed.push(request);
        return outcome;
      },
    }),
    engineOptions: {
      peers: brainPeers(newPeerMemory(), () => {
        const intents = committed.filter(({ events = [] }) => events.some(({ type }) => type === 'peer.sent'));
        known.push(intents.map(({ sync }) => sync));
        return says('Sun.');
      }),
    },
  });
  const started = await world.engine.start({
    agent: 'weather',
    input: userText('Go.'),
    workspace: '.',
    run: RUN,
    session: SESSION,
  });
  if (started.kind !== 'started') throw new Error(started.error.message);
  expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  expect(known).toEqual([['power']]);
  await world.close();
});
