/** Causes cross runs: from the answer of a whole tree of patterns back to the prompt; and only the answer streams as one. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crashAt } from '../../../test/support/ledger/crash.ts';
import { agent, type Brain, calls, createWorld, reports, says, turnOf, type WorldOptions } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { userText } from '../../events/messages.ts';
import { isSubAgent, parentRun, roleInTree } from '../../events/run-origin.ts';
import type { Ledger } from '../../ledger/port.ts';
import { foldCauses, initialCauses, resultEvent, whyOf } from '../../projections/why.ts';

const plain = { tools: [], permissions: {} };
const agents = [
  agent({ ...plain, name: 'desk', router: { destinations: ['board'] }, handoff: { to: 'writer', include: 'report' } }),
  agent({ ...plain, name: 'board', advisors: ['risk', 'cost'], team: { members: ['clerk', 'guard'] } }),
  agent({ ...plain, name: 'risk' }),
  agent({ ...plain, name: 'cost' }),
  agent({ ...plain, name: 'clerk', agents: ['reader'] }),
  agent({ ...plain, name: 'guard', handoff: { to: 'deputy', include: 'report' } }),
  agent({ ...plain, name: 'deputy' }),
  agent({ ...plain, name: 'reader', chat: true }),
  agent({ ...plain, name: 'writer' }),
];

const speaks = (message: string) => calls({ name: 'team_broadcast', input: { message } });

const brain: Brain = (request) => {
  request.onDelta?.({ type: 'text', text: `${request.agent} writes` });
  const turn = turnOf(request);
  switch (request.agent) {
    case 'desk':
      return calls({ name: 'handoff-to', input: { agent: 'board', message: 'Decide.' } });
    case 'clerk':
      if (turn === 1) return calls({ name: 'reader', input: { prompt: 'Read.', reason: 'it can' } });
      if (turn === 2) return calls({ name: 'ask_clarification', input: { id: 'reader-1.0', question: 'Sure?' } });
      return speaks(`clerk ${turn}`);
    case 'deputy':
      return speaks(`deputy ${turn}`);
    case 'board':
      return turn === 1 ? speaks('Go on.') : reports('Decided.');
    default:
      return says(`${request.agent} ${turn}`);
  }
};

const SESSION = 'ses_causes' as SessionId;
const ROOT_RUN = 'run_causesroot' as RunId;
const request = { agent: 'desk', input: userText('Decide it.'), session: SESSION, run: ROOT_RUN, workspace: '/tmp' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-causes-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function eventsOf(ledger: Ledger): Promise<readonly LedgerEvent[]> {
  const found: LedgerEvent[] = [];
  for (let after = 0; ; after = found.at(-1)?.position ?? after) {
    const page = await ledger.read({ session: SESSION, after });
    if (page.length === 0) return found;
    found.push(...page);
  }
}

async function life(path: string, more: Partial<WorldOptions> = {}): Promise<readonly LedgerEvent[]> {
  const world = createWorld({ path, brain, agents, seed: 7, ...more });
  try {
    const started = await world.engine.start(request);
    if (started.kind === 'started') await started.handle.done;
    return await eventsOf(world.ledger);
  } finally {
    await world.close().catch(() => undefined);
  }
}

/** The agents on the way from the answer to the prompt, each once for every stretch of the way. */
function wayOf(events: readonly LedgerEvent[]): string[] {
  const causes = events.reduce(foldCauses, initialCauses());
  const chain = whyOf(causes, resultEvent(causes, ROOT_RUN) as never);
  return chain.map((cause) => cause.agent).filter((name, index, all) => name !== all[index - 1]);
}

const WAY = [
  'desk',
  'writer',
  'desk',
  'board',
  'deputy',
  'board',
  'guard',
  'deputy',
  'guard',
  'board',
  'cost',
  'board',
  'desk',
  '-',
];

describe('causes of events', () => {
  it('lead from the answer through every agent to the prompt', async () => {
    const events = await life(join(folder, 'whole.db'));
    expect(wayOf(events)).toEqual(WAY);
  });

  it('join every run to its parent, both ways', async () => {
    const events = await life(join(folder, 'joined.db'));
    const byId = new Map(events.map((event) => [event.event_id, event]));
    const starts = events.filter((event): event is EventOf<'run.started'> => event.event_type === 'run.started');
    expect(starts.length).toBeGreaterThan(12);
    for (const start of starts) {
      if (parentRun(start.payload) === undefined) continue;
      const cause = start.parent_event_id === null ? undefined : byId.get(start.parent_event_id);
      const ended = events.find((event) => event.event_type === 'run.ended' && event.run_id === start.run_id);
      if (isSubAgent(start.payload)) {
        expect(cause?.event_type).toBe('tool.call');
        expect(events.find((event) => event.parent_event_id === ended?.event_id)?.event_type).toBe('tool.result');
      }
      // A run follows from its parent, or from the runs that its parent had waited for.
      const before = starts.find((one) => one.run_id === cause?.run_id);
      expect([cause?.run_id, before && parentRun(before.payload)]).toContain(parentRun(start.payload));
    }
  });

  it('name what else a turn rests on', async () => {
    const events = await life(join(folder, 'also.db'));
    const causes = events.reduce(foldCauses, initialCauses());
    const judged = events.findLast((event) => event.event_type === 'model.request' && event.run_id === supervisorOf(events));
    const also = causes.events.get(judged?.event_id as never)?.also ?? [];
    expect(also.map((event) => causes.events.get(event)?.text).sort()).toEqual([
      'cycle 2, clerk says: clerk 4',
      'cycle 2, guard says: deputy 2',
    ]);
    const last = events.findLast((event) => event.event_type === 'advisor.reported');
    expect(causes.events.get(last?.event_id as never)?.also).toHaveLength(1);
  });

  it('are the same way after a crash at any append', async () => {
    let total = Number.POSITIVE_INFINITY;
    for (let cut = 1; cut < total; cut += 1) {
      const path = join(folder, `cut-${cut}.db`);
      let counted: () => number = () => 0;
      await life(path, {
        wrapLedger: (ledger) => {
          const crashing = crashAt(ledger, cut);
          counted = crashing.appends;
          return crashing.ledger;
        },
      });
      if (counted() < cut) total = cut;
      const world = createWorld({ path, brain, agents, seed: 8 });
      const resumed = await world.engine.resume(ROOT_RUN);
      if (resumed.kind === 'resumed') await resumed.handle.done;
      else if (resumed.kind === 'unknown') await (await startAgain(world)).done;
      expect(wayOf(await eventsOf(world.ledger)), `cut at ${cut}`).toEqual(WAY);
      await world.close();
    }
  });
});

describe('live engineOptions', () => {
  it('are the answer only when the terminal agent writes', async () => {
    const world = createWorld({ brain, agents, seed: 7 });
    const seen = new Map<string, boolean>();
    world.engine.watch((part) => seen.set(part.agent, part.terminal));
    const started = await world.engine.start(request);
    if (started.kind === 'started') await started.handle.done;
    await world.close();
    const others = ['desk', 'board', 'risk', 'cost', 'clerk', 'guard', 'deputy', 'reader'].map((name) => [name, false]);
    expect(Object.fromEntries(seen)).toEqual({ ...Object.fromEntries(others), writer: true });
  });

  it('are the answer when a supervisor that hands over to nobody writes', async () => {
    const world = createWorld({ brain, agents, seed: 7 });
    const seen = new Map<string, boolean>();
    world.engine.watch((part) => seen.set(part.agent, part.terminal));
    const started = await world.engine.start({ ...request, agent: 'board' });
    if (started.kind === 'started') await started.handle.done;
    await world.close();
    expect([...seen].filter(([, terminal]) => terminal).map(([name]) => name)).toEqual(['board']);
  });
});

async function startAgain(world: ReturnType<typeof createWorld>) {
  const started = await world.engine.start(request);
  if (started.kind !== 'started') throw new Error(started.error.message);
  return started.handle;
}

function supervisorOf(events: readonly LedgerEvent[]): RunId | undefined {
  return events.findLast((event) => event.event_type === 'run.started' && roleInTree(event.payload) === 'supervisor')?.run_id;
}
