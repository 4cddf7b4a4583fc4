/**
 * Crash at every commit, with a person who writes to the run meanwhile. Whoever was told "accepted" is heard exactly once,
 * wherever the power goes between the acceptance, the request that carries it and the end; and by whoever works at that moment.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../src/base/ids.ts';
import { seededRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import type { ModelOutcome, ModelRequest } from '../../src/models/port.ts';
import { createTranscripts } from '../../src/projections/transcript.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { agent, calls, createWorld, type Outside, reports, says, turnOf, type World } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-sent-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process has this number, so its leases are a dead owner's. */
const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_000000000000000sent' as RunId;
const SESSION = 'ses_000000000000000sent' as SessionId;
const WORDS = 'Leave the tests alone.';

const hears = ({ messages }: ModelRequest): boolean => JSON.stringify(messages).includes(WORDS);

interface Play {
  readonly agents: readonly AgentDefinition[];
  /** Writes to the root when this is asked, once. */
  writes(request: ModelRequest): boolean;
  answer(request: ModelRequest): ModelOutcome;
  readonly hearer: string;
}

const act = (name: string): ModelOutcome => calls({ name: 'act', input: { name } });

const plays: Readonly<Record<string, Play>> = {
  'in the middle of its work': {
    agents: [agent({ maxTurns: 20 })],
    writes: (request) => turnOf(request) === 2,
    answer: (request) =>
      turnOf(request) < 4 ? act(String(turnOf(request))) : reports(hears(request) ? 'With it.' : 'Without it.'),
    hearer: 'worker',
  },
  'while it makes its report': {
    agents: [agent({ maxTurns: 20 })],
    writes: (request) => turnOf(request) === 2,
    answer: (request) => (turnOf(request) === 1 ? act('1') : reports(hears(request) ? 'With it.' : 'Without it.')),
    hearer: 'worker',
  },
  'when it has handed over': {
    agents: [
      agent({ tools: [], maxTurns: 20, handoff: { to: 'helper', include: 'request' } }),
      agent({ name: 'helper', maxTurns: 20 }),
    ],
    writes: ({ agent: name }) => name === 'helper',
    answer: (request) => {
      if (request.agent === 'worker') return says('Over to you.');
      return turnOf(request) < 3 ? act(String(turnOf(request))) : reports(hears(request) ? 'With it.' : 'Without it.');
    },
    hearer: 'helper',
  },
};

/** What has happened outside of every life. */
interface Person {
  readonly outside: Outside;
  accepted: boolean;
  readonly heardBy: Set<string>;
}

const person = (): Person => ({ outside: { modelCalls: [], effects: [] }, accepted: false, heardBy: new Set() });

/** One process's life: starts or resumes the run, and dies after `lastAppend` appends unless it ends before. */
async function live(play: Play, path: string, person: Person, lastAppend: number) {
  let appends = () => 0;
  const world: World = createWorld({
    path,
    outside: person.outside,
    agents: play.agents,
    brain: async (request) => {
      if (hears(request)) person.heardBy.add(request.agent ?? '');
      if (!person.accepted && play.writes(request)) {
        const sent = await world.engine.send(RUN, WORDS, { by: 'ada', where: 'command' }).catch(() => undefined);
        person.accepted = sent?.kind === 'accepted';
      }
      return play.answer(request);
    },
    wrapLedger: (inner) => {
      const crashing = crashAt(inner, lastAppend);
      appends = crashing.appends;
      return crashing.ledger;
    },
    owner: { pid: DEAD_PID },
  });
  const request = { agent: 'worker', input: userText('Go.'), workspace: folder, run: RUN, session: SESSION };
  const started = await world.engine.start(request).catch(() => undefined);
  const end = started?.kind === 'started' ? await started.handle.done : undefined;
  await world.ledger.close();
  return { end, appends: appends() };
}

async function recorded(path: string) {
  const ledger = openSqliteLedger({ path, clock: systemClock, ids: createIds(systemClock, seededRandom(9)), readOnly: true });
  const events = await readAll(ledger, SESSION);
  const sound = (await ledger.verify()).kind === 'sound';
  await ledger.close();
  const transcripts = createTranscripts();
  for (const event of events) transcripts.apply(event);
  const runs = new Set(events.map(({ run_id }) => run_id));
  const said = [...runs].map((run) => JSON.stringify(transcripts.of(run)).split(WORDS).length - 1);
  const receipts = events.filter(({ event_type }) => event_type === 'message.included').length;
  return { sound, receipts, said: said.reduce((sum, count) => sum + count, 0) };
}

describe.each(Object.entries(plays))('a person who writes to a run %s', (name, play) => {
  it('is heard once, wherever it is cut', async () => {
    const at = (cut: string): string => join(folder, `${name.replaceAll(' ', '-')}-${cut}.db`);
    const uncut = await live(play, at('whole'), person(), Number.POSITIVE_INFINITY);
    expect(uncut.end).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body: 'With it.' } } });
    expect(uncut.appends).toBeGreaterThan(6);
    for (let cut = 1; cut <= uncut.appends; cut += 1) {
      const somebody = person();
      await live(play, at(String(cut)), somebody, cut);
      const { end } = await live(play, at(String(cut)), somebody, Number.POSITIVE_INFINITY);
      expect(end, `cut at ${cut}`).toMatchObject({
        kind: 'ended',
        result: { status: 'completed', report: { body: 'With it.' } },
      });
      expect(somebody.accepted, `cut at ${cut}`).toBe(true);
      expect([...somebody.heardBy], `cut at ${cut}`).toEqual([play.hearer]);
      expect(await recorded(at(String(cut))), `cut at ${cut}`).toEqual({ sound: true, receipts: 1, said: 1 });
    }
  });
});
