/**
 * A question with a time limit, and an answer at the moment at which it runs out: the answer counts, or whoever gave it is told
 * that it was too late. And a question without one, of somebody whose own time is limited: it stands still until the answer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start } from '../../../test/conformance/engine/checks.ts';
import { startTestRestate } from '../../../test/support/cluster/restate-server.ts';
import { createRestateWorld } from '../../../test/support/cluster/restate-world.ts';
import { ofSteps } from '../../../test/support/patterns/of-steps.ts';
import { never, told } from '../../../test/support/patterns/scenarios.ts';
import { answeredWith, atWindow, comesIn } from '../../../test/support/windows.ts';
import { agent, createWorld, says, type World, type WorldOptions } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { RestateServer } from '../../cluster/restate-server.ts';
import type { Answer } from '../../events/catalogue.ts';
import type { Append } from '../../ledger/port.ts';
import type { ModelOutcome, ModelRequest } from '../../models/port.ts';
import type { Steps } from '../../patterns/steps.ts';
import { createVirtualClock } from '../../testing/virtual-clock.ts';
import { readAll } from '../record/read-all.ts';

let server: RestateServer;
beforeAll(async () => {
  server = await startTestRestate();
});
afterAll(() => server.stop());

const RUN = 'run_00000000000000timed' as RunId;
const SESSION = 'ses_00000000000000timed' as SessionId;
const ids = { run: RUN, session: SESSION, agent: 'root' };
const WAIT = 'question';

function asking(pattern: (steps: Steps) => Promise<string>): Pick<WorldOptions, 'agents' | 'brain' | 'engineOptions'> {
  return {
    agents: [agent({ name: 'root', tools: [] })],
    brain: () => says(''),
    engineOptions: ofSteps(pattern),
  };
}

const ask = (steps: Steps): Promise<Answer | undefined> => steps.wait(WAIT, { question: 'Anybody?', timeoutMs: 1 });
const said = (answer: Answer | undefined): string => (answer?.kind === 'text' ? answer.text : 'nobody');

const engines: readonly (readonly [string, (options: WorldOptions) => Promise<World>])[] = [
  ['the embedded engine', async (options) => createWorld(options)],
  ['Restate', (options) => createRestateWorld(server, { ...options, inactivityMs: 0 })],
];

async function resultOf(world: World): Promise<string> {
  const end = await (await start(world, ids)).done;
  return end.kind === 'ended' ? end.result.report.body : JSON.stringify(end);
}

describe.each(engines)('on %s', (_name, open) => {
  it('an answer that comes just before the time-out is written is used', async () => {
    const isTimeOut = ({ events }: Append): boolean => events.some(({ step }) => step === `${WAIT}/timeout`);
    const answer = [answeredWith(SESSION, RUN, WAIT, { kind: 'text', text: 'me' })];
    const { wrapLedger, happened } = atWindow({ beforeAppend: isTimeOut }, (inner) => comesIn(inner, SESSION, answer));
    const world = await open({ ...asking(async (steps) => said(await ask(steps))), wrapLedger });
    expect(await resultOf(world)).toBe('me');
    expect(happened()).toBe(true);
    const steps = (await readAll(world.ledger, SESSION)).map(({ step }) => step);
    expect(steps).not.toContain(`${WAIT}/timeout`);
    await world.close();
  });

  it('one that comes after it is told that it was too late, and nothing waits any more', async () => {
    const outcomes: unknown[] = [];
    const world: World = await open(
      asking(async (steps) => {
        const answer = await ask(steps);
        return await steps.step('late', async () => {
          outcomes.push(await world.engine.answer(RUN, WAIT, { kind: 'text', text: 'me' }), await world.engine.waits(RUN));
          outcomes.push((await world.ledger.runs({ run: RUN }))[0]?.state);
          return said(answer);
        });
      }),
    );
    expect(await resultOf(world)).toBe('nobody');
    expect(outcomes).toEqual([{ kind: 'expired' }, [], 'running']);
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    await world.close();
  });

  it('one that looked before it and is written after it is told so too', async () => {
    let outcome: unknown;
    const world: World = await open(
      asking(async (steps) => {
        const answer = await ask(steps);
        return await steps.step('late', async () => {
          // The answer is on its way: it has looked at the question when the time-out was not there yet.
          const late = createWorld({
            ...asking(async () => ''),
            ledger: {
              ...world.ledger,
              read: async (query) => {
                const events = await world.ledger.read(query);
                const isFirst = query.newest === true && outcome === undefined;
                if (isFirst) outcome = 'looked';
                return isFirst ? events.filter(({ event_type }) => event_type !== 'approval.answered') : events;
              },
            },
          });
          outcome = await late.engine.answer(RUN, WAIT, { kind: 'text', text: 'me' });
          return said(answer);
        });
      }),
    );
    expect(await resultOf(world)).toBe('nobody');
    expect(outcome).toEqual({ kind: 'expired' });
    await world.close();
  });

  it.each([
    ['while others still work', 1],
    ['when nobody works any more', 0],
  ])('who waits for the user is not late; answered %s', async (_when, retries) => {
    const clock = createVirtualClock(1_000_000);
    const calls: AbortSignal[] = [];
    const world = await open({ clock, agents: asksBeside(retries), brain: (request) => asksAndHangs(request, calls) });
    await start(world, ids);
    const all = () => readAll(world.ledger, SESSION);
    const questions = async () => (await all()).filter((event) => event.event_type === 'task.clarify');
    const responded = async () =>
      (await all()).flatMap((event) => (event.event_type === 'dispatch.responded' ? [event.payload] : []));
    const who = async () => (await responded()).map(({ agentId }) => agentId);
    await expect.poll(async () => [(await questions()).length, calls.length]).toEqual([1, 1]);
    while (calls[0]?.aborted !== true) clock.advance();
    if (retries === 0) await expect.poll(who).toEqual(['music']);
    else await expect.poll(() => calls.length).toBe(2);
    const [asked] = await questions();
    await world.engine.answer(asked?.run_id as RunId, asked?.payload.wait ?? '', { kind: 'text', text: 'The kitchen.' });
    if (retries === 0) await world.engine.resume(RUN);
    await expect.poll(who).toContain('rooms');
    while (retries > 0 && calls[1]?.aborted !== true) clock.advance();
    const isOver = async () => (await all()).some((event) => event.event_type === 'run.ended' && event.run_id === RUN);
    await expect.poll(isOver).toBe(true);
    expect(await responded()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ agentId: 'rooms', attempts: 1, content: 'On.' }),
        expect.objectContaining({ agentId: 'music', attempts: retries + 1, errorMessage: expect.stringContaining('timed out') }),
      ]),
    );
    await world.close();
  });
});

const asksBeside = (retries: number) => [
  agent({ name: 'root', tools: [], dispatch: { agents: ['rooms', 'music'], timeout: 20, retries, retryDelay: 0 } }),
  agent({ name: 'rooms', tools: [], dispatch: { agents: ['lights'] } }),
  ...['lights', 'music'].map((name) => agent({ name, tools: [] })),
];

/** `rooms` asks which one; `music` never comes to an end. */
function asksAndHangs(request: ModelRequest, calls: AbortSignal[]): ModelOutcome | Promise<ModelOutcome> {
  const additional = { additionalAgents: ['music'], agentInstructions: [{ agentId: 'music', instruction: 'Jazz.' }] };
  if (request.agent === 'root') return says(JSON.stringify({ agentId: 'rooms', confidence: 1, ...additional }));
  const confidence = told(request).includes('The kitchen.') ? 1 : 0;
  if (request.agent === 'rooms') return says(JSON.stringify({ agentId: 'lights', confidence, reasoning: 'Which room?' }));
  if (request.agent === 'lights') return says('On.');
  calls.push(request.signal);
  return never(request);
}
