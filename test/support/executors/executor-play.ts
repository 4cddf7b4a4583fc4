/** Plays with executors: processes that end after so many appends, on one ledger and one memory outside. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { RunId, SessionId } from '../../../src/base/ids.ts';
import type { EngineOptions } from '../../../src/engine/options.ts';
import type { OpenWait, RunEnd } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { Answer, EventType } from '../../../src/events/catalogue.ts';
import type { EventOf } from '../../../src/events/envelope.ts';
import { userText } from '../../../src/events/messages.ts';
import type { Executors } from '../../../src/executors/port.ts';
import { crashAt } from '../ledger/crash.ts';
import { createQuietClock } from '../quiet-clock.ts';
import { type Brain, createWorld, type World } from '../world.ts';
import { brainExecutors, type ExecutorHabits, type ExecutorMemory, newExecutorMemory } from './brain-executors.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-executor-play-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process has this number, so its leases are a dead owner's. */
const DEAD_PID = 2 ** 22 + 1;
export const RUN = 'run_00000000000executor' as RunId;
export const SESSION = 'ses_00000000000executor' as SessionId;
const NEVER = Number.POSITIVE_INFINITY;
let files = 0;

export interface Play {
  readonly agents: readonly AgentDefinition[];
  readonly brain: Brain;
  readonly habits?: ExecutorHabits;
  readonly engineOptions?: Partial<EngineOptions>;
  /** What a person says when asked; without it nobody is there. */
  readonly answer?: (wait: OpenWait) => Answer;
}

export interface KeptPlay extends Play {
  readonly path: string;
  readonly workspace: string;
  readonly memory: ExecutorMemory;
}

export function newPlay(play: Play): KeptPlay {
  files += 1;
  const workspace = join(folder, `workspace-${files}`);
  mkdirSync(workspace);
  return { ...play, path: join(folder, `${files}.db`), workspace, memory: newExecutorMemory() };
}

export interface Life {
  readonly end: RunEnd | undefined;
  readonly appends: readonly string[];
}

export interface OpenWorld extends World {
  readonly executors: Executors;
}

export function worldOf(kept: KeptPlay, more: Partial<Parameters<typeof createWorld>[0]> = {}): OpenWorld {
  const { path, agents, brain, habits, memory, engineOptions } = kept;
  const executors = brainExecutors(memory, (request) => brain(request, 0), habits);
  const world = createWorld({
    ...{ path, agents, brain, clock: createQuietClock(), ...more },
    engineOptions: { executors, ...engineOptions },
  });
  return { ...world, executors };
}

/** One process's life: starts or resumes the run, answers what is asked, and dies after so many appends. */
export async function live(kept: KeptPlay, lastAppend = NEVER, prompt = 'Go.'): Promise<Life> {
  let appends: readonly string[] = [];
  const world = worldOf(kept, {
    owner: { pid: DEAD_PID },
    wrapLedger: (inner) => {
      const crashing = crashAt(inner, lastAppend);
      appends = crashing.kinds;
      return crashing.ledger;
    },
  });
  const end = await driven(world, kept, prompt).catch(() => undefined);
  await world.executors.close();
  await world.ledger.close();
  return { end, appends };
}

export async function driven(world: World, { agents, workspace, answer }: KeptPlay, prompt = 'Go.'): Promise<RunEnd> {
  const resumed = await world.engine.resume(RUN, {});
  if (resumed.kind === 'ended') return { kind: 'ended', result: resumed.result };
  const request = { agent: agents[0]?.name ?? '', input: userText(prompt), workspace, run: RUN, session: SESSION };
  const begun = resumed.kind === 'resumed' ? resumed : await world.engine.start(request);
  if (begun.kind !== 'started' && begun.kind !== 'resumed') throw new Error(JSON.stringify(begun));
  for (let going = begun.handle; ; ) {
    const end = await going.done;
    if (end.kind !== 'waiting' || answer === undefined) return end;
    for (const wait of end.waits) await world.engine.answer(wait.run, wait.wait, answer(wait));
    const again = await world.engine.resume(RUN);
    if (again.kind === 'ended') return { kind: 'ended', result: again.result };
    if (again.kind !== 'resumed') throw new Error(JSON.stringify(again));
    going = again.handle;
  }
}

export async function eventsOf({ path, agents, brain }: KeptPlay) {
  const world = createWorld({ path, agents, brain });
  const events = await readAll(world.ledger, SESSION);
  const verified = await world.ledger.verify();
  await world.close();
  expect(verified).toMatchObject({ kind: 'sound' });
  return events;
}

export async function payloadsOf<Type extends EventType>(kept: KeptPlay, type: Type): Promise<EventOf<Type>['payload'][]> {
  return (await eventsOf(kept)).flatMap((event) =>
    event.event_type === type ? [event.payload as EventOf<Type>['payload']] : [],
  );
}

export const bodyOf = (end: RunEnd | undefined) => (end?.kind === 'ended' ? end.result.report.body : end?.kind);
