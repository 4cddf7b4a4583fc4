/**
 * Crash at every commit while assistants work and write to each other. Whoever takes the session up finds every message and
 * every assistant again: nothing is lost, nothing is said twice, no answered model call is made again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/random.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { userText } from '../../src/events/messages.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import type { RunResult } from '../../src/patterns/steps.ts';
import { BOSS_REPORT, bossAgents, bossBrain, bossTools, messageTools } from '../support/assistants/boss-and-helpers.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { createWorld, type Outside, worldTools } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-assistants-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_00000000000000000001' as RunId;
const SESSION = 'ses_00000000000000000001' as SessionId;
const NEVER = Number.POSITIVE_INFINITY;
let files = 0;

interface Play {
  readonly path: string;
  readonly outside: Outside;
}

const newPlay = (): Play => {
  files += 1;
  return { path: join(folder, `${files}.db`), outside: { modelCalls: [], effects: [] } };
};

async function live({ path, outside }: Play, lastAppend: number) {
  const ids = createIds(systemClock, systemRandom);
  const inner = openSqliteLedger({ path, clock: systemClock, ids, validate: true, owner: { pid: DEAD_PID } });
  const { ledger, appends } = crashAt(inner, lastAppend);
  const tools = bossTools(ledger, systemClock, ids, worldTools(outside));
  const engineOptions = { messageTools: async () => messageTools(tools) };
  const world = createWorld({ ledger, outside, agents: bossAgents, tools, brain: bossBrain, engineOptions });
  const result = await untilEnd(world.engine);
  await inner.close();
  return { result, appends: appends() };
}

async function untilEnd(engine: ReturnType<typeof createWorld>['engine']): Promise<RunResult | undefined> {
  const resumed = await engine.resume(RUN);
  if (resumed.kind === 'ended') return resumed.result;
  if (resumed.kind === 'refused' || resumed.kind === 'held') return undefined;
  const request = { agent: 'boss', input: userText('Check it.'), workspace: folder, run: RUN, session: SESSION };
  const begun = resumed.kind === 'resumed' ? resumed : await engine.start(request);
  if (begun.kind === 'refused') return undefined;
  const end = await begun.handle.done;
  return end.kind === 'ended' ? end.result : undefined;
}

async function recorded(path: string): Promise<readonly LedgerEvent[]> {
  const ledger = openSqliteLedger({ path, clock: systemClock, ids: createIds(systemClock, systemRandom), readOnly: true });
  const events = await readAll(ledger, SESSION);
  expect((await ledger.verify()).kind).toBe('sound');
  await ledger.close();
  return events;
}

const answered = (events: readonly LedgerEvent[]): string[] =>
  events.flatMap((event) => (event.event_type === 'model.response' ? [`${event.run_id}/${event.step}`] : []));

function checkMessages(events: readonly LedgerEvent[], when: string): void {
  const sent = events.flatMap((event) => (event.event_type === 'message.sent' ? [event.payload] : []));
  const words = sent.map(({ content }) => content).toSorted();
  expect(words, when).toEqual(['It is main.ts.', 'Three.', 'Which?', 'main.ts is fine.']);
  const receipts = events.flatMap((event) =>
    event.event_type === 'message.included' || event.event_type === 'message.read' ? [event.payload.message] : [],
  );
  expect(new Set(receipts), when).toEqual(new Set(sent.map(({ message }) => message)));
  const included = events.filter((event) => event.event_type === 'message.included').map(({ step }) => step);
  expect(new Set(included).size, when).toBe(included.length);
}

function checkEnd(play: Play, result: RunResult | undefined, events: readonly LedgerEvent[], when: string): void {
  expect(result, when).toMatchObject({ status: 'completed', report: { body: BOSS_REPORT } });
  checkMessages(events, when);
  expect(
    events.filter((event) => event.event_type === 'run.started'),
    when,
  ).toHaveLength(3);
  expect(
    events.filter((event) => event.event_type === 'run.ended'),
    when,
  ).toHaveLength(3);
  expect(play.outside.effects.length, when).toBeLessThanOrEqual(1);
}

describe('a session with assistants', () => {
  it('survives a crash at every commit', async () => {
    const whole = newPlay();
    const { result, appends } = await live(whole, NEVER);
    checkEnd(whole, result, await recorded(whole.path), 'without a crash');
    for (let cut = 1; cut < appends; cut += 1) {
      const when = `cut after ${cut} of ${appends} appends`;
      const play = newPlay();
      await live(play, cut);
      const before = answered(await recorded(play.path));
      const asked = play.outside.modelCalls.length;
      const again = await live(play, NEVER);
      const events = await recorded(play.path);
      checkEnd(play, again.result, events, when);
      const repeated = play.outside.modelCalls.slice(asked).filter((call) => before.includes(call));
      expect(repeated, `${when}: an answered call was made again`).toEqual([]);
    }
  });
});
