/** What is read from the ledger when a run begins or is taken up grows with what is new, not with what was. */
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { countingLedger, type Reads } from '../../test/support/counting-ledger.ts';
import { agent, calls, createWorld, says } from '../../test/support/world.ts';
import type { SessionId } from '../base/ids.ts';
import { userText } from '../events/messages.ts';
import type { Ledger } from '../ledger/port.ts';
import type { ModelOutcome, ModelRequest } from '../models/port.ts';
import { readAll } from './read-all.ts';

const SESSION = 'ses_000000000000000past' as SessionId;

/** From a provider that does not say how much it read. */
const uncounted = (outcome: ModelOutcome): ModelOutcome =>
  outcome.kind === 'answer' ? { ...outcome, answer: { ...outcome.answer, usage: {} } } : outcome;

const turnIn = ({ idempotencyKey }: ModelRequest): number => Number(/turn\/(\d+)\//.exec(idempotencyKey)?.[1]);

function counted(brain: (request: ModelRequest) => ModelOutcome, definition = agent(), on?: Ledger) {
  const reads: Reads = { questions: 0, events: 0, characters: 0 };
  const world = createWorld({
    agents: [definition],
    brain: (request) => uncounted(brain(request)),
    wrapLedger: (inner) => countingLedger(inner, reads),
    ...(on === undefined ? {} : { ledger: on }),
  });
  /** What `work` reads. */
  const during = async (work: () => Promise<unknown>): Promise<Reads> => {
    const before = { ...reads };
    await work();
    return {
      questions: reads.questions - before.questions,
      events: reads.events - before.events,
      characters: reads.characters - before.characters,
    };
  };
  return { world, during };
}

describe('a prompt in a session', () => {
  const brain = (request: ModelRequest): ModelOutcome =>
    turnIn(request) < 4 ? calls({ name: 'look', input: { name: String(turnIn(request)) } }) : says('Done.');
  const prompt = async ({ engine }: ReturnType<typeof createWorld>, text: string): Promise<void> => {
    const started = await engine.start({ agent: 'worker', input: userText(text), workspace: tmpdir(), session: SESSION });
    if (started.kind !== 'started') throw new Error(JSON.stringify(started));
    expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  };

  it('reads the same the 150th time as the second time; in another process, no more than it sends', async () => {
    const { world, during } = counted(brain);
    const all: Reads[] = [];
    for (let index = 0; index < 150; index += 1) all.push(await during(() => prompt(world, `Prompt ${index}.`)));
    expect((await readAll(world.ledger, SESSION)).length).toBeGreaterThan(2_500);
    const second = all[1];
    for (const { questions, events } of all.slice(2)) {
      expect(questions).toBeLessThanOrEqual((second?.questions ?? 0) + 2);
      // Of the roots that have ended, the latest twenty are looked at.
      expect(events).toBeLessThanOrEqual((second?.events ?? 0) + 25);
    }
    const cold = counted(brain, agent(), world.ledger);
    // At most 200 messages are sent, each of them an event, with the requests that say so.
    expect((await cold.during(() => prompt(cold.world, 'Another.'))).events).toBeLessThan(500);
    await cold.world.close();
    await world.close();
  });
});

describe('an approval', () => {
  it('reads no more after 1,500 turns than since the conversation was condensed', async () => {
    const { world, during } = counted(
      (request) => {
        const turn = turnIn(request);
        if (turn === 1_500) return says('Done.');
        return calls({ name: turn % 500 === 4 ? 'act' : 'look', input: { name: String(turn) } });
      },
      agent({ maxTurns: 2_000, permissions: { act: 'ask' } }),
    );
    const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: tmpdir(), session: SESSION });
    if (started.kind !== 'started') throw new Error(JSON.stringify(started));
    const { run } = started.handle;
    let end = await started.handle.done;
    const reads: Reads[] = [];
    while (end.kind === 'waiting') {
      const [wait] = end.waits;
      expect(end.waits).toHaveLength(1);
      reads.push(
        await during(async () => {
          await world.engine.answer(run, wait?.wait ?? '', { kind: 'approved' });
          const resumed = await world.engine.resume(run);
          if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
          end = await resumed.handle.done;
        }),
      );
    }
    expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    const events = await readAll(world.ledger, SESSION);
    await world.close();
    expect(events.length).toBeGreaterThan(6_000);
    expect(reads).toHaveLength(3);
    for (const { events: read } of reads) expect(read).toBeLessThan(900);
    // The effect of each approved call happened once.
    expect(world.outside.effects.filter((effect) => effect.startsWith('act'))).toEqual(['act 4', 'act 504', 'act 1004']);
  });
});
