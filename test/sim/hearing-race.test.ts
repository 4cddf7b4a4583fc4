/**
 * Two real processes on one ledger: one takes a run up while the other cancels it, or answers what it waits for. Who is first is
 * up to the machine; whoever was told "accepted" had an effect in every round.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunId } from '../../src/base/ids.ts';
import { start } from '../conformance/engine/checks.ts';
import { createWorld, type World } from '../support/world.ts';
import { asksFirst, careful } from './hearing-race.ts';

const ROUNDS = 30;
const WAIT = 'turn/1/tool/0/approval';
const folder = mkdtempSync(join(tmpdir(), 'troupe-race-'));
const path = join(folder, 'ledger.db');
const main = fileURLToPath(new URL('hearing-race-main.ts', import.meta.url));

let world: World;
let other: ReturnType<typeof startOther>;

function startOther() {
  const child = spawn(process.execPath, [main, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  return {
    next,
    takeUp: async (run: RunId): Promise<string> => {
      child.stdin.write(`${run}\n`);
      return await next();
    },
    end: async () => {
      const over = once(child, 'exit');
      child.stdin.end();
      await over;
    },
  };
}

beforeAll(async () => {
  world = createWorld({ path, brain: asksFirst, agents: careful });
  other = startOther();
  expect(await other.next()).toBe('ready');
});
afterAll(async () => {
  await other.end();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

async function waitingRun(): Promise<RunId> {
  const handle = await start(world);
  expect(await handle.done).toMatchObject({ kind: 'waiting' });
  return handle.run;
}
const stateOf = async (run: RunId): Promise<string | undefined> => (await world.ledger.runs({ run }))[0]?.state;

describe('two processes', () => {
  it('a run that one takes up while the other cancels it is cancelled', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await waitingRun();
      const [outcome] = await Promise.all([world.engine.cancel(run, 'enough'), other.takeUp(run)]);
      expect(outcome.kind).toBe('accepted');
      await expect.poll(() => stateOf(run), { interval: 5 }).toBe('cancelled');
    }
    expect(world.outside.effects).toEqual([]);
  });

  it('a run that one takes up while the other answers it goes on', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await waitingRun();
      const answer = async (): Promise<string> => {
        const outcome = await world.engine.answer(run, WAIT, { kind: 'approved' });
        // As the command does: nobody drives it, so whoever answers goes on with it.
        if (outcome.kind === 'accepted' && !outcome.live) await world.engine.resume(run);
        return outcome.kind;
      };
      const [outcome] = await Promise.all([answer(), other.takeUp(run)]);
      expect(outcome).toBe('accepted');
      await expect.poll(() => stateOf(run), { interval: 5 }).toBe('completed');
    }
  });
});
