/** What is read from the ledger when a run begins or is taken up grows with what is new, not with what was. */
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { countingLedger, noReads, type Reads } from '../../../test/support/ledger/counting-ledger.ts';
import { agent, calls, createWorld, says } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { userText } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { ModelOutcome, ModelRequest } from '../../models/port.ts';
import { pastOf } from './past.ts';
import { readAll } from './read-all.ts';

const SESSION = 'ses_000000000000000past' as SessionId;

/** From a provider that does not say how much it read. */
const uncounted = (outcome: ModelOutcome): ModelOutcome =>
  outcome.kind === 'answer' ? { ...outcome, answer: { ...outcome.answer, usage: {} } } : outcome;

const turnIn = ({ idempotencyKey }: ModelRequest): number => Number(/turn\/(\d+)\//.exec(idempotencyKey)?.[1]);

function counted(brain: (request: ModelRequest) => ModelOutcome, definition = agent(), on?: Ledger) {
  const reads = noReads();
  const world = createWorld({
    agents: [definition],
    brain: (request) => uncounted(brain(request)),
    wrapLedger: (inner) => countingLedger(inner, reads),
    ...present({ ledger: on }),
  });
  /** What `work` reads. */
  const during = async (work: () => Promise<unknown>): Promise<Reads> => {
    const before = { ...reads };
    await work();
    return {
      questions: reads.questions - before.questions,
      events: reads.events - before.events,
      characters: reads.characters - before.characters,
      searches: reads.searches - before.searches,
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
  type Counted = ReturnType<typeof counted>;

  /** Starts a run and approves whatever it asks for; says what each approval has read. */
  async function approved(
    { world, during }: Counted,
    look: (run: RunId) => Promise<void> = async () => undefined,
  ): Promise<readonly Reads[]> {
    const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: tmpdir(), session: SESSION });
    if (started.kind !== 'started') throw new Error(JSON.stringify(started));
    const { run } = started.handle;
    let end = await started.handle.done;
    const reads: Reads[] = [];
    while (end.kind === 'waiting') {
      const [wait] = end.waits;
      expect(end.waits).toHaveLength(1);
      await look(run);
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
    return reads;
  }

  const working = (turns: number, acts: (turn: number) => boolean) => (request: ModelRequest) => {
    const turn = turnIn(request);
    if (turn === turns) return says('Done.');
    return calls({ name: acts(turn) ? 'act' : 'look', input: { name: String(turn) } });
  };
  const asking = agent({ maxTurns: 2_000, permissions: { act: 'ask' } });

  it('reads no more after 1,500 turns than since the conversation was condensed', async () => {
    const { world, during } = counted(
      working(1_500, (turn) => turn % 500 === 4),
      asking,
    );
    const reads = await approved({ world, during });
    const events = await readAll(world.ledger, SESSION);
    await world.close();
    expect(events.length).toBeGreaterThan(6_000);
    expect(reads).toHaveLength(3);
    for (const { events: read, searches } of reads) {
      expect(read).toBeLessThan(900);
      expect(searches).toBe(0);
    }
    // The effect of each approved call happened once.
    expect(world.outside.effects.filter((effect) => effect.startsWith('act'))).toEqual(['act 4', 'act 504', 'act 1004']);
  });

  it('reads what came since the last one, in the process that has worked on the run', async () => {
    const { world, during } = counted(
      working(1_000, (turn) => turn > 600 && turn % 5 === 0),
      asking,
    );
    const reads = await approved({ world, during });
    await world.close();
    expect(reads).toHaveLength(79);
    for (const { events } of reads.slice(1)) expect(events).toBeLessThan(100);
    // What it was condensed to is read once, the next time.
    expect(reads.slice(1).filter(({ characters }) => characters > 60_000).length).toBeLessThan(10);
    expect(world.outside.effects.filter((effect) => effect.startsWith('act'))).toHaveLength(79);
  });

  it('finds what somebody finds who reads it all for the first time', async () => {
    const { world, during } = counted(
      working(400, (turn) => turn % 13 === 0),
      asking,
    );
    let cuts = 0;
    const reads = await approved({ world, during }, async (run) => {
      const found = await pastOf(world.ledger, SESSION, run);
      // Nothing is kept of a ledger that nobody has asked yet.
      expect(found).toEqual(await pastOf({ ...world.ledger }, SESSION, run));
      if (found.cut !== undefined) cuts += 1;
    });
    await world.close();
    expect(reads).toHaveLength(30);
    expect(cuts).toBeGreaterThan(10);
  });

  it('goes through all of it again when it was condensed since and cannot be cut off there', async () => {
    const { world, during } = counted(
      working(400, (turn) => turn === 300 || turn === 302),
      asking,
    );
    const { ledger } = world;
    let stops = 0;
    await approved({ world, during }, async (run) => {
      stops += 1;
      const kept = await pastOf(ledger, SESSION, run);
      if (stops === 1) {
        expect(kept.cut).toBeDefined();
        return;
      }
      // As if it had an assistant at work at that moment.
      const lease = await ledger.acquire(SESSION, run);
      if (lease.kind !== 'acquired') throw new Error(lease.kind);
      const payload = { turn: 302, text: 'All of it.', left: [], unsent: 0, goesOn: false };
      const cause = kept.events.at(-1)?.event_id ?? null;
      const event = { type: 'task.summary', run, actor: 'system', cause, payload, at: 0, step: 'turn/302/summary' } as const;
      await ledger.append({ session: SESSION, fence: lease.fence, events: [event] });
      await ledger.release(lease.fence);
      const whole = await pastOf(ledger, SESSION, run);
      expect(whole).toEqual(await pastOf({ ...ledger }, SESSION, run));
      expect(whole.cut).toBeUndefined();
      expect(whole.events).toEqual(await readAll(ledger, SESSION));
    });
    await world.close();
    expect(stops).toBe(2);
  });
});
