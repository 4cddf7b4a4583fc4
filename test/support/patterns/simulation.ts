/**
 * One simulated life story of a session: random agents, a random model, and bad luck in the form of cancels, pauses, stops and
 * deaths of the process at random moments. Time is virtual and everything happens in one thread, so a seed tells the same
 * story every time. What was seen from outside is kept for the checks.
 */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { sleep } from '../../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../../src/base/ids.ts';
import { seededRandom } from '../../../src/base/random.ts';
import type { RunEnd } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { type Message, userText } from '../../../src/events/messages.ts';
import type { Append, Ledger } from '../../../src/ledger/port.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/store.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { createQuota } from '../../../src/quota/quota.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { askTool } from '../../../src/tools/ask.ts';
import { errorResult, type Tool, textResult } from '../../../src/tools/port.ts';
import { createWorld, type World } from '../world.ts';
import { type Dice, diceOf, randomAgents, randomAnswer } from './random-agents.ts';

/** A request as the model got it. */
export interface SeenRequest {
  readonly run: string;
  readonly step: string;
  readonly messages: readonly Message[];
  /** Whether somebody had already cancelled the call when it was made. */
  readonly aborted: boolean;
}

export interface SimulatedSession {
  readonly seed: number;
  readonly agents: readonly AgentDefinition[];
  readonly requests: readonly SeenRequest[];
  /** Runs that were cancelled, with the number of requests seen by then. */
  readonly cancels: readonly { readonly run: string; readonly seen: number }[];
  readonly effects: readonly string[];
  readonly events: readonly LedgerEvent[];
  readonly sound: boolean;
  readonly root: RunId;
  readonly result: RunResult | undefined;
  /** Why the story did not come to an end, if so. */
  readonly trouble: string | undefined;
  readonly luck: readonly Luck[];
}

type Luck = 'cancel all' | 'cancel one' | 'pause' | 'stop' | 'death';

/** No process has this number, so whoever holds a lease under it counts as dead. */
const DEAD_PID = 2 ** 22 + 1;
const CALLS_BEFORE_TIRED = 30;
const LIVES_MAX = 40;
/** Nothing in a story waits this long. */
const STUCK_AFTER_MS = 3_600_000;
const ROUNDS_MAX = 100_000;

interface Scene {
  readonly seed: number;
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly agents: readonly AgentDefinition[];
  readonly requests: SeenRequest[];
  readonly cancels: { run: string; seen: number }[];
  readonly effects: string[];
  readonly luck: Luck[];
  readonly session: SessionId;
  readonly root: RunId;
  /** Grows with everything that happens. */
  activity: number;
  misfortunes: number;
  /** What somebody outside was told that should not have been. */
  surprise?: string;
}

export async function simulate(seed: number): Promise<SimulatedSession> {
  const random = seededRandom(seed);
  const dice = diceOf(random);
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const ids = createIds(clock, random);
  // Checking every payload, and reading everything back to hash it, is dear: now and then is enough.
  const thorough = seed % 10 === 0;
  const ledger = openSqliteLedger({ path: ':memory:', clock, ids, validate: thorough, owner: { pid: DEAD_PID } });
  const scene: Scene = {
    seed,
    dice,
    clock,
    ledger,
    agents: randomAgents(dice),
    requests: [],
    cancels: [],
    effects: [],
    luck: [],
    session: ids.session(),
    root: ids.run(),
    activity: 0,
    misfortunes: dice.number(5),
  };
  const { result, trouble } = await letTimePass(scene, liveOn(scene));
  const events = await readAll(ledger, scene.session);
  const sound = !thorough || (await ledger.verify()).kind === 'sound';
  await ledger.close();
  const { agents, requests, cancels, effects, root, luck } = scene;
  return { seed, agents, requests, cancels, effects, events, sound, root, result, trouble: trouble ?? scene.surprise, luck };
}

interface Outcome {
  readonly result?: RunResult | undefined;
  readonly trouble?: string | undefined;
}

/** Lets timers ring whenever nothing else is going on, until the work is done. */
async function letTimePass(scene: Scene, work: Promise<RunResult | undefined>): Promise<Outcome> {
  let outcome: Outcome | undefined;
  work.then(
    (result) => {
      outcome = { result };
    },
    (error: unknown) => {
      outcome = { trouble: String(error) };
    },
  );
  let seen = -1;
  let lastActive = scene.clock.now();
  let quiet = 0;
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (outcome !== undefined) return outcome;
    quiet = scene.activity === seen ? quiet + 1 : 0;
    if (quiet === 0) lastActive = scene.clock.now();
    seen = scene.activity;
    if (quiet > 3 && !scene.clock.advance() && quiet > 1_000) return { trouble: 'nothing happens any more' };
    if (scene.clock.now() - lastActive > STUCK_AFTER_MS) return { trouble: 'nothing but waiting happens any more' };
  }
  return { trouble: 'it goes on and on' };
}

/** One process after the other works on the session until it ends. */
async function liveOn(scene: Scene): Promise<RunResult | undefined> {
  for (let life = 1; life <= LIVES_MAX; life += 1) {
    const result = await liveOnce(scene, life);
    if (result !== undefined) return result;
  }
  return undefined;
}

async function liveOnce(scene: Scene, life: number): Promise<RunResult | undefined> {
  const { dice } = scene;
  const mayDie = scene.misfortunes > 0 && dice.chance(0.4);
  if (mayDie) misfortune(scene, 'death');
  const mortal = mortalLedger(scene, mayDie ? 1 + dice.number(60) : Number.POSITIVE_INFINITY);
  const random = seededRandom(scene.seed * 1_000 + life);
  const { clock } = scene;
  const world = createWorld({
    clock,
    ledger: mortal,
    seed: scene.seed * 1_000 + life,
    agents: scene.agents,
    tools: simulatedTools(scene),
    brain: (request) => answer(scene, world, request),
    engineOptions: { quota: createQuota({ clock, random, concurrency: 1 + dice.number(3) }) },
  });
  const end = await untilStuck(scene, world);
  await world.close();
  return end?.kind === 'ended' ? end.result : undefined;
}

/** Starts or resumes the run, answering its questions, until this process cannot go on. */
async function untilStuck(scene: Scene, world: World): Promise<RunEnd | undefined> {
  const { engine } = world;
  const request = { agent: 'root', input: userText('The request.'), workspace: '.', run: scene.root, session: scene.session };
  try {
    for (let turn = 0; turn < 200; turn += 1) {
      const started = await engine.start(request);
      if (started.kind !== 'started') return undefined;
      const end = await started.handle.done;
      // A parked one is asked for again, as a person would once the provider is back.
      if (end.kind !== 'waiting' && end.kind !== 'paused' && end.kind !== 'parked') return end;
      for (const { run, wait, kind } of end.kind === 'waiting' ? end.waits : [])
        await engine.answer(run, wait, kind === 'permission' ? { kind: 'approved' } : { kind: 'text', text: 'So be it.' });
    }
  } catch (error) {
    if (!isPowerGone(error)) throw error;
  }
  return undefined;
}

const isPowerGone = (error: unknown): boolean => error instanceof Error && error.message.includes(POWER_GONE);

const POWER_GONE = 'the power is gone';

/** After its last append nothing reaches the ledger any more, nor comes from it. */
function mortalLedger(scene: Scene, lastAppend: number): Ledger {
  const { ledger } = scene;
  let appends = 0;
  const alive = (): void => {
    scene.activity += 1;
    if (appends >= lastAppend) throw new Error(POWER_GONE);
  };
  return {
    ...ledger,
    append: async (request: Append) => {
      alive();
      appends += 1;
      return await ledger.append(request);
    },
    read: async (query) => {
      alive();
      return await ledger.read(query);
    },
    runs: async (query) => {
      alive();
      return await ledger.runs(query);
    },
    release: async (fence) => {
      alive();
      await ledger.release(fence);
    },
  };
}

async function answer(scene: Scene, world: World, request: ModelRequest): Promise<ModelOutcome> {
  const { dice, clock } = scene;
  scene.activity += 1;
  const [run = '', ...step] = request.idempotencyKey.split('/');
  const { aborted } = request.signal;
  scene.requests.push({ run, step: step.join('/'), messages: [...request.messages], aborted });
  if (scene.misfortunes > 0 && dice.chance(0.12)) void strike(scene, world, run as RunId);
  const outcome = randomAnswer(dice, request, scene.requests.length, scene.requests.length > CALLS_BEFORE_TIRED);
  if (dice.chance(0.8) && (await sleep(clock, dice.number(3_000), request.signal)) === 'aborted')
    return { kind: 'failed', error: { kind: 'cancelled', message: 'Cancelled.' } };
  scene.activity += 1;
  return outcome;
}

function misfortune(scene: Scene, luck: Luck): void {
  scene.misfortunes -= 1;
  scene.luck.push(luck);
}

/** Something happens from outside a moment later. */
async function strike(scene: Scene, { engine }: World, asking: RunId): Promise<void> {
  const luck = scene.dice.one(['cancel all', 'cancel one', 'pause', 'stop'] as const);
  misfortune(scene, luck);
  await sleep(scene.clock, scene.dice.number(2_000));
  try {
    if (luck === 'stop') await engine.close();
    else if (luck === 'pause') await engine.pause(scene.root, 'a pause');
    else await cancel(scene, engine, luck === 'cancel all' ? scene.root : asking);
  } catch (error) {
    // The process died meanwhile.
    if (!isPowerGone(error)) scene.surprise = `${luck} failed: ${String(error)}`;
  }
}

async function cancel(scene: Scene, engine: World['engine'], run: RunId): Promise<void> {
  const outcome = await engine.cancel(run, 'changed my mind');
  if (outcome.kind !== 'accepted') return;
  // The signal is in the ledger; whoever drives the run hears of it in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  scene.cancels.push({ run, seen: scene.requests.length });
}

function simulatedTools(scene: Scene): Tool[] {
  const { dice, clock } = scene;
  const inputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const tool = (name: string, replay: Tool['replay']): Tool => ({
    name,
    description: name,
    inputSchema,
    replay,
    async run(input, { signal }) {
      scene.activity += 1;
      const what = `${name} ${(input as { name: string }).name}`;
      scene.effects.push(what);
      if (dice.chance(0.5)) await sleep(clock, dice.number(1_000), signal);
      if (dice.chance(0.1)) throw new Error('the tool broke');
      return dice.chance(0.1) ? errorResult('It did not work.') : textResult(`${what} ${'done '.repeat(dice.number(200))}`);
    },
  });
  return [tool('look', 'safe'), tool('act', 'never'), askTool()];
}
