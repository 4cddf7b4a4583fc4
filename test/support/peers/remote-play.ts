/** Plays with agents that live elsewhere: processes that end after so many appends, on one ledger and one memory outside. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { RunId, SessionId } from '../../../src/base/ids.ts';
import type { RunEnd } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { userText } from '../../../src/events/messages.ts';
import type { ModelRequest } from '../../../src/models/port.ts';
import { foldCosts, initialCosts } from '../../../src/projections/costs.ts';
import { foldRunTree, initialRunTree, subtreeSpending } from '../../../src/projections/run-tree.ts';
import { crashAt } from '../ledger/crash.ts';
import { createQuietClock } from '../quiet-clock.ts';
import { playsAgain } from '../replayed.ts';
import { type Brain, calls, createWorld, says, turnOf, type World } from '../world.ts';
import { brainPeers, newPeerMemory, type PeerHabits, type PeerMemory, remote } from './brain-peers.ts';

export const folder = mkdtempSync(join(tmpdir(), 'troupe-remote-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process has this number, so its leases are a dead owner's. */
export const DEAD_PID = 2 ** 22 + 1;
export const RUN = 'run_0000000000000remote' as RunId;
export const SESSION = 'ses_0000000000000remote' as SessionId;
export const NEVER = Number.POSITIVE_INFINITY;
let files = 0;

export interface Play {
  readonly agents: readonly AgentDefinition[];
  readonly brain: Brain;
  readonly habits?: PeerHabits;
  /** Takes out what is secret here. */
  readonly redact?: (text: string) => string;
  /** What a person says when asked; without it nobody is there. */
  readonly answer?: (question: string) => string;
}

export interface Kept extends Play {
  readonly path: string;
  readonly memory: PeerMemory;
}

export const newPlay = (play: Play): Kept => ({ ...play, path: join(folder, `${++files}.db`), memory: newPeerMemory() });

interface Life {
  readonly end: RunEnd | undefined;
  readonly appends: readonly string[];
}

/** One process's life: starts or resumes the run, answers what is asked, and dies after so many appends. */
export async function live(
  { path, memory, agents, brain, habits = {}, answer, redact = (text) => text }: Kept,
  lastAppend = NEVER,
  prompt = 'Go.',
): Promise<Life> {
  let appends: readonly string[] = [];
  const world = createWorld({
    ...{ path, agents, brain, outside: { modelCalls: [], effects: [], peers: memory }, owner: { pid: DEAD_PID } },
    clock: createQuietClock(),
    engineOptions: { redact, peers: brainPeers(memory, (request) => brain(request, 0), habits) },
    wrapLedger: (inner) => {
      const crashing = crashAt(inner, lastAppend);
      appends = crashing.kinds;
      return crashing.ledger;
    },
  });
  const end = await driven(world, agents, prompt, answer).catch(() => undefined);
  await world.ledger.close();
  return { end, appends };
}

async function driven(world: World, agents: readonly AgentDefinition[], prompt: string, answer: Play['answer']) {
  const resumed = await world.engine.resume(RUN, {});
  if (resumed.kind === 'ended') return { kind: 'ended' as const, result: resumed.result };
  const input = userText(prompt);
  const request = { agent: agents[0]?.name ?? '', input, workspace: folder, run: RUN, session: SESSION };
  const begun = resumed.kind === 'resumed' ? resumed : await world.engine.start(request);
  if (begun.kind !== 'started' && begun.kind !== 'resumed') throw new Error(JSON.stringify(begun));
  for (let going = begun.handle; ; ) {
    const end = await going.done;
    if (end.kind !== 'waiting' || answer === undefined) return end;
    for (const { run, wait, question } of end.waits)
      await world.engine.answer(run, wait, { kind: 'text', text: answer(question) });
    const again = await world.engine.resume(RUN);
    if (again.kind === 'ended') return { kind: 'ended' as const, result: again.result };
    if (again.kind !== 'resumed') throw new Error(JSON.stringify(again));
    going = again.handle;
  }
}

export async function eventsOf({ path, agents, brain }: Kept) {
  const world = createWorld({ path, agents, brain });
  const events = await readAll(world.ledger, SESSION);
  const verified = await world.ledger.verify();
  await playsAgain(world.ledger);
  await world.close();
  expect(verified).toMatchObject({ kind: 'sound' });
  return events;
}

/** What was spent, as `troupe cost` and as the tree of runs says it. */
export function spentIn(events: readonly LedgerEvent[]) {
  const { total, lines } = events.reduce(foldCosts, initialCosts());
  const { calls, unknownCalls } = subtreeSpending(events.reduce(foldRunTree, initialRunTree()), RUN);
  expect({ calls, unknownCalls }).toEqual({ calls: total.calls, unknownCalls: total.unknownCalls });
  return { calls, unknownCalls, models: [...lines.values()].map(({ model }) => model) };
}

export const once = (words: readonly string[], what: string) => expect([...new Set(words)], what).toEqual(words);

/** Asks which city, then says how it is there. */
export const weather: Brain = (request) => {
  const said = turnOf(request);
  if (said === 1) return calls({ name: 'ask', input: { question: 'Which city?' } });
  return says(`Sun in ${lastWord(request)}.`);
};
const lastWord = ({ messages }: ModelRequest): string => {
  const last = messages.findLast(({ role }) => role === 'user');
  return last?.role === 'user' ? last.content.map((part) => (part.type === 'text' ? part.text : '')).join('') : '';
};

export const alone: Play = { agents: [remote('weather')], brain: weather, answer: () => 'Porto' };
export const sunny: Play = { agents: [remote('weather')], brain: () => says('Sun.') };
export const bodyOf = (end: RunEnd | undefined) => (end?.kind === 'ended' ? end.result.report.body : end?.kind);
