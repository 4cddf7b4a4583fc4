/**
 * Crash at every commit of a fork. A tree of runs has ended; it is forked in the middle, and whoever makes the fork and goes on
 * with it is cut off at each append. The fork is there whole, or not at all, and then made again; it is resumed until it ends, as
 * the uncut one does. No call that was answered is made again, and the source stays as it was.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import type { ModelRequest } from '../../src/models/port.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { agent, calls, createWorld, type Outside, reports, turnOf, type World } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-fork-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_00000000000000forked' as RunId;
const SESSION = 'ses_0000000000000000fork' as SessionId;
const FORK = 'ses_000000000000000other' as SessionId;

const helps = (id: string) => ({ name: 'helper', input: { prompt: id, reason: 'need' }, id });
const act = (name: string) => ({ name: 'act', input: { name } });
const agents = [agent({ agents: ['helper'] }), agent({ name: 'helper' })];

function brain(request: ModelRequest) {
  const turn = turnOf(request);
  if (request.agent !== 'helper') return turn === 1 ? calls(helps('first'), helps('second')) : reports('All done.');
  const who = JSON.stringify(request.messages).includes('first') ? 'first' : 'second';
  return turn < 3 ? calls(act(`${who} ${turn}`)) : reports(`${who} helped`);
}

function life(path: string, outside: Outside, lastAppend: number, seed: number): World {
  const wrapLedger = (inner: World['ledger']) => crashAt(inner, lastAppend).ledger;
  return createWorld({ path, outside, brain, agents, wrapLedger, seed, owner: { pid: DEAD_PID } });
}

async function playedSource(path: string, outside: Outside): Promise<number> {
  const world = life(path, outside, Number.POSITIVE_INFINITY, 1);
  const request = { agent: 'worker', input: userText('Go.'), workspace: folder, run: RUN, session: SESSION };
  const started = await world.engine.start(request);
  if (started.kind !== 'started') throw new Error(started.error.message);
  expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  const events = await readAll(world.ledger, SESSION);
  await world.ledger.close();
  // Both are at work: one of the second calls was begun.
  return events.findLast(({ event_type, step }) => event_type === 'tool.call' && step === 'turn/2/tool/0')?.position ?? 0;
}

/** Makes the fork unless it is there, and goes on with it; `undefined` when that was cut off. */
async function forkedEnd(world: World, at: number): Promise<string | undefined> {
  const [there] = await world.ledger.runs({ session: FORK, roots: true });
  const made = there ?? (await world.engine.fork({ run: RUN, at: String(at), session: FORK }));
  if ('kind' in made && made.kind === 'refused') return undefined;
  const resumed = await world.engine.resume(made.run).catch(() => undefined);
  if (resumed?.kind === 'ended') return resumed.result.status;
  const end = resumed?.kind === 'resumed' ? await resumed.handle.done : undefined;
  return end?.kind === 'ended' ? end.result.status : undefined;
}

it('a fork may be cut anywhere, while it is made and after', async () => {
  let cuts = 0;
  for (let cut = 0, over = false; !over; cut += 1) {
    const path = join(folder, `${cut}.db`);
    const outside: Outside = { modelCalls: [], effects: [] };
    const at = await playedSource(path, outside);
    const before = { calls: outside.modelCalls.length, effects: outside.effects.length };
    const first = life(path, outside, cut, 2);
    over = (await forkedEnd(first, at)) === 'completed';
    // Whole, or not at all.
    const begun = await readAll(first.ledger, FORK);
    expect(begun.length === 0 || begun.length > at, `cut ${cut}`).toBe(true);
    await first.ledger.close();
    const world = life(path, outside, Number.POSITIVE_INFINITY, 3);
    expect(await forkedEnd(world, at), `cut ${cut}`).toBe('completed');
    const asked = outside.modelCalls.slice(before.calls);
    const answered = (await readAll(world.ledger, FORK, { types: ['model.response'] })).map(
      ({ run_id, step }) => `${run_id}/${step}`,
    );
    expect(new Set(answered).size, `cut ${cut}: a call was answered twice`).toBe(answered.length);
    // Each of what came after is asked once, and once more where the answer was cut off.
    expect(new Set(asked).size, `cut ${cut}`).toBeLessThanOrEqual(4);
    expect(asked.length - new Set(asked).size, `cut ${cut}`).toBeLessThanOrEqual(2);
    const effects = outside.effects.slice(before.effects);
    expect(new Set(effects).size, `cut ${cut}: done twice`).toBe(effects.length);
    expect((await readAll(world.ledger, SESSION)).at(-1)?.event_type).toBe('run.ended');
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    await world.ledger.close();
    cuts = cut;
  }
  expect(cuts).toBeGreaterThan(6);
});
