/**
 * The steps conformance list on Restate. Every case is played once as it is, and once for each of its appends with that append
 * failing: the worker gives up on the run, as it would if it died there, and Restate assigns it again.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untilStopped } from '../../../test/conformance/engine/checks.ts';
import { stepsConformance } from '../../../test/conformance/steps/checks.ts';
import { startTestRestate } from '../../../test/support/cluster/restate-server.ts';
import { createRestateWorld } from '../../../test/support/cluster/restate-world.ts';
import { ofSteps } from '../../../test/support/patterns/of-steps.ts';
import { agent, says, type World, type WorldOptions } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { RestateServer } from '../../cluster/restate-server.ts';
import { textOf, userText } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';

let server: RestateServer;
beforeAll(async () => {
  server = await startTestRestate();
});
afterAll(() => server.stop());

const agents = ['root', 'quick', 'slow', 'broken'].map((name) => agent({ name, tools: [] }));
const brain: WorldOptions['brain'] = (request) => {
  if (request.agent === 'slow') return untilStopped(request);
  if (request.agent === 'broken') return { kind: 'failed', error: { kind: 'auth', message: 'no' } };
  return says(textOf((request.messages[0]?.content ?? []) as { type: string; text: string }[]));
};

const sessionOf = (cut: number) => `ses_${String(cut).padStart(20, '0')}` as SessionId;

/** Fails one append of each session: the one whose number is in the session's name. The first one opens the run. */
function failing(inner: Ledger): { readonly ledger: Ledger; appends(session: SessionId): number } {
  const counts = new Map<SessionId, number>();
  const appends = (session: SessionId): number => counts.get(session) ?? 0;
  return {
    appends,
    ledger: {
      ...inner,
      append: async (request) => {
        counts.set(request.session, appends(request.session) + 1);
        const cut = Number(request.session.slice('ses_'.length));
        if (cut > 0 && cut === appends(request.session)) throw new Error('the connection is gone');
        return await inner.append(request);
      },
    },
  };
}

async function played(world: World, cut: number): Promise<string> {
  const session = sessionOf(cut);
  const run = `run_${String(cut).padStart(20, '0')}` as RunId;
  const started = await world.engine.start({ agent: 'root', input: userText('go'), workspace: '.', session, run });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  return end.kind === 'ended' ? `${end.result.status} ${end.result.report.body}` : JSON.stringify(end);
}

describe.each(stepsConformance)('on Restate: $name', ({ pattern, expected }) => {
  it('at once, and with every append failing once', async () => {
    const counts = new Map<string, number>();
    let appends = (_session: SessionId): number => 0;
    const world = await createRestateWorld(server, {
      agents,
      brain,
      inactivityMs: 0,
      wrapLedger: (inner) => {
        const made = failing(inner);
        appends = made.appends;
        return made.ledger;
      },
      engineOptions: ofSteps((steps) => pattern(steps, { counts })),
    });
    expect(await played(world, 0)).toBe(`completed ${expected}`);
    const cuts = Array.from({ length: appends(sessionOf(0)) - 1 }, (_, index) => index + 2);
    expect(cuts.length).toBeGreaterThan(0);
    expect(await Promise.all(cuts.map((cut) => played(world, cut)))).toEqual(cuts.map(() => `completed ${expected}`));
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    await world.close();
  });
});
