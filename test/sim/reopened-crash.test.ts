/**
 * Crash at every commit of a life that was reopened. A tree of runs is parked because its provider is down; then it goes on,
 * cut at each append, and resumed until it ends. Nothing that was done before is done again, and the end is that of the
 * uncut tree.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../../src/models/port.ts';
import { crashAt } from '../support/ledger/crash.ts';
import {
  agent,
  calls,
  createWorld,
  type Outside,
  reports,
  says,
  turnOf,
  type World,
  type WorldOptions,
} from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-reopened-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_000000000000reopened' as RunId;
const SESSION = 'ses_000000000000reopened' as SessionId;

const helps = (id: string) => ({ name: 'helper', input: { prompt: id, reason: 'need' }, id });
const act = (name: string) => ({ name: 'act', input: { name } });
const down: ModelOutcome = { kind: 'failed', error: { kind: 'network', message: 'nobody answers' } };

interface Tree {
  readonly name: string;
  readonly agents: readonly AgentDefinition[];
  readonly brain: (isDown: boolean) => (request: ModelRequest) => ModelOutcome;
  /** How it stands as long as nobody answers. */
  readonly stands: 'parked' | 'ended';
  readonly effects: readonly string[];
  readonly runs: number;
}

/** Two helpers at once, who act and then find nobody; the caller finds nobody either. */
const helpers: Tree = {
  name: 'helpers',
  agents: [agent({ agents: ['helper'], maxRetries: 0 }), agent({ name: 'helper', maxRetries: 0 })],
  brain: (isDown) => (request) => {
    const turn = turnOf(request);
    if (request.agent === 'helper') {
      const who = JSON.stringify(request.messages).includes('first') ? 'first' : 'second';
      if (turn === 1) return calls(act(`${who} a`));
      if (isDown) return down;
      return turn === 2 ? calls(act(`${who} b`)) : reports(`${who} helped`);
    }
    if (turn === 1) return calls(helps('first'), helps('second'));
    return isDown ? down : reports('All done.');
  },
  stands: 'parked',
  effects: ['act first a', 'act first b', 'act second a', 'act second b'],
  runs: 3,
};

/** The first acts and finds nobody; whoever comes after it finds nobody from the start. */
const oneByOne =
  (isDown: boolean) =>
  (request: ModelRequest): ModelOutcome => {
    if (request.agent === 'ana' && turnOf(request) === 1) return calls(act('ana'));
    if (isDown) return down;
    if (request.agent === 'worker') return reports('All done.');
    return turnOf(request) === 1 ? calls(act(request.agent ?? '')) : says(`${request.agent} is done.`);
  };

const members = ['ana', 'ben'].map((name) => agent({ name, maxRetries: 0 }));
const effects = ['act ana', 'act ben'];
const trees: readonly Tree[] = [
  helpers,
  {
    name: 'team',
    agents: [agent({ maxRetries: 0, team: { members: ['ana', 'ben'] } }), ...members],
    ...{ brain: oneByOne, stands: 'parked', effects, runs: 4 },
  },
  {
    name: 'in-turn',
    agents: [agent({ tools: [], group: { mode: 'sequential', workers: ['ana', 'ben'] } }), ...members],
    ...{ brain: oneByOne, stands: 'ended', effects, runs: 3 },
  },
];

interface Life {
  readonly world: World;
  readonly appends: () => number;
}

function life({ agents, brain }: Tree, path: string, outside: Outside, isDown: boolean, lastAppend: number): Life {
  let appends = () => 0;
  const wrapLedger: WorldOptions['wrapLedger'] = (inner) => {
    const crashing = crashAt(inner, lastAppend);
    appends = crashing.appends;
    return crashing.ledger;
  };
  const world = createWorld({ path, outside, brain: brain(isDown), agents, wrapLedger, owner: { pid: DEAD_PID } });
  return { world, appends: () => appends() };
}

/** `undefined` when it was cut off. */
async function goesOn({ engine }: World): Promise<string | undefined> {
  const resumed = await engine.resume(RUN, {}).catch(() => undefined);
  if (resumed?.kind === 'ended') return resumed.result.status;
  const end = resumed?.kind === 'resumed' ? await resumed.handle.done : undefined;
  return end?.kind === 'ended' ? end.result.status : undefined;
}

async function failedTree(tree: Tree, path: string, outside: Outside): Promise<void> {
  const { world } = life(tree, path, outside, true, Number.POSITIVE_INFINITY);
  const started = await world.engine.start({
    agent: 'worker',
    input: userText('Go.'),
    workspace: folder,
    run: RUN,
    session: SESSION,
  });
  if (started.kind !== 'started') throw new Error(started.error.message);
  expect(await started.handle.done).toMatchObject({ kind: tree.stands });
  await world.ledger.close();
}

it.each(trees)('a life that was reopened may be cut anywhere: $name', async (tree) => {
  let cuts = 0;
  for (let cut = 0, over = false; !over; cut += 1) {
    const path = join(folder, `${tree.name}-${cut}.db`);
    const outside: Outside = { modelCalls: [], effects: [] };
    await failedTree(tree, path, outside);
    const first = life(tree, path, outside, false, cut);
    over = (await goesOn(first.world)) === 'completed';
    await first.world.ledger.close();
    const { world } = life(tree, path, outside, false, Number.POSITIVE_INFINITY);
    expect(await goesOn(world), `cut ${cut}`).toBe('completed');
    // A call that was cut off between its intent and its outcome is not made again; what was done is never done twice.
    expect(outside.effects.length).toBe(new Set(outside.effects).size);
    if (over) expect(outside.effects.toSorted()).toEqual(tree.effects);
    const answered = (await readAll(world.ledger, SESSION, { types: ['model.response'] })).map(
      ({ run_id, step }) => `${run_id} ${step}`,
    );
    expect(new Set(answered).size, `cut ${cut}: a call was answered twice`).toBe(answered.length);
    const states = (await world.ledger.runs({ session: SESSION })).map(({ state }) => state);
    expect(states, `cut ${cut}`).toEqual(Array.from({ length: tree.runs }, () => 'completed'));
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    await world.ledger.close();
    cuts = cut;
  }
  expect(cuts).toBeGreaterThan(8);
});

it('a life in which nobody answers may be cut anywhere: it goes on with one word once somebody does', async () => {
  const seen = new Set<string>();
  for (let cut = 1, over = false; !over; cut += 1) {
    const path = join(folder, `down-${cut}.db`);
    const outside: Outside = { modelCalls: [], effects: [] };
    const first = life(helpers, path, outside, true, cut);
    const request = { agent: 'worker', input: userText('Go.'), workspace: folder, run: RUN, session: SESSION };
    const started = await first.world.engine.start(request).catch(() => undefined);
    const end = started?.kind === 'started' ? await started.handle.done : undefined;
    over = end?.kind === 'parked';
    const [row] = await first.world.ledger.runs({ run: RUN });
    const last = (await readAll(first.world.ledger, SESSION, { run: RUN })).at(-1)?.event_type;
    await first.world.ledger.close();
    if (row === undefined) continue;
    if (last !== undefined) seen.add(last);
    const { world } = life(helpers, path, outside, false, Number.POSITIVE_INFINITY);
    expect(await goesOn(world), `cut ${cut}, behind ${last}`).toBe('completed');
    expect(outside.effects.length).toBe(new Set(outside.effects).size);
    const parked = await readAll(world.ledger, SESSION, { types: ['run.parked'] });
    expect(parked.length, `cut ${cut}: it stood still once more`).toBe(over ? 1 : 0);
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    await world.ledger.close();
  }
  // The moment that this is about was among them.
  expect([...seen]).toEqual(expect.arrayContaining(['model.failed', 'run.parked']));
});
