/**
 * One simulated life story of a group: a random mode, workers that are late, fail, hang or say strange things, and pauses,
 * stops, cancels and deaths of the process at random moments. Time is virtual; a seed tells the same story every time.
 */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { sleep } from '../../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../../src/base/ids.ts';
import { seededRandom } from '../../../src/base/random.ts';
import type { RunEnd } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { userText } from '../../../src/events/messages.ts';
import type { Append, Ledger } from '../../../src/ledger/port.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/store.ts';
import type { ModelOutcome } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { agent, createWorld, says, type World } from '../world.ts';
import { type Asked, acting, breaks, type Group, judges } from './group-on-engine.ts';
import { type Dice, diceOf } from './random-agents.ts';

export interface SimulatedGroup {
  readonly group: Group;
  readonly root: RunId;
  readonly result: RunResult | undefined;
  readonly events: readonly LedgerEvent[];
  readonly sound: boolean;
  readonly luck: readonly Luck[];
}

export type Luck = 'death' | 'pause' | 'stop' | 'cancel';

const ORDINARY = Array.from({ length: 12 }, () => 'ordinary' as const);
const DEAD_PID = 2 ** 22 + 1;
const LIVES_MAX = 60;
const ROUNDS_MAX = 200_000;
const QUIET_ROUNDS = 4;
const POWER_GONE = 'the power is gone';
const HANGS_MS = 3_600_000;
const WORKER_TIMEOUT_MS = 60_000;

interface Scene {
  readonly seed: number;
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly group: Group;
  readonly root: RunId;
  readonly session: SessionId;
  readonly luck: Luck[];
  /** An orchestrator that never learns to delegate, or one that always says the same. */
  readonly trait: 'stubborn' | 'dull' | 'ordinary';
  misfortunes: number;
  activity: number;
  /** What somebody outside was told that should not have been. */
  surprise?: string;
}

export async function simulateGroup(seed: number): Promise<SimulatedGroup> {
  const random = seededRandom(seed);
  const dice = diceOf(random);
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const ids = createIds(clock, random);
  const ledger = openSqliteLedger({ path: ':memory:', clock, ids, validate: true, owner: { pid: DEAD_PID } });
  const ours = {
    root: ids.run(),
    session: ids.session(),
    luck: [],
    misfortunes: dice.number(5),
    activity: 0,
    trait: dice.one(['stubborn', 'dull', 'dull', ...ORDINARY] as const),
  };
  const scene: Scene = { seed, dice, clock, ledger, group: randomGroup(dice), ...ours };
  const result = await letTimePass(scene, liveOn(scene));
  const events = await readAll(ledger, scene.session);
  const sound = (await ledger.verify()).kind === 'sound';
  await ledger.close();
  if (scene.surprise !== undefined) throw new Error(scene.surprise);
  return { group: scene.group, root: scene.root, result, events, sound, luck: scene.luck };
}

function randomGroup(dice: Dice): Group {
  const mode = dice.one(['reflect', 'reflect', 'reflect', 'orchestrator', 'broadcast', 'sequential'] as const);
  const workers = ['w-1', 'w-10', 'w-2', 'The Fourth'].slice(0, 1 + dice.number(4));
  const alone = mode === 'reflect' && dice.chance(0.15);
  return {
    mode,
    ...(alone ? {} : { workers: workers.map((name) => ({ agent: 'worker', name })) }),
    ...(mode === 'reflect' && dice.chance(0.5) ? { evaluator: 'judge' } : {}),
    maxIterations: 1 + dice.number(5),
    workerTimeout: WORKER_TIMEOUT_MS,
  };
}

/** Lets timers ring whenever nothing else is going on, until the work is done. */
async function letTimePass<Value>(scene: Scene, work: Promise<Value>): Promise<Value> {
  let done = false;
  const finish = (): void => {
    done = true;
  };
  work.then(finish, finish);
  let seen = -1;
  let quiet = 0;
  for (let rounds = 0; !done; rounds += 1) {
    if (rounds > ROUNDS_MAX) throw new Error('it goes on and on');
    await new Promise((resolve) => setImmediate(resolve));
    quiet = scene.activity === seen ? quiet + 1 : 0;
    seen = scene.activity;
    if (quiet >= QUIET_ROUNDS && !scene.clock.advance() && quiet > 1_000) throw new Error('nothing happens any more');
  }
  return await work;
}

async function liveOn(scene: Scene): Promise<RunResult | undefined> {
  for (let life = 1; life <= LIVES_MAX; life += 1) {
    const end = await liveOnce(scene, life);
    if (end?.kind === 'ended') return end.result;
  }
  return undefined;
}

async function liveOnce(scene: Scene, life: number): Promise<RunEnd | undefined> {
  const { dice, clock, group } = scene;
  const mortal = scene.misfortunes > 0 && dice.chance(0.5);
  if (mortal) strikeOut(scene, 'death');
  const ledger = mortalLedger(scene, mortal ? 1 + dice.number(70) : Number.POSITIVE_INFINITY);
  const names = (group.workers ?? []).map((one) => (typeof one === 'string' ? one : (one.name ?? '')));
  const world: World = createWorld({
    clock,
    ledger,
    seed: scene.seed * 1_000 + life,
    agents: cast(group),
    brain: acting((asked) => answer(scene, world, asked), names),
  });
  try {
    const request = { agent: 'lead', input: userText('The request.'), workspace: '.', run: scene.root, session: scene.session };
    const started = await world.engine.start(request);
    return started.kind === 'started' ? await started.handle.done : undefined;
  } catch (error) {
    if (!(error instanceof Error && error.message.includes(POWER_GONE))) throw error;
    return undefined;
  } finally {
    await world.close();
  }
}

const cast = (group: Group): AgentDefinition[] => [
  agent({ name: 'lead', tools: [], group, maxRetries: 0 }),
  ...['worker', 'judge'].map((name) => agent({ name, tools: [], maxRetries: 0 })),
];

/** After its last append nothing reaches the ledger any more. */
function mortalLedger(scene: Scene, lastAppend: number): Ledger {
  let appends = 0;
  return {
    ...scene.ledger,
    append: async (request: Append) => {
      scene.activity += 1;
      if (appends >= lastAppend) throw new Error(POWER_GONE);
      appends += 1;
      return await scene.ledger.append(request);
    },
  };
}

async function answer(scene: Scene, world: World, asked: Asked): Promise<ModelOutcome | string | undefined> {
  const { dice, clock } = scene;
  scene.activity += 1;
  if (scene.misfortunes > 0 && dice.chance(0.08)) void strike(scene, world);
  const said = words(scene, asked);
  const delay = asked.part === 'work' && dice.chance(0.05) ? HANGS_MS : dice.number(5_000);
  if ((await sleep(clock, delay, asked.request.signal)) === 'aborted')
    return { kind: 'failed', error: { kind: 'cancelled', message: 'Cancelled.' } };
  scene.activity += 1;
  return said;
}

/** Undefined is what is expected of the part. */
function words({ dice, trait }: Scene, { part, text, round }: Asked): ModelOutcome | string | undefined {
  if (dice.chance(0.08)) return breaks('a hiccup');
  if (part === 'evaluate') return dice.chance(0.1) ? 'Quite good.' : judges(dice.number(100) / 100);
  if (part === 'plan' || part === 'replan' || part === 'nudge')
    return trait === 'stubborn' ? dice.one(['I know better.', '@worker:nobody Do it.']) : plan(dice, text);
  if (part === 'synthesis' && trait === 'dull') return 'Well.\n[[NEEDS_ITERATION]]';
  if (part === 'synthesis') {
    const ending = dice.one(['', '\n[[NEEDS_ITERATION]]', '\n[[GROUP_REFLECT_COMPLETE]]']);
    return `${dice.one(['Well.', 'So.', `Round ${round}.`])}${ending}`;
  }
  if (text.startsWith('Look at your answer'))
    return dice.one(['Better.', '[[REFLECTION_COMPLETE]]', 'Not [[REFLECTION_COMPLETE]] yet.']);
  const long = 'a piece of work '.repeat(dice.number(2_000));
  return dice.one([`Done ${dice.number(1_000_000)}: ${long}`, 'Done.\n[[GROUP_REFLECT_COMPLETE]]', `@worker:w-1 ${long}x`]);
}

function plan(dice: Dice, text: string): ModelOutcome | string | undefined {
  if (dice.chance(0.6)) return undefined;
  const known = /workers are: (.*)\./.exec(text)?.[1]?.split(', ') ?? ['w-1'];
  return dice.one([
    says('I did it myself.'),
    `@worker:${dice.one(known)} Do it alone.`,
    '@worker:nobody Do it.',
    `@worker:nobody Do it.\n@worker:${dice.one(known)} And this.`,
    JSON.stringify([{ worker: 'w-1', task: 'In JSON.' }]),
  ]);
}

function strikeOut(scene: Scene, luck: Luck): void {
  scene.misfortunes -= 1;
  scene.luck.push(luck);
}

/** Something happens from outside a moment later. */
async function strike(scene: Scene, { engine }: World): Promise<void> {
  const luck = scene.dice.one(['pause', 'pause', 'stop', 'cancel'] as const);
  strikeOut(scene, luck);
  await sleep(scene.clock, scene.dice.number(3_000));
  scene.activity += 1;
  try {
    if (luck === 'stop') await engine.close();
    else if (luck === 'pause') await engine.pause(scene.root, 'a pause');
    else await engine.cancel(scene.root, 'changed my mind');
  } catch (error) {
    if (!(error instanceof Error && error.message.includes(POWER_GONE))) scene.surprise = `${luck} failed: ${String(error)}`;
  }
}
