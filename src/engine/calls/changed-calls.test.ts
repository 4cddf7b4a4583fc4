/** A call that somebody has changed is made as they wrote it, whatever is cut off, and never as the model asked for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { start } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { crashAt } from '../../../test/support/ledger/crash.ts';
import { agent, type Brain, calls, createWorld, type Outside, says, turnOf, type World } from '../../../test/support/world.ts';
import type { RunId } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import type { Answer } from '../../events/catalogue.ts';
import { createKeyRing, passingKeys } from '../../ledger/seals/keys.ts';
import { createProtection } from '../../ledger/seals/protection.ts';
import type { RunEnd } from '../port.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-changed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const world = keptWorlds();

async function goesOn(here: World, run: RunId): Promise<RunEnd> {
  const resumed = await here.engine.resume(run);
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  return await resumed.handle.done;
}

async function answerAll(here: World, end: RunEnd, answer: Answer) {
  if (end.kind !== 'waiting') throw new Error(`does not wait: ${end.kind}`);
  return await Promise.all(end.waits.map(({ run, wait }) => here.engine.answer(run, wait, answer)));
}

describe('a call of a sub-agent', () => {
  const agents = [agent({ agents: ['helper'], permissions: { helper: 'ask' } }), agent({ name: 'helper', tools: [] })];
  const told: string[] = [];
  const brain: Brain = (request) => {
    if (request.agent === 'helper') {
      told.push(JSON.stringify(request.messages));
      return says('Helped.');
    }
    if (turnOf(request) > 1) return says(JSON.stringify(request.messages.at(-1)));
    return calls({ name: 'helper', input: { prompt: 'Drop the table.', reason: 'need' } });
  };
  const input = { prompt: 'Count the rows.', reason: 'need' };

  it('is made as it was changed, and the caller is told so', async () => {
    told.length = 0;
    const here = world({ agents, brain });
    const handle = await start(here);
    await answerAll(here, await handle.done, { kind: 'approved', input });
    const end = await goesOn(here, handle.run);
    expect(told.join()).toContain('Count the rows.');
    expect(told.join()).not.toContain('Drop the table.');
    expect(end.kind === 'ended' ? end.result.report.body : '').toContain('The user changed this call before it was made');
  });

  it('stays so when the process dies at any moment after the answer', async () => {
    let cuts = 0;
    for (let cut = 0, over = false; !over; cut += 1) {
      told.length = 0;
      const outside: Outside = { modelCalls: [], effects: [] };
      const path = join(folder, `cut-${cut}.db`);
      const first = createWorld({ path, outside, agents, brain, owner: { pid: 2 ** 22 + 1 } });
      const handle = await start(first);
      await answerAll(first, await handle.done, { kind: 'approved', input });
      await first.close();
      const cutOff = createWorld({
        ...{ path, outside, agents, brain, owner: { pid: 2 ** 22 + 1 } },
        wrapLedger: (inner) => crashAt(inner, cut).ledger,
      });
      const end = await goesOn(cutOff, handle.run).catch(() => undefined);
      over = end?.kind === 'ended';
      if (!over) cuts += 1;
      await cutOff.close().catch(() => undefined);
      const last = createWorld({ path, outside, agents, brain });
      if (!over) await goesOn(last, handle.run);
      expect(told.join(), `cut ${cut}`).toContain('Count the rows.');
      expect(told.join(), `cut ${cut}`).not.toContain('Drop the table.');
      await last.close();
    }
    expect(cuts).toBeGreaterThan(3);
  });
});

describe('an answer that changes a call', () => {
  const asks = (input = { name: 'first' }): World =>
    world({
      agents: [agent({ permissions: { act: 'ask' } })],
      brain: (request) => (turnOf(request) < 3 ? calls({ name: 'act', input }) : says('Done.')),
    });

  it('remembers nothing: what it would remember is the call that was not approved', async () => {
    const here = asks();
    const handle = await start(here);
    await answerAll(here, await handle.done, { kind: 'approved', remember: true, input: { name: 'second' } });
    expect(await goesOn(here, handle.run)).toMatchObject({ kind: 'waiting' });
    expect(here.outside.effects).toEqual(['act second']);
  });

  it('is refused while it has a mark in it where a secret was: nobody means the mark', async () => {
    const here = asks();
    const handle = await start(here);
    const end = await handle.done;
    expect(await answerAll(here, end, { kind: 'approved', input: { name: 'use [redacted:TOKEN]' } })).toEqual([
      { kind: 'hidden' },
    ]);
    expect(await here.engine.waits(handle.run)).toHaveLength(1);
  });

  it('needs no word about the length of what it replaces', async () => {
    const here = asks({ name: 'x'.repeat(20_000) });
    const handle = await start(here);
    const end = await handle.done;
    expect(await answerAll(here, end, { kind: 'approved' })).toEqual([{ kind: 'unseen' }]);
    expect(await answerAll(here, end, { kind: 'approved', input: { name: 'short' } })).toMatchObject([{ kind: 'accepted' }]);
  });

  it.each([
    ['does not fit the tool', { wrong: 1 }],
    ['is no object', 'touch x'],
  ])('is refused where what was made of it %s, and the question stays open', async (_name, input) => {
    const here = asks();
    const handle = await start(here);
    const end = await handle.done;
    expect(await answerAll(here, end, { kind: 'approved', input })).toEqual([
      { kind: 'unfit', why: expect.stringContaining("do not fit the tool's schema") },
    ]);
    expect(await here.engine.waits(handle.run)).toHaveLength(1);
    expect(await answerAll(here, end, { kind: 'approved', input: { name: 'other' } })).toMatchObject([{ kind: 'accepted' }]);
  });
});

describe('a call that was changed to hold a secret', () => {
  const SECRET = `ghp_${'a1B2'.repeat(9)}`;
  const keys = createKeyRing({ HOME: folder }, systemRandom);
  const open = () => createProtection([], keys);
  /** Another machine. */
  const keyless = () => createProtection([], passingKeys(systemRandom));
  const agents = [
    agent({ agents: ['helper'], permissions: { helper: 'ask', act: 'ask' } }),
    agent({ name: 'helper', tools: [], prompt: 'You help.' }),
  ];
  const owner = { pid: 2 ** 22 + 1 };

  /** Cut at an append after the answer, and taken up where nobody has the key: what was done, and what a sub-agent was told. */
  async function played(name: 'act' | 'helper', input: { prompt: string; reason: string } | { name: string }, cut: number) {
    const told: string[] = [];
    const brain: Brain = (request) => {
      if (request.agent === 'helper') {
        told.push(JSON.stringify(request.messages));
        return says('Helped.');
      }
      if (turnOf(request) > 1) return says('Done.');
      return calls({ name, input: name === 'act' ? { name: 'first' } : { prompt: 'Count.', reason: 'need' } });
    };
    const outside: Outside = { modelCalls: [], effects: [] };
    const all = { path: join(folder, `secret-${name}-${cut}.db`), outside, agents, brain };
    const first = createWorld({ ...all, owner, protection: open() });
    const handle = await start(first);
    await answerAll(first, await handle.done, { kind: 'approved', input });
    await first.close();
    const cutOff = createWorld({ ...all, owner, protection: open(), wrapLedger: (inner) => crashAt(inner, cut).ledger });
    const end = await goesOn(cutOff, handle.run).catch(() => undefined);
    await cutOff.close().catch(() => undefined);
    const last = createWorld({ ...all, protection: keyless() });
    // A sub-agent that has begun comes to its end, whatever it was told.
    const begun = (await last.ledger.runs({ session: handle.session })).length > 1;
    if (end?.kind !== 'ended') await goesOn(last, handle.run).catch(() => undefined);
    await last.close();
    return { over: end?.kind === 'ended', begun, seen: [...told, ...outside.effects].join() };
  }

  it.each([
    ['act', { name: `use ${SECRET}` }],
    ['helper', { prompt: `Use ${SECRET}.`, reason: 'need' }],
  ] as const)('is not made without it where the key is not there: %s', async (name, input) => {
    let cuts = 0;
    for (let cut = 0, over = false; !over; cut += 1) {
      const one = await played(name, input, cut);
      over = one.over;
      if (!one.begun) cuts += 1;
      if (!one.begun) expect(one.seen, `cut ${cut}`).not.toContain('redacted');
      if (over) expect(one.seen).toContain(SECRET);
    }
    expect(cuts).toBeGreaterThan(1);
  });
});
