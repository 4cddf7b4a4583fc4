/**
 * Agents that executors work for, through crashes: cut at every append, the run ends as the uncut one does, no command is run
 * again that was recorded as done, and nothing is said without its intent.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/base/random.ts';
import { UNTOUCHED } from '../../src/engine/evidence/untouched.ts';
import type { RunEnd } from '../../src/engine/port.ts';
import type { Answer } from '../../src/events/catalogue.ts';
import { userText } from '../../src/events/messages.ts';
import type { Append } from '../../src/ledger/port.ts';
import { createWorkspaceWatch } from '../../src/tools/watch/workspace-watch.ts';
import { diligent, executing } from '../support/executors/brain-executors.ts';
import {
  bodyOf,
  driven,
  eventsOf,
  type KeptPlay,
  live,
  newPlay,
  type Play,
  payloadsOf,
  RUN,
  SESSION,
  worldOf,
} from '../support/executors/executor-play.ts';
import { playsAgain } from '../support/replayed.ts';

const yes: Answer = { kind: 'approved' };

/** Runs a command that is asked about, and two that are not, and says what it did. */
const working: Play = {
  agents: [executing('coder', { prompt: 'You code.' })],
  brain: diligent(['shell', 'npm test'], ['silent', 'touch one'], ['silent', 'touch two']),
  answer: () => yes,
};
const BODY = 'Done: npm test, touch one, touch two.';

const REPORTED = ['executor.call', 'executor.result'];

describe('an agent that an executor works for', () => {
  it('answers what the executor said, and everything that it told is recorded as its word', async () => {
    const kept = newPlay(working);
    const { end } = await live(kept);
    expect(end).toMatchObject({
      kind: 'ended',
      result: { status: 'completed', report: { body: BODY }, finalAgent: 'coder' },
    });
    const events = await eventsOf(kept);
    const kinds = events.map(({ event_type: type }) => type).filter((type) => /^(executor|model|approval)\./.test(type));
    expect(kinds).toEqual([
      ...['model.request', 'executor.session', 'executor.prompted', 'approval.asked', 'approval.answered'],
      ...['executor.session', 'executor.decided', ...REPORTED, ...REPORTED, ...REPORTED],
      ...['model.response', 'executor.ended'],
    ]);
    expect(events.filter(({ actor }) => actor === 'executor').map(({ event_type: type }) => type)).toEqual([
      ...[...REPORTED, ...REPORTED, ...REPORTED, 'model.response'],
    ]);
    expect(kept.memory.prompts).toEqual([{ session: 'session-1', text: 'You code.\n\n---\n\nGo.' }]);
    expect(kept.memory.opened.map(({ restored }) => restored)).toEqual(['new', 'live']);
    expect((await payloadsOf(kept, 'model.response'))[0]).toMatchObject({ served: 'executor:sample', finish: 'stop' });
  });

  it.each([{ loads: true }, { loads: false }])('ends as the uncut run does, cut at every append: %o', async (habits) => {
    const play = { ...working, habits };
    const uncut = await live(newPlay(play));
    expect(uncut.appends.length).toBeGreaterThan(8);
    for (let cut = 0; cut <= uncut.appends.length; cut += 1) {
      const kept = newPlay(play);
      await live(kept, cut);
      const known = await completed(kept);
      const { end } = await live(kept);
      expect(bodyOf(end), `cut at ${cut}`).toBe(BODY);
      for (const command of known)
        expect(
          kept.memory.effects.filter((one) => one === command),
          `${command} again, cut at ${cut}`,
        ).toEqual([command]);
      for (const { told = '', how } of await payloadsOf(kept, 'executor.prompted'))
        expect(told, `cut at ${cut}`).toMatch(how === 'request' ? /^$/ : /must not be done twice/);
      expect((await payloadsOf(kept, 'approval.asked')).length, `asked, cut at ${cut}`).toBe(1);
      expect(kept.memory.ended, `processes, cut at ${cut}`).toBe(
        kept.memory.opened.filter(({ restored }) => restored !== 'live').length,
      );
    }
  });

  it('ends although every life is cut short', async () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const random = seededRandom(seed);
      const kept = newPlay(working);
      let end: RunEnd | undefined;
      for (let life = 0; life < 100 && end?.kind !== 'ended'; life += 1)
        ({ end } = await live(kept, 3 + Math.floor(random.fraction() * 8)));
      expect(bodyOf(end), `seed ${seed}`).toBe(BODY);
      await eventsOf(kept);
    }
  });
});

/** What was recorded as done. */
async function completed(kept: KeptPlay): Promise<readonly string[]> {
  const ended = new Set((await payloadsOf(kept, 'executor.result')).map(({ id }) => id));
  return (await payloadsOf(kept, 'executor.call')).flatMap(({ id, title }) => (ended.has(id) ? [title] : []));
}

describe('an executor that fails', () => {
  const silent = { ...working, brain: diligent(['silent', 'touch one']) };

  it('that ended in the middle is started again and told to go on', async () => {
    const falls = (time: number) => (time === 1 ? { why: 'crashed' as const, message: 'exit 1' } : undefined);
    const kept = newPlay({ ...silent, habits: { falls } });
    expect(bodyOf((await live(kept)).end)).toBe('Done: touch one.');
    expect(kept.memory.opened.map(({ restored }) => restored)).toEqual(['new', 'loaded']);
    expect((await payloadsOf(kept, 'executor.prompted')).map(({ how }) => how)).toEqual(['request', 'go-on']);
    expect(await payloadsOf(kept, 'model.failed')).toMatchObject([{ final: false, error: { executor: 'crashed' } }]);
  });

  it('again and again is parked, and goes on when it is resumed', async () => {
    const falls = (time: number) => (time <= 3 ? { why: 'crashed' as const, message: 'exit 1' } : undefined);
    const kept = newPlay({ ...silent, habits: { falls } });
    expect((await live(kept)).end).toMatchObject({ kind: 'parked', error: { code: 'executor_crashed' } });
    expect(bodyOf((await live({ ...kept, habits: {} })).end)).toBe('Done: touch one.');
  });

  it.each([
    ['unavailable', 'ended', 'executor_unavailable'],
    ['auth', 'parked', 'executor_auth'],
  ] as const)('to be there, %s, is %s and goes on once it is', async (why, kind, code) => {
    const fix = 'Install it: npm install -g sample';
    const kept = newPlay({ ...silent, habits: { away: () => ({ why, message: 'it is not there', fix }) } });
    const { end } = await live(kept);
    const error = end?.kind === 'ended' ? end.result.error : end?.kind === 'parked' ? end.error : undefined;
    expect(end?.kind).toBe(kind);
    expect(error).toMatchObject({ code, message: 'sample: it is not there', fix: expect.stringContaining(fix) });
    const world = worldOf({ ...kept, habits: {} });
    const resumed = await world.engine.resume(RUN, {});
    expect(resumed.kind === 'resumed' ? bodyOf(await resumed.handle.done) : resumed).toBe('Done: touch one.');
    await playsAgain(world.ledger);
    await world.close();
  });

  it('by refusing has failed, in its own words', async () => {
    const error = { kind: 'refused' as const, message: 'I do not do that.' };
    const kept = newPlay({ ...silent, brain: () => ({ kind: 'failed', error }) });
    expect((await live(kept)).end).toMatchObject({
      ...{ kind: 'ended', result: { status: 'failed', error: { code: 'executor_refusal' } } },
    });
  });
});

it('nothing is said before it is on the disk who works and that it is said', async () => {
  const committed: Append[] = [];
  const known: (readonly unknown[])[] = [];
  const intents = (type: string) =>
    committed.filter(({ events }) => events.some((event) => event.type === type)).map(({ sync }) => sync);
  const brain: Play['brain'] = (request) => {
    known.push([intents('executor.session'), intents('executor.prompted'), intents('model.request').length]);
    return diligent()(request);
  };
  const kept = newPlay({ ...working, brain });
  const world = worldOf(kept, {
    wrapLedger: (inner) => ({
      ...inner,
      append: async (request) => {
        const outcome = await inner.append(request);
        committed.push(request);
        return outcome;
      },
    }),
  });
  await driven(world, kept);
  await playsAgain(world.ledger);
  await world.close();
  expect(known).toEqual([[['power'], ['power'], 1]]);
});

it('the next prompt of the session goes on in the same session of the executor', async () => {
  const kept = newPlay({ ...working, brain: diligent() });
  await live(kept);
  const world = worldOf(kept);
  const started = await world.engine.start({
    agent: 'coder',
    input: userText('More.'),
    workspace: kept.workspace,
    session: SESSION,
  });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  await started.handle.done;
  await playsAgain(world.ledger);
  await world.close();
  expect(kept.memory.prompts).toEqual([
    { session: 'session-1', text: 'You code.\n\n---\n\nGo.' },
    { session: 'session-1', text: 'More.' },
  ]);
});

it('a session that has lost what was said before is told', async () => {
  const kept = newPlay({ ...working, brain: diligent(), habits: { loads: false } });
  await live(kept);
  const world = worldOf(kept);
  const started = await world.engine.start({
    agent: 'coder',
    input: userText('More.'),
    workspace: kept.workspace,
    session: SESSION,
  });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  await started.handle.done;
  await playsAgain(world.ledger);
  await world.close();
  expect(kept.memory.prompts[1]?.text).toMatch(
    /What was said before:\n\nUser: Go\.\n\nYou: Done: \.\n[\s\S]*You code\.[\s\S]*More\.$/,
  );
});

it('what passes proves nothing about an executor that changed nothing, and something about one that did', async () => {
  const verify = { commands: ['check'] };
  const agents = [executing('coder', { verify, permissions: { shell: 'allow' } })];
  const workspaces = () => createWorkspaceWatch({ clock: systemClock, environment: { PATH: process.env['PATH'] } });
  const does = (command: string, cwd: string): void => writeFileSync(join(cwd, 'made'), command);
  const worth = async (play: Omit<Play, 'agents'>) => {
    const { end } = await live(newPlay({ agents, engineOptions: { workspaces: workspaces() }, ...play }));
    return end?.kind === 'ended' ? end.result.verification : end;
  };
  expect(await worth({ brain: diligent() })).toEqual({ state: 'unchecked', reasons: [UNTOUCHED] });
  expect(await worth({ brain: diligent(['silent', 'make']), habits: { does } })).toEqual({ state: 'verified' });
});
