/** What a person says to a run, where the moment decides: just before its end, after its loop, when nobody could hear it. */
import { describe, expect, it } from 'vitest';
import { resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { countingLedger, noReads } from '../../../test/support/ledger/counting-ledger.ts';
import { everythingElse } from '../../../test/support/ledger/crash.ts';
import { atWindow, lateWriter, type Window } from '../../../test/support/windows.ts';
import { agent, type Brain, calls, reports, says, turnOf, type World } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { Append } from '../../ledger/port.ts';
import type { ModelRequest } from '../../models/port.ts';
import type { WorkspaceWatch } from '../../tools/watch/workspace-watch.ts';
import type { SendOutcome } from '../port.ts';
import { readAll } from '../record/read-all.ts';

const RUN = 'run_000000000000000heard' as RunId;
const SESSION = 'ses_000000000000000heard' as SessionId;
const WORDS = 'one more thing';
const ids = { run: RUN, session: SESSION };
const created = keptWorlds();

const hears = ({ messages }: ModelRequest): boolean => JSON.stringify(messages).includes(WORDS);
const written = ({ events }: Append, type: string): boolean => events.some((event) => event.type === type && event.run === RUN);

/** A person writes to the run at exactly this moment. */
function writing(window: Window, brain: Brain, changes: Parameters<typeof agent>[0] = {}) {
  const outcomes: SendOutcome[] = [];
  const { wrapLedger } = atWindow(window, async (inner) => {
    const outside = created({ ledger: inner, brain: () => says('') });
    outcomes.push(await outside.engine.send(RUN, WORDS, { by: 'ada', where: 'command' }));
    await everythingElse();
  });
  const world = created({ brain, agents: [agent(changes)], wrapLedger });
  return { world, outcomes };
}

const eventsIn = async ({ ledger }: World) => await readAll(ledger, SESSION);

describe('what a person says in the last moment', () => {
  it('is heard before the run ends: while its end is written', async () => {
    const brain: Brain = (asked) => reports(hears(asked) ? 'With it.' : 'Without it.');
    const { world, outcomes } = writing({ beforeAppend: (request) => written(request, 'run.ended') }, brain);
    expect(await resultOf(await start(world, ids))).toMatchObject({ report: { body: 'With it.' } });
    expect(outcomes).toMatchObject([{ kind: 'accepted', live: true }]);
    expect((await eventsIn(world)).filter(({ event_type }) => event_type === 'message.included')).toHaveLength(1);
  });

  it('is heard before the run ends: while the claims of its report are looked at', async () => {
    const claims = [{ kind: 'command', command: 'npm test' }];
    let reported = false;
    let sent = false;
    const workspaces: WorkspaceWatch = {
      async look() {
        if (reported && !sent) {
          sent = true;
          await world.engine.send(RUN, WORDS);
          // The bell has told of it before anybody wants to end the run.
          await everythingElse();
        }
        return { state: { kind: 'known', digest: 'still' }, changes: [] };
      },
      noted: async () => undefined,
      enter: () => () => ({ alone: true }),
    };
    const world: World = created({
      brain: (asked) => {
        reported = true;
        return reports(hears(asked) ? 'With it.' : 'Without it.', { claims });
      },
      engineOptions: { workspaces },
    });
    expect(await resultOf(await start(world, ids))).toMatchObject({ report: { body: 'With it.' } });
    expect(sent).toBe(true);
  });

  it('is refused after the end, however late the sender looked', async () => {
    const { looked, letGo, wrapLedger } = lateWriter();
    const world = created({ brain: () => looked.then(() => says('Done.')) });
    const late = created({ ledger: world.ledger, brain: () => says(''), wrapLedger });
    const handle = await start(world, ids);
    const sent = late.engine.send(RUN, WORDS, { by: 'ada', where: 'command' });
    await resultOf(handle);
    letGo();
    expect(await sent).toEqual({ kind: 'ended' });
    expect((await eventsIn(world)).at(-1)?.event_type).toBe('run.ended');
  });

  it('is given back, and the ledger says so, when there is no turn left', async () => {
    const { world } = writing({ beforeAppend: (request) => written(request, 'run.ended') }, () => says('Done.'), { maxTurns: 1 });
    expect(await resultOf(await start(world, ids))).toMatchObject({ status: 'completed', report: { body: 'Done.' } });
    const said = (await eventsIn(world)).flatMap((event) => (event.event_type === 'message.sent' ? [event.payload] : []));
    expect(said).toMatchObject([
      { content: WORDS, person: { by: 'ada', where: 'command' } },
      {
        to: { assistant: 'ada' },
        content: expect.stringContaining(`came too late, worker ended without having read it: ${WORDS}`),
      },
    ]);
    expect(said[1]?.person).toBeUndefined();
  });
});

it.each(['broadcast', 'sequential'] as const)('a group of mode %s takes none: there is nobody to hear it', async (mode) => {
  const gate = Promise.withResolvers<void>();
  const world = created({
    agents: [agent({ group: { mode, workers: ['helper'] } }), agent({ name: 'helper', tools: [] })],
    brain: async () => {
      await gate.promise;
      return says('Done.');
    },
  });
  const handle = await start(world, ids);
  await expect.poll(() => world.outside.modelCalls.length).toBe(1);
  expect(await world.engine.send(RUN, WORDS)).toEqual({ kind: 'nobody' });
  gate.resolve();
  expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
});

it('a team hears it in its supervisor', async () => {
  const heard = new Set<string>();
  const world: World = created({
    agents: [agent({ tools: [], team: { members: ['helper'] } }), agent({ name: 'helper', tools: [] })],
    brain: async (asked) => {
      if (hears(asked)) heard.add(asked.agent ?? '');
      if (asked.agent === 'helper') await world.engine.send(RUN, WORDS);
      return asked.agent === 'helper' ? says('Look at this.') : reports(hears(asked) ? 'With it.' : 'Without it.');
    },
  });
  expect(await resultOf(await start(world, ids))).toMatchObject({ report: { body: 'With it.' } });
  expect([...heard]).toEqual(['worker']);
});

it('a turn of a run that nobody writes to reads nothing', async () => {
  const readsOf = async (turns: number): Promise<number> => {
    const reads = noReads();
    const world = created({
      agents: [agent({ maxTurns: 50 })],
      brain: (asked) =>
        turnOf(asked) < turns ? calls({ name: 'look', input: { name: String(turnOf(asked)) } }) : reports('Done.'),
      wrapLedger: (inner) => countingLedger(inner, reads),
    });
    await resultOf(await start(world));
    return reads.questions;
  };
  const few = await readsOf(2);
  expect(few).toBeGreaterThan(0);
  expect(await readsOf(20)).toBe(few);
});
