/** Staying with a run reads what is new, and says of the whole run what a reader of everything would say. */
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { countingLedger, noReads } from '../../test/support/ledger/counting-ledger.ts';
import { agent, calls, createWorld, PENNY_PRICES, says } from '../../test/support/world.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import type { RunEnd } from '../engine/port.ts';
import type { EventType } from '../events/catalogue.ts';
import { userText } from '../events/messages.ts';
import { foldSession } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import type { ModelRequest } from '../models/port.ts';
import { foldRunTree, initialRunTree, type RunTree, subtree, subtreeDoings } from '../projections/run-tree.ts';
import { createFollower } from './follow.ts';

const TURNS = 900;
const turnIn = ({ idempotencyKey }: ModelRequest): number => Number(/turn\/(\d+)\//.exec(idempotencyKey)?.[1]);

/** Looks, now and then asks somebody, and thrice acts, which it needs a permission for. */
const brain = (request: ModelRequest) => {
  const turn = turnIn(request);
  if (request.agent === 'helper') return turn === 1 ? calls({ name: 'look' }) : says('Helped.');
  if (turn === TURNS) return says('Done.');
  if (turn % 300 === 200) return calls({ name: 'act', input: { name: String(turn) } });
  if (turn % 50 === 10) return calls({ name: 'helper', input: { prompt: `Part ${turn}.`, reason: 'It is much.' } });
  return calls({ name: 'look', input: { name: String(turn) } });
};
const agents = [agent({ agents: ['helper'], maxTurns: 2 * TURNS, permissions: { act: 'ask' } }), agent({ name: 'helper' })];

const folded = (ledger: Ledger, session: SessionId): Promise<RunTree> =>
  foldSession(ledger, session, initialRunTree(), foldRunTree);

async function begun({ engine }: ReturnType<typeof createWorld>, session?: SessionId) {
  const more = present({ session });
  const started = await engine.start({ agent: 'worker', input: userText('Go.'), workspace: tmpdir(), ...more });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  return started.handle;
}

describe('a follower', () => {
  it('reads what came since the run was condensed last, and knows the sums of all of it', async () => {
    const reads = noReads();
    const world = createWorld({ agents, brain, prices: PENNY_PRICES });
    const { run, session, done } = await begun(world);
    let end: RunEnd = await done;
    let stops = 0;
    while (end.kind === 'waiting') {
      stops += 1;
      const whole = await folded(world.ledger, session);
      expect(whole.position).toBeGreaterThan(700 * stops);
      const before = reads.events;
      const follower = createFollower(countingLedger(world.ledger, reads), session);
      await follower.catchUp(run);
      expect(reads.events - before).toBeLessThan(450);
      expect(subtreeDoings(follower.tree, run)).toEqual(subtreeDoings(whole, run));
      expect(follower.tree.position).toBe(whole.position);
      const { children: _all, earlier: _none, recent: _calls, ...rest } = whole.runs.get(run) ?? {};
      expect(follower.tree.runs.get(run)).toMatchObject(rest);
      await world.engine.answer(run, end.waits[0]?.wait ?? '', { kind: 'approved' });
      const resumed = await world.engine.resume(run);
      if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
      await follower.follow(resumed.handle.done, () => undefined);
      end = await resumed.handle.done;
      const after = await folded(world.ledger, session);
      expect(subtreeDoings(follower.tree, run)).toEqual(subtreeDoings(after, run));
    }
    expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed', turns: TURNS } });
    expect(stops).toBe(3);
    const whole = await folded(world.ledger, session);
    expect(subtree(whole, run).length).toBe(1 + TURNS / 50);
    await world.close();
  });

  it('shows a run that goes on in a session, and nothing that was before it', async () => {
    const world = createWorld({ agents: [agent()], brain: () => says('Done.') });
    const first = await begun(world);
    await first.done;
    const before = (await folded(world.ledger, first.session)).position;
    const second = await begun(world, first.session);
    const shown: { readonly run: RunId; readonly type: EventType; readonly position: number }[] = [];
    const follower = createFollower(world.ledger, second.session);
    await follower.beginAt(second.run);
    await follower.follow(second.done, ({ run_id: run, event_type: type, position }) => shown.push({ run, type, position }));
    await world.close();
    expect(shown.map(({ position }) => position)).toEqual(shown.map((_event, index) => before + 1 + index));
    expect(shown.map(({ type }) => type)).toEqual(expect.arrayContaining(['run.started', 'model.response', 'run.ended']));
    expect(new Set(shown.map(({ run }) => run))).toEqual(new Set([second.run]));
  });
});
