/** A call without an answer may have been paid for: that is said, and not that it cost nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { resumedResult, start, untilStopped } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { crashAt } from '../../../test/support/ledger/crash.ts';
import { agent, type Brain, createWorld, PENNY_PRICES, says, type World } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { ModelFailure } from '../../events/catalogue.ts';
import type { ModelOutcome } from '../../models/port.ts';
import { foldRunTree, initialRunTree, subtreeSpending } from '../../projections/run-tree.ts';
import { readAll } from '../record/read-all.ts';

const world = keptWorlds();
const folder = mkdtempSync(join(tmpdir(), 'troupe-in-doubt-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const free = { ...PENNY_PRICES, cost: () => 0, worstCase: () => 0 };
const failed = (error: Partial<ModelFailure> & Pick<ModelFailure, 'kind'>): ModelOutcome => ({
  kind: 'failed',
  error: { message: error.kind, ...error },
});

async function spentIn({ ledger }: World, { run, session }: { readonly run: RunId; readonly session: SessionId }) {
  const events = await readAll(ledger, session);
  return subtreeSpending(events.reduce(foldRunTree, initialRunTree()), run);
}

/** Says when it was asked, and answers nothing until it is stopped. */
function silence(): { readonly asked: Promise<void>; readonly brain: Brain } {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  return {
    asked,
    brain(request) {
      resolve();
      return untilStopped(request);
    },
  };
}

const PRICES = [
  ['a price', PENNY_PRICES, 1],
  ['no price', { ...PENNY_PRICES, cost: () => undefined, worstCase: () => undefined }, 1],
  ['nothing to pay', free, 0],
] as const;

it.each(PRICES)('a call that was cancelled under way, of a model with %s', async (_name, prices, unknownCalls) => {
  const { asked, brain } = silence();
  const here = world({ prices, brain });
  const handle = await start(here);
  await asked;
  await here.engine.cancel(handle.run, 'enough');
  expect(await handle.done).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
  expect(await spentIn(here, handle)).toMatchObject({ nanoUsd: 0, calls: unknownCalls, unknownCalls });
});

it.each(PRICES)('a call in the middle of which its run was left, of a model with %s', async (name, prices, unknownCalls) => {
  const { asked, brain } = silence();
  const all = { path: join(folder, `left-${name}.db`), agents: [agent({ tools: [] })], prices };
  const here = createWorld({ ...all, brain });
  const handle = await start(here);
  await asked;
  await here.engine.close();
  expect(await handle.done).toMatchObject({ kind: 'interrupted' });
  expect(await spentIn(here, handle)).toMatchObject({ nanoUsd: 0, calls: unknownCalls, unknownCalls });
  await here.close();
  const later = world({ ...all, brain: () => says('Done.') });
  expect(await resumedResult(later, handle.run)).toMatchObject({ status: 'completed' });
  expect(later.outside.modelCalls).toHaveLength(1);
  const known = name === 'no price' ? 1 : 0;
  expect(await spentIn(later, handle)).toMatchObject({ calls: 1 + unknownCalls, unknownCalls: unknownCalls + known });
});

it('attempts count, unless they were turned away at the door', async () => {
  const tries = [
    failed({ kind: 'overloaded', status: 500, retryAfterMs: 1 }),
    failed({ kind: 'overloaded', status: 503, retryAfterMs: 1 }),
    says('Done.'),
  ];
  const here = world({ agents: [agent({ tools: [] })], brain: (_request, call) => tries[call - 1] ?? says('More.') });
  const handle = await start(here);
  expect(await handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  expect(await spentIn(here, handle)).toMatchObject({ calls: 2, unknownCalls: 1, nanoUsd: 120_000 });
});

it.each(['is cancelled then', 'goes on'])('a call that a crash cut off, of a run that %s', async (then) => {
  const all = { path: join(folder, 'cut.db'), agents: [agent({ tools: [] })] };
  let reached = false;
  for (let cut = 1; !reached; cut += 1) {
    const path = join(folder, `${then}-${cut}.db`);
    const first = createWorld({
      ...{ ...all, path, brain: () => says('Done.'), owner: { pid: 2 ** 22 + 1 } },
      wrapLedger: (inner) => crashAt(inner, cut).ledger,
    });
    const handle = await start(first).catch(() => undefined);
    await handle?.done.catch(() => undefined);
    await first.close().catch(() => undefined);
    reached = first.outside.modelCalls.length > 0;
    if (!reached || handle === undefined) continue;
    const later = createWorld({ ...all, path, brain: () => says('Again.') });
    if (then === 'goes on') await resumedResult(later, handle.run);
    else await later.engine.cancel(handle.run, 'enough');
    expect(later.outside.modelCalls).toHaveLength(then === 'goes on' ? 1 : 0);
    expect(await spentIn(later, handle)).toMatchObject({ unknownCalls: 1 });
    await later.close();
  }
  expect(reached).toBe(true);
});
