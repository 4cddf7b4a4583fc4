/**
 * Crash at every commit, for every pattern. Each scenario is cut at an append, taken up by another process's ledger and
 * resumed. It must end as if nothing had happened: the same answer by the same agent, nothing done twice that must not be,
 * no answered model call made again, every broadcast once per reader, and the same conversations where nobody races. One
 * scenario of each pattern also lives on through one cut after the other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds } from '../../src/base/ids.ts';
import { present } from '../../src/base/present.ts';
import { seededRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { type Message, userText } from '../../src/events/messages.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import type { RunResult } from '../../src/patterns/steps.ts';
import { createTranscripts } from '../../src/projections/transcript.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { checkExpected, checkRuns, checkTeams } from '../support/patterns/invariants.ts';
import type { Scenario } from '../support/patterns/scenarios.ts';
import { playOn, ROOT_RUN, ROOT_SESSION, scenarioEvents, scenarios } from '../support/patterns/table.ts';
import { createWorld, type Outside, type World } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-pattern-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process has this number, so its leases are a dead owner's. */
const DEAD_PID = 2 ** 22 + 1;
/**
 * One play of each pattern is cut everywhere. The others are cut where no play of their pattern was cut before them (between two
 * such commits of such runs), and at this many places in any case.
 */
const SAMPLE = 3;
const NEVER = Number.POSITIVE_INFINITY;
let files = 0;

interface Play {
  readonly scenario: Scenario;
  readonly path: string;
  readonly outside: Outside;
}

function newPlay(scenario: Scenario): Play {
  files += 1;
  return { scenario, path: join(folder, `${files}.db`), outside: { modelCalls: [], effects: [] } };
}

/** One process's life: starts or resumes the play, and dies after `lastAppend` appends unless it ends before. */
async function live({ scenario, path, outside }: Play, lastAppend: number) {
  let appends: readonly string[] = [];
  const world = createWorld({
    path,
    outside,
    agents: scenario.agents,
    brain: (request) => scenario.brain(request),
    ...present({ clock: scenario.clock }),
    owner: { pid: DEAD_PID },
    wrapLedger: (inner) => {
      const crashing = crashAt(inner, lastAppend);
      appends = crashing.kinds;
      return crashing.ledger;
    },
  });
  const result = await untilEnd(world, scenario);
  await world.executors.close();
  await world.ledger.close();
  return { result, appends };
}

async function untilEnd(world: World, scenario: Scenario): Promise<RunResult | undefined> {
  const { agents, prompt } = scenario;
  const resumed = await world.engine.resume(ROOT_RUN);
  if (resumed.kind === 'ended') return resumed.result;
  if (resumed.kind === 'refused' || resumed.kind === 'held') return undefined;
  const request = {
    agent: agents[0]?.name ?? '',
    input: userText(prompt),
    workspace: folder,
    run: ROOT_RUN,
    session: ROOT_SESSION,
  };
  const begun = resumed.kind === 'resumed' ? resumed : await world.engine.start(request);
  if (begun.kind === 'refused') return undefined;
  // The answer is cut off, too.
  const end = await playOn(world, scenario, begun.handle).catch(() => undefined);
  return end?.kind === 'ended' ? end.result : undefined;
}

async function recorded(path: string): Promise<readonly LedgerEvent[]> {
  return await reading(path, (ledger) => readAll(ledger, ROOT_SESSION));
}

async function reading<T>(path: string, look: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ids = createIds(systemClock, seededRandom(9));
  const ledger = openSqliteLedger({ path, clock: systemClock, ids, readOnly: true });
  try {
    return await look(ledger);
  } finally {
    await ledger.close();
  }
}

/** The calls whose answers are on the disk: nobody may make them again. */
const answeredCalls = (events: readonly LedgerEvent[]): Set<string> =>
  new Set(events.flatMap((event) => (event.event_type === 'model.response' ? [`${event.run_id}/${event.step}`] : [])));

async function checkEnd(play: Play, result: RunResult | undefined, when: string): Promise<readonly LedgerEvent[]> {
  if (result === undefined) throw new Error(`${when}: the play did not end`);
  checkExpected({ result }, play.scenario, when);
  const acts = play.outside.effects.filter((effect) => effect.startsWith('act'));
  expect(new Set(acts).size, `${when}: an effect that must not be repeated happened twice`).toBe(acts.length);
  const commands = play.outside.executors?.effects ?? [];
  expect(new Set(commands).size, `${when}: an executor did something twice`).toBe(commands.length);
  const { events, verified } = await reading(play.path, async (ledger) => {
    return { events: await readAll(ledger, ROOT_SESSION), verified: await ledger.verify() };
  });
  expect(verified, when).toMatchObject({ kind: 'sound' });
  const played = { result, events: scenarioEvents(events) };
  checkRuns(played);
  checkTeams(played);
  return events;
}

type Conversations = Readonly<Record<string, readonly Message[]>>;

/** What was said in each run, fences aside. In a team members race, so what one hears before its next turn may differ. */
function conversations(events: readonly LedgerEvent[]): Conversations | undefined {
  if (events.some((event) => event.event_type === 'team.broadcast')) return undefined;
  const transcripts = createTranscripts();
  for (const event of events) transcripts.apply(event);
  const runs = events.flatMap((event) => (event.event_type === 'run.started' ? [event.run_id] : []));
  return Object.fromEntries(runs.map((run) => [run, transcripts.of(run).map(withoutFences)]));
}

function withoutFences(message: Message): Message {
  if (message.role !== 'user') return message;
  const content = message.content.map((part) =>
    part.type === 'text' ? { ...part, text: part.text.replaceAll(/\b[0-9a-z]{12}\b/g, 'fence') } : part,
  );
  return { ...message, content };
}

const inDoubt = (events: readonly LedgerEvent[]): boolean =>
  events.some((event) => event.event_type === 'tool.result' && event.payload.inDoubt === true);

async function cutAt(scenario: Scenario, cut: number, said: Conversations | undefined): Promise<void> {
  const play = newPlay(scenario);
  const when = `cut at ${cut}`;
  await live(play, cut);
  const answered = answeredCalls(await recorded(play.path));
  const before = play.outside.modelCalls.length;
  const { result } = await live(play, NEVER);
  const events = await checkEnd(play, result, when);
  if (said !== undefined && !inDoubt(events)) expect(conversations(events), when).toEqual(said);
  const again = play.outside.modelCalls.slice(before).filter((call) => answered.has(call));
  expect(again, `${when}: an answered call was made again`).toEqual([]);
  expect(new Set(play.outside.modelCalls.slice(before)).size, when).toBe(play.outside.modelCalls.length - before);
  for (const file of ['', '-wal', '-shm']) rmSync(`${play.path}${file}`, { force: true });
}

/** Every append; or those between two kinds of commits where their pattern was not cut yet, and a spread of the others. */
function cutsOf({ pattern, everyCut }: Scenario, appends: readonly string[], row: number): number[] {
  const stride = Math.max(1, Math.floor(appends.length / SAMPLE));
  return appends.flatMap((kind, cut) => {
    const place = `${pattern}: ${appends[cut - 1]} | ${kind}`;
    const known = places.has(place);
    places.add(place);
    return everyCut === true || !known || cut % stride === row % stride ? [cut] : [];
  });
}

const places = new Set<string>();

/** A life is one prompt: what comes after it is not played here. */
const rows = scenarios
  .filter(({ afterwards, uncut }) => afterwards === undefined && uncut === undefined)
  // Whether a crash loses what was found out shows where something was.
  .filter(({ pattern, expect: expected }) => pattern !== 'verification' || expected.verification === 'unverified')
  // Those that are cut everywhere come first: what they have seen the others need not see again.
  .toSorted((one, other) => Number(other.everyCut === true) - Number(one.everyCut === true))
  .map((scenario, row) => ({ title: `${scenario.pattern}: ${scenario.name}`, scenario, row }));

describe('a pattern that is cut and resumed:', () => {
  it.each(rows)('$title', async ({ scenario, row }) => {
    const whole = newPlay(scenario);
    const uncut = await live(whole, NEVER);
    await checkEnd(whole, uncut.result, 'not cut');
    const cuts = cutsOf(scenario, uncut.appends, row);
    expect(cuts.length).toBeGreaterThanOrEqual(Math.min(uncut.appends.length, SAMPLE));
    const said = conversations(await recorded(whole.path));
    for (const cut of cuts) await cutAt(scenario, cut, said);
  });
});

describe('a pattern that is cut again and again:', () => {
  const hardest = rows.filter(({ scenario }) => scenario.everyCut === true);

  it.each(hardest)('$title', async ({ scenario }) => {
    for (let seed = 1; seed <= 3; seed += 1) {
      const random = seededRandom(seed);
      const play = newPlay(scenario);
      let result: RunResult | undefined;
      for (let lives = 0; lives < 100 && result === undefined; lives += 1) {
        // Longer and longer: whoever takes up two executors has said so several times before anything new is done.
        result = (await live(play, 2 + Math.floor(random.fraction() * 4) + Math.floor(lives / 10))).result;
      }
      await checkEnd(play, result, `seed ${seed}`);
    }
  });
});
