/** State is a fold of events: what was folded live, while a random run went on, is what a cold read gives, byte for byte. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { type Message, userText } from '../../src/events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../../src/models/port.ts';
import { foldBudget, initialBudget } from '../../src/projections/budget.ts';
import { foldCosts, initialCosts } from '../../src/projections/costs.ts';
import { foldRunTree, initialRunTree } from '../../src/projections/run-tree.ts';
import { foldTasks, initialTasks } from '../../src/projections/tasks/tasks.ts';
import { foldTimeline, initialTimeline } from '../../src/projections/timeline.ts';
import { createTranscripts } from '../../src/projections/transcript.ts';
import { foldWaits, initialWaits } from '../../src/projections/waits.ts';
import { agent, calls, createWorld, reports, says, turnOf } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-folds-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Move = 'look' | 'act' | 'both' | 'many' | 'unknown' | 'empty' | 'overloaded';
const moves = fc.array(fc.constantFrom<Move>('look', 'act', 'both', 'many', 'unknown', 'empty', 'overloaded'), { maxLength: 12 });

function play(script: readonly Move[], request: ModelRequest, tried: Set<number>): ModelOutcome {
  const turn = turnOf(request);
  const move = script[turn - 1];
  if (move === undefined)
    return turn % 2 === 0 ? says('The end.') : reports('The end.', { claims: [{ kind: 'command', command: 'true' }] });
  if (move === 'overloaded' && !tried.has(turn)) {
    tried.add(turn);
    return { kind: 'failed', error: { kind: 'overloaded', message: 'busy', retryAfterMs: 1 } };
  }
  if (move === 'empty') return says('');
  if (move === 'both') return calls({ name: 'look', input: { name: `${turn}` } }, { name: 'act', input: { name: `${turn}` } });
  if (move === 'many')
    return calls(...Array.from({ length: 12 }, (_value, index) => ({ name: 'look', input: { name: `${turn}-${index}` } })));
  return calls({ name: move === 'unknown' || move === 'overloaded' ? 'unheard-of' : move, input: { name: `${turn}` } });
}

/** Maps and sets have no JSON of their own; everything else prints as it is. */
const bytes = (value: unknown): string =>
  JSON.stringify(value, (_key, item) => (item instanceof Map || item instanceof Set ? [...item] : item));

function folded(events: readonly LedgerEvent[]): string {
  const transcripts = createTranscripts();
  for (const event of events) transcripts.apply(event);
  return bytes([
    events,
    events.reduce(foldRunTree, initialRunTree()),
    events.reduce(foldCosts, initialCosts()),
    events.reduce(foldBudget, initialBudget()),
    events.reduce(foldTimeline, initialTimeline()),
    events.reduce(foldWaits, initialWaits()),
    events.reduce(foldTasks, initialTasks()),
    [...new Set(events.map((event) => event.run_id))].map((run) => transcripts.of(run)),
  ]);
}

describe('live fold and cold fold', () => {
  it('are equal for random runs, and so is the conversation that the model saw', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(moves, fc.integer({ min: 2, max: 10 }), fc.boolean(), async (script, maxTurns, budget) => {
        count += 1;
        const path = join(folder, `${count}.db`);
        const tried = new Set<number>();
        const seen: Message[][] = [];
        const definition = agent({ maxTurns, ...(budget ? { budget: { tokens: 200_000 } } : {}) });
        const world = createWorld({
          path,
          agents: [definition],
          brain: (request) => {
            seen.push([...request.messages]);
            return play(script, request, tried);
          },
        });
        const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: folder });
        if (started.kind !== 'started') throw new Error(JSON.stringify(started));
        const { session, run, done } = started.handle;
        const stop = new AbortController();
        const live: LedgerEvent[] = [];
        for await (const event of world.ledger.tail(session, 0, stop.signal)) {
          live.push(event);
          if (event.event_type === 'run.ended') stop.abort();
        }
        await done;
        await world.close();

        const reopened = createWorld({ path, brain: () => says('') });
        const cold = await readAll(reopened.ledger, session);
        await reopened.close();
        expect(folded(live)).toBe(folded(cold));
        const transcripts = createTranscripts();
        for (const event of cold) transcripts.apply(event);
        const conversation = transcripts.of(run);
        for (const messages of seen) expect(conversation.slice(0, messages.length)).toEqual(messages);
      }),
      { numRuns: 60, seed: Number(process.env['TROUPE_SEED'] ?? 7) },
    );
  });
});
