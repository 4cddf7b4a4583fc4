/**
 * A run that is condensed again and again, cut at every append and taken up by another life: it goes on from where it was
 * condensed last, and every request is the one that the uncut run made, also those of a second prompt that goes on with the
 * conversation.
 */

import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../src/base/ids.ts';
import { seededRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import type { ModelOutcome, ModelRequest } from '../../src/models/port.ts';
import { createTranscripts } from '../../src/projections/transcript.ts';
import { type Tool, textResult } from '../../src/tools/port.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { playsAgain } from '../support/replayed.ts';
import { agent, calls, createWorld, says } from '../support/world.ts';

const DEAD_PID = 2 ** 22 + 1;
const SESSION = 'ses_0000000000condensed' as SessionId;
const FIRST = 'run_0000000000000000one' as RunId;
const SECOND = 'run_0000000000000000two' as RunId;
const TURNS = 18;

const look: Tool = {
  name: 'look',
  description: 'look',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
  replay: 'safe',
  readOnly: true,
  run: async (input) => textResult(`${JSON.stringify(input)} ${'lorem ipsum '.repeat(60)}`),
};

const memory = (): Ledger =>
  openSqliteLedger({
    path: ':memory:',
    clock: systemClock,
    ids: createIds(systemClock, seededRandom(1)),
    validate: true,
    owner: { pid: DEAD_PID },
  });

/** From a provider that does not say how much it read. */
const uncounted = (outcome: ModelOutcome): ModelOutcome =>
  outcome.kind === 'answer' ? { ...outcome, answer: { ...outcome.answer, usage: {} } } : outcome;

/** Which turn of which run a request is for. */
const turnIn = ({ idempotencyKey }: ModelRequest): number => Number(/turn\/(\d+)\//.exec(idempotencyKey)?.[1]);

interface Life {
  readonly ended: boolean;
  readonly appends: number;
}

/** One life: both prompts, or as much of them as there is power for. */
async function live(inner: Ledger, requests: Map<string, Set<string>>, lastAppend: number): Promise<Life> {
  const { ledger, appends } = crashAt(inner, lastAppend);
  const world = createWorld({
    ledger,
    tools: [look],
    agents: [
      agent({ tools: ['look'], maxTurns: TURNS + 5, contextWindow: 1_500, maxOutputTokens: 300, toolResponseMaxBytes: 400 }),
    ],
    brain: (request) => {
      const seen = requests.get(request.idempotencyKey) ?? new Set();
      requests.set(request.idempotencyKey, seen.add(JSON.stringify(request.messages)));
      const turn = turnIn(request);
      return uncounted(turn < TURNS ? calls({ name: 'look', input: { name: String(turn) }, id: `c${turn}` }) : says('Done.'));
    },
  });
  let ended = true;
  for (const run of [FIRST, SECOND]) ended &&= await toItsEnd(world, run);
  await world.engine.close();
  return { ended, appends: appends() };
}

async function toItsEnd({ engine }: ReturnType<typeof createWorld>, run: RunId): Promise<boolean> {
  const started = await engine.start({
    agent: 'worker',
    input: userText(`Go on, ${run}.`),
    workspace: tmpdir(),
    run,
    session: SESSION,
  });
  if (started.kind !== 'started') return false;
  const end = await started.handle.done;
  return end.kind === 'ended' && end.result.status === 'completed';
}

describe('a condensed run that is cut at an append', () => {
  it('sends what the uncut one sends', async () => {
    const expected = new Map<string, Set<string>>();
    const uncut = await live(memory(), expected, Number.POSITIVE_INFINITY);
    expect(uncut.ended).toBe(true);
    expect(expected.size).toBe(2 * TURNS);

    for (let cut = 1; cut <= uncut.appends; cut += 2) {
      const ledger = memory();
      const requests = new Map<string, Set<string>>();
      await live(ledger, requests, cut);
      expect((await live(ledger, requests, Number.POSITIVE_INFINITY)).ended, `cut at ${cut}`).toBe(true);
      expect([...requests].sort(), `cut at ${cut}`).toEqual([...expected].sort());
      await ledger.close();
    }
  });

  it('has a conversation that is the same from the last summary on as from the beginning', async () => {
    const requests = new Map<string, Set<string>>();
    const ledger = memory();
    await live(ledger, requests, Number.POSITIVE_INFINITY);
    const events = await readAll(ledger, SESSION);
    await playsAgain(ledger);
    await ledger.close();
    const summaries = events.filter((event) => event.event_type === 'task.summary');
    expect(summaries.length).toBeGreaterThan(3);
    const whole = createTranscripts();
    for (const event of events) whole.apply(event);
    for (const { position, run_id: run } of summaries) {
      const short = createTranscripts();
      for (const event of events)
        if (event.event_type === 'run.started' || (event.run_id === run && event.position >= position)) short.apply(event);
      expect(short.of(run)).toEqual(whole.of(run));
      expect(short.closed(run)).toEqual(whole.closed(run));
    }
    const [last] = [...(requests.get(`${SECOND}/turn/${TURNS}/model`) ?? [])];
    expect(whole.of(SECOND).slice(0, -1)).toEqual(JSON.parse(last ?? ''));
  });
});
