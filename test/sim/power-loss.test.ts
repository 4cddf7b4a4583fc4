/**
 * The power fails at every point of a run, and the disk is left in every state that it may be left in: each is opened, verified
 * and resumed. What was promised to be on the disk is there, nothing refers to what is not, and what must not be done twice is
 * done once (docs/engine.md, decision 0002).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { limits } from '../../src/base/limits.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import type { Append, AppendOutcome, Ledger } from '../../src/ledger/port.ts';
import type { ModelRequest } from '../../src/models/port.ts';
import { type Tool, textResult } from '../../src/tools/port.ts';
import { creationStates, type DiskState, type Recording, recordDisk } from '../support/ledger/power.ts';
import { openTestLedger } from '../support/ledger/sqlite-folder.ts';
import { agent, calls, createWorld, reports, turnOf, type World } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-power-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process has this number, so its leases are a dead owner's. */
const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_00000000000000power' as RunId;
const SESSION = 'ses_00000000000000power' as SessionId;

/** The second turn acts twice and is asked about; what is looked at is too large for the ledger's file. */
const brain = (request: ModelRequest) => {
  const turn = turnOf(request);
  if (turn === 1) return calls({ name: 'look', input: { name: '1' } }, { name: 'act', input: { name: 'a' } });
  if (turn === 2) return calls({ name: 'look', input: { name: '2' } }, { name: 'ask', input: { name: 'b' } });
  return reports('Done.');
};

/** `ask` is an act that somebody has to allow. */
const tools = (noted: (what: string) => void): Tool[] =>
  (['look', 'act', 'ask'] as const).map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    replay: name === 'look' ? 'safe' : 'never',
    ...(name === 'look' ? { readOnly: true } : {}),
    run: async (input) => {
      const what = `${name} ${(input as { name: string }).name}`;
      noted(what);
      return textResult(name === 'look' ? what.repeat(limits.payloadInlineBytes) : what);
    },
  }));

const worker = agent({ tools: ['look', 'act', 'ask'], permissions: { act: 'allow', ask: 'ask' } });

/** Starts or resumes the run and says yes to everything, until it ends. */
async function finish({ engine }: World): Promise<string> {
  for (;;) {
    const resumed = await engine.resume(RUN);
    if (resumed.kind === 'ended') return resumed.result.status;
    const begun =
      resumed.kind === 'resumed'
        ? resumed
        : await engine.start({ agent: 'worker', input: userText('Go.'), workspace: '.', run: RUN, session: SESSION });
    if (!('handle' in begun)) throw new Error(JSON.stringify(begun));
    const end = await begun.handle.done;
    if (end.kind === 'ended') return end.result.status;
    for (const { run, wait } of await engine.waits(RUN)) await engine.answer(run, wait, { kind: 'approved' });
  }
}

interface Promised {
  readonly at: number;
  readonly events: number;
}

/** A whole run, with what it promised and did, and how much had been written by then. */
async function recordedRun(
  name: string,
  pages?: number,
): Promise<{
  readonly recording: Recording;
  readonly effects: readonly { readonly at: number; readonly what: string }[];
  readonly promised: readonly Promised[];
  close(): Promise<void>;
}> {
  const path = join(mkdtempSync(join(folder, name)), 'ledger.db');
  await openTestLedger({ path }).close();
  const recording = recordDisk(path, pages);
  const effects: { at: number; what: string }[] = [];
  const promised: Promised[] = [];
  const store = openTestLedger({ path, owner: { pid: DEAD_PID }, disk: recording.disk });
  const noting: Ledger = {
    ...store,
    append: async (request: Append): Promise<AppendOutcome> => {
      const outcome = await store.append(request);
      if (outcome.kind === 'appended' && request.sync === 'power')
        promised.push({ at: recording.length(), events: outcome.events.at(-1)?.position ?? 0 });
      return outcome;
    },
  };
  const noted = (what: string): void => void effects.push({ at: recording.length(), what });
  const world = createWorld({ ledger: noting, brain, agents: [worker], tools: tools(noted) });
  expect(await finish(world)).toBe('completed');
  recording.stop();
  return { recording, effects, promised, close: () => store.close() };
}

async function tryState(state: DiskState, done: readonly string[], promised: number, index: number): Promise<void> {
  const place = mkdtempSync(join(folder, `state-${index}-`));
  const ledger = openTestLedger({ path: state.restore(place) });
  expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
  expect((await readAll(ledger, SESSION)).length).toBeGreaterThanOrEqual(promised);
  const effects = [...done];
  const world = createWorld({ ledger, brain, agents: [worker], tools: tools((what) => void effects.push(what)) });
  expect(await finish(world)).toMatch(/^completed/);
  expect(effects.filter((what) => what === 'act a')).toHaveLength(1);
  expect(effects.filter((what) => what === 'ask b')).toHaveLength(1);
  expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
  await world.close();
  await ledger.close();
  rmSync(place, { recursive: true, force: true });
}

it('wherever the power fails, what was promised is there and nothing is done twice', async () => {
  const run = await recordedRun('run-');
  // The opening, two intents, the question, its answer, the end.
  expect(run.promised.length).toBeGreaterThanOrEqual(5);
  const tried = await tryStates(run, () => true);
  // The first request is written with the opening, so that there is one commit less to cut.
  expect(tried.size).toBeGreaterThan(60);
  await run.close();
});

it('wherever the power fails while the log is written back into the file, or just begins anew, nothing is lost', async () => {
  const run = await recordedRun('back-', 10);
  const { checkpoints } = run.recording;
  expect(checkpoints().length).toBeGreaterThanOrEqual(3);
  const isNear = (length: number): boolean => checkpoints().some((at) => length >= at && length <= at + 2);
  const tried = await tryStates(run, isNear);
  expect([...tried].filter((name) => name.includes('written back with')).length).toBeGreaterThan(12);
  await run.close();
});

async function tryStates(
  { recording, effects, promised }: Awaited<ReturnType<typeof recordedRun>>,
  wanted: (length: number) => boolean,
): Promise<ReadonlySet<string>> {
  const tried = new Set<string>();
  for (let length = 0; length <= recording.length(); length += 1) {
    if (!wanted(length)) continue;
    const done = effects.filter(({ at }) => at <= length).map(({ what }) => what);
    const least = promised.findLast(({ at }) => at <= length)?.events ?? 0;
    for (const state of recording.statesAt(length)) {
      const name = `${state.name}; done: ${done.join(', ')}; promised: ${least}`;
      if (tried.has(name)) continue;
      tried.add(name);
      await tryState(state, done, least, tried.size).catch((error: unknown) => {
        throw new Error(`With the power gone after ${length} writes, left with ${name}`, { cause: error });
      });
    }
  }
  return tried;
}

it('wherever the power fails while the ledger is made, the next process makes or completes it', async () => {
  const path = join(mkdtempSync(join(folder, 'made-')), 'ledger.db');
  let made: Ledger | undefined;
  const states = creationStates(path, () => {
    made = openTestLedger({ path });
  });
  await made?.close();
  expect(states.length).toBeGreaterThanOrEqual(8);
  for (const [index, state] of states.entries()) {
    await tryState(state, [], 0, index).catch((error: unknown) => {
      throw new Error(`With the power gone while it was made, left with ${state.name}`, { cause: error });
    });
  }
});
