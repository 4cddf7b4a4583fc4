/**
 * What every engine must do, as data: each behaviour is played in worlds, and every engine has some. What differs
 * between engines (who works on a run, where) is no part of it.
 */
import type { RunId } from '../../../src/base/ids.ts';
import type { RunHandle, StartRequest } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { Answer, EventType } from '../../../src/events/catalogue.ts';
import { userText } from '../../../src/events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { createTranscripts } from '../../../src/projections/transcript.ts';
import type { Tool } from '../../../src/tools/port.ts';
import type { World, WorldOptions } from '../../support/world.ts';

/** A ledger, and lives of an engine on it: one after the other, each with a world of its own. */
export interface EngineWorlds {
  create(options: WorldOptions): Promise<World>;
}

export interface EngineCase {
  readonly name: string;
  play(worlds: EngineWorlds): Promise<void>;
}

export async function start(world: World, more: Partial<StartRequest> = {}): Promise<RunHandle> {
  const started = await world.engine.start({ agent: 'worker', input: userText('Do it.'), workspace: '.', ...more });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  return started.handle;
}

export async function resultOf(handle: RunHandle): Promise<RunResult> {
  const end = await handle.done;
  if (end.kind !== 'ended') throw new Error(`did not end: ${JSON.stringify(end)}`);
  return end.result;
}

/** How a run ends that is taken up again, or has ended already. */
export async function resumedResult(world: World, run: RunId): Promise<RunResult> {
  const resumed = await world.engine.resume(run);
  if (resumed.kind === 'ended') return resumed.result;
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  return await resultOf(resumed.handle);
}

/** Ends the waits that a run stopped at, and goes on to its end. */
export async function answered(world: World, handle: RunHandle, answer: Answer): Promise<RunResult> {
  const end = await handle.done;
  if (end.kind !== 'waiting') throw new Error(`does not wait: ${JSON.stringify(end)}`);
  for (const wait of end.waits) await world.engine.answer(wait.run, wait.wait, answer);
  return await resumedResult(world, handle.run);
}

export async function typesIn(world: World, handle: RunHandle): Promise<EventType[]> {
  return (await readAll(world.ledger, handle.session)).map((event) => event.event_type);
}

export async function transcript(world: World, handle: RunHandle) {
  const transcripts = createTranscripts();
  for (const event of await readAll(world.ledger, handle.session)) transcripts.apply(event);
  return transcripts.of(handle.run);
}

/** Who ended how, by agent. */
export async function statesOf(world: World, handle: RunHandle): Promise<string[]> {
  const rows = await world.ledger.runs({ session: handle.session });
  return rows.map(({ agent, state }) => `${agent} ${state}`).toSorted();
}

/** A model that says nothing until it is told to stop. */
export const untilStopped = (request: ModelRequest): Promise<ModelOutcome> =>
  new Promise((resolve) => {
    const stop = (): void => resolve({ kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } });
    if (request.signal.aborted) stop();
    request.signal.addEventListener('abort', stop);
  });

export const question: Tool = {
  name: 'ask',
  description: 'asks',
  inputSchema: { type: 'object' },
  replay: 'safe',
  kind: 'question',
};
