/** What executors ask for: our rules decide, or somebody who is asked; and what is said reaches the one who asked. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { present } from '../../src/base/present.ts';
import type { OpenWait } from '../../src/engine/port.ts';
import type { Answer } from '../../src/events/catalogue.ts';
import { textOf } from '../../src/events/messages.ts';
import { executing } from '../support/executors/brain-executors.ts';
import {
  bodyOf,
  driven,
  eventsOf,
  live,
  newPlay,
  type Play,
  payloadsOf,
  RUN,
  worldOf,
} from '../support/executors/executor-play.ts';
import { type Brain, calls, says, turnOf } from '../support/world.ts';

const yes: Answer = { kind: 'approved' };

/** Runs these, one after the other, and then says what it heard last. */
const runs =
  (...commands: readonly string[]): Brain =>
  (request) => {
    const heard = request.messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []));
    const command = commands[heard.filter((text) => / done$|^not allowed/i.test(text)).length];
    return command === undefined ? says(`heard: ${heard.at(-1)}`) : calls({ name: 'shell', input: { command } });
  };

const playing = (brain: Brain, more: Partial<Play> = {}): Play => ({ agents: [executing('coder')], brain, ...more });

const FORM = {
  type: 'object',
  properties: { city: { type: 'string' }, sure: { type: 'boolean', title: 'Sure', description: 'whether it is certain' } },
};
const asks: Brain = (request) => {
  const last = request.messages.at(-1);
  const heard = last?.role === 'user' ? textOf(last.content) : '';
  return heard.startsWith('{') ? says(heard) : calls({ name: 'ask', input: { message: 'Where?', schema: FORM } });
};

describe('a request of an executor', () => {
  it('is allowed by a rule without anybody being asked, once', async () => {
    const rules = { shell: { 'npm test': 'allow' as const } };
    const kept = newPlay(playing(runs('npm test'), { agents: [executing('coder', { permissions: rules })] }));
    expect(bodyOf((await live(kept)).end)).toBe('heard: npm test done');
    expect(kept.memory.decisions).toEqual(['allow_once']);
    expect(await payloadsOf(kept, 'executor.decided')).toMatchObject([{ decision: 'allowed', by: 'rule', title: 'npm test' }]);
    expect(await payloadsOf(kept, 'approval.asked')).toEqual([]);
  });

  it('is denied by a rule, and the executor goes on without it', async () => {
    const kept = newPlay(playing(runs('rm -rf x'), { agents: [executing('coder', { permissions: { shell: 'deny' } })] }));
    expect(bodyOf((await live(kept)).end)).toBe('heard: not allowed: rm -rf x');
    expect(kept.memory.effects).toEqual([]);
    expect(await payloadsOf(kept, 'executor.decided')).toMatchObject([{ decision: 'denied', by: 'rule' }]);
  });

  it('waits for a person where a rule asks, shown whole, and is asked for once each time it is made', async () => {
    const asked: OpenWait[] = [];
    const answer = (wait: OpenWait): Answer => {
      asked.push(wait);
      return yes;
    };
    const kept = newPlay(playing(runs('npm test', 'npm test'), { answer }));
    expect(bodyOf((await live(kept)).end)).toBe('heard: npm test done');
    expect(kept.memory.effects).toEqual(['npm test', 'npm test']);
    expect(asked).toMatchObject([
      { kind: 'permission', tool: 'shell', input: { command: 'npm test' }, rule: 'shell npm test' },
      { kind: 'permission', tool: 'shell' },
    ]);
    expect(new Set(asked.map(({ wait }) => wait)).size).toBe(2);
    for (const { wait } of asked) expect(wait).toMatch(/^turn\/1\/model\/permission\/[0-9a-f]{16}(\/\d+)?\/approval$/);
  });

  it('is not asked again for what somebody said always to', async () => {
    const kept = newPlay(playing(runs('npm test', 'npm test'), { answer: () => ({ kind: 'approved', remember: true }) }));
    expect(bodyOf((await live(kept)).end)).toBe('heard: npm test done');
    expect(await payloadsOf(kept, 'approval.asked')).toHaveLength(1);
    expect(kept.memory.decisions).toEqual(['allow_once', 'allow_once']);
  });

  it('is told no where it offers only what would last', async () => {
    const habits = { offers: ['allow_always', 'reject_once'] as const };
    const kept = newPlay(playing(runs('npm test'), { habits, answer: () => yes }));
    await live(kept);
    expect(kept.memory.decisions).toEqual(['reject_once']);
    expect(kept.memory.effects).toEqual([]);
  });

  it.each(['goes-on', 'cancels'] as const)(
    'is denied by a person, whose words are the next that it hears: %s',
    async (refusal) => {
      const answer = (): Answer => ({ kind: 'denied', note: 'Use pnpm.' });
      const kept = newPlay(playing(runs('npm test'), { habits: { refusal }, answer }));
      expect(bodyOf((await live(kept)).end)).toMatch(/^heard: Not allowed:\n- npm test\n {2}They wrote: Use pnpm\.\n/);
      expect(kept.memory.effects).toEqual([]);
      expect((await payloadsOf(kept, 'executor.prompted')).map(({ how }) => how)).toEqual(['request', 'words']);
      expect(await payloadsOf(kept, 'executor.decided')).toMatchObject([{ decision: 'denied', by: 'person', why: 'Use pnpm.' }]);
    },
  );

  it('that ends the turn when it is denied without a word is told so, and goes on', async () => {
    const agents = [executing('coder', { permissions: { shell: 'deny' } })];
    const kept = newPlay(playing(runs('npm test'), { agents, habits: { refusal: 'cancels' } }));
    expect(bodyOf((await live(kept)).end)).toMatch(/^heard: Not allowed:\n- npm test\n/);
  });

  it('outside its folder is refused, whatever the rules say', async () => {
    const edits: Brain = (request) =>
      turnOf(request) === 1 ? calls({ name: 'edit', input: { path: '../elsewhere.txt' } }) : says('Done.');
    const kept = newPlay(playing(edits, { agents: [executing('coder', { permissions: { edit: 'allow' } })] }));
    await live(kept);
    expect(await payloadsOf(kept, 'executor.decided')).toMatchObject([
      { decision: 'denied', by: 'rule', why: expect.stringContaining('outside the workspace') },
    ]);
  });

  it('to change something is refused where it works read-only', async () => {
    const edits: Brain = (request) => (turnOf(request) === 1 ? calls({ name: 'edit', input: { path: 'a.txt' } }) : says('Done.'));
    const kept = newPlay(playing(edits, { agents: [executing('coder', { executor: { name: 'sample', mode: 'read-only' } })] }));
    await live(kept);
    expect(kept.memory.opened).toMatchObject([{ mode: 'read-only' }]);
    expect(await payloadsOf(kept, 'executor.decided')).toMatchObject([
      { decision: 'denied', why: expect.stringContaining('read-only') },
    ]);
  });

  it.each([
    { walls: undefined, done: ['git diff'] },
    { walls: 'oci/docker/agent:1', done: ['touch a.txt', 'git diff'] },
    { walls: 'sandbox-runtime/linux', done: ['touch a.txt', 'git diff'] },
  ])(
    'to run a command that does not only look is refused where it works read-only, unless walls hold it: $walls',
    async (row) => {
      const executor = { name: 'sample', mode: 'read-only' } as const;
      const agents = [executing('coder', { executor, permissions: { shell: 'allow' } })];
      const habits = present({ sandbox: row.walls });
      const kept = newPlay(playing(runs('touch a.txt', 'git diff'), { agents, habits }));
      await live(kept);
      expect(kept.memory.effects).toEqual(row.done);
      const [first] = await payloadsOf(kept, 'executor.decided');
      expect(first).toMatchObject(
        row.done.length === 2 ? { decision: 'allowed' } : { why: expect.stringContaining('only looks') },
      );
    },
  );

  it('that nobody can tell is asked about, with all that is known of it', async () => {
    const odd: Brain = (request) => (turnOf(request) === 1 ? calls({ name: 'shell', input: { what: 'ever' } }) : says('Done.'));
    const kept = newPlay(playing(odd));
    const { end } = await live(kept);
    expect(end).toMatchObject({
      kind: 'waiting',
      waits: [{ kind: 'permission', tool: 'executor', input: { input: { what: 'ever' } } }],
    });
  });
});

describe('while somebody is asked', () => {
  it('the run is left, and the answer in another process finds the question by what it is about', async () => {
    const kept = newPlay(playing(runs('npm test')));
    const first = await live(kept);
    expect(first.end).toMatchObject({ kind: 'waiting', waits: [{ kind: 'permission', tool: 'shell' }] });
    expect(kept.memory.effects).toEqual([]);
    const { end } = await live({ ...kept, answer: () => yes });
    expect(bodyOf(end)).toMatch(/^heard: npm test done/);
    expect(kept.memory.effects).toEqual(['npm test']);
    expect(kept.memory.opened.map(({ restored }) => restored)).toEqual(['new', 'loaded', 'live']);
    expect(await payloadsOf(kept, 'approval.asked')).toHaveLength(1);
  });

  it('a process that takes the run up goes on alone: the one that was left ends', async () => {
    const kept = newPlay(playing(runs('npm test'), { habits: { pid: 'own' }, answer: () => yes }));
    const { answer: _answer, ...alone } = kept;
    const here = worldOf(alone);
    expect(await driven(here, alone)).toMatchObject({ kind: 'waiting' });
    const there = worldOf(kept);
    expect(bodyOf(await driven(there, kept))).toMatch(/^heard: npm test done/);
    await there.close();
    while (kept.memory.ended < 2) await new Promise((resolve) => setImmediate(resolve));
    await here.close();
    expect(kept.memory.effects).toEqual(['npm test']);
    expect(kept.memory.opened.map(({ restored }) => restored)).toEqual(['new', 'loaded', 'live']);
  });

  it('a cancel ends it, and nothing is run', async () => {
    const kept = newPlay(playing(runs('npm test')));
    const world = worldOf(kept);
    expect(await driven(world, kept)).toMatchObject({ kind: 'waiting' });
    await world.engine.cancel(RUN, 'Enough.');
    const resumed = await world.engine.resume(RUN);
    const end = resumed.kind === 'resumed' ? await resumed.handle.done : resumed;
    expect(end).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
    await world.close();
    expect(kept.memory.effects).toEqual([]);
    expect(kept.memory.ended).toBe(1);
  });
});

it('what changed in the folder is evidence, seen when a call has ended and at the end', async () => {
  const { createWorkspaceWatch } = await import('../../src/tools/watch/workspace-watch.ts');
  const { systemClock } = await import('../../src/base/clock.ts');
  const works: Brain = (request) => {
    const turn = turnOf(request);
    if (turn === 1) return calls({ name: 'silent', input: { command: 'first' } });
    return turn === 2 ? calls({ name: 'silent', input: { command: 'second' } }) : says('I changed nothing at all.');
  };
  const does = (command: string, cwd: string): void => writeFileSync(join(cwd, `${command}.txt`), command);
  const workspaces = createWorkspaceWatch({ clock: systemClock, environment: { PATH: process.env['PATH'] } });
  const kept = newPlay(playing(works, { habits: { does }, engineOptions: { workspaces } }));
  await live(kept);
  const seen = (await eventsOf(kept)).flatMap((event) =>
    event.event_type === 'file.diff' ? [{ path: event.payload.path, by: event.payload.by, step: event.step }] : [],
  );
  expect(seen).toEqual([
    { path: 'first.txt', by: 'command', step: 'turn/1/model' },
    { path: 'second.txt', by: 'command', step: 'turn/1/model' },
  ]);
});

it('what it wants to know is a question of the run, and the answer is its own', async () => {
  const kept = newPlay(
    playing(asks, {
      answer: (wait) => ({ kind: 'text', text: wait.kind === 'question' && wait.choices !== undefined ? 'yes' : 'Porto' }),
    }),
  );
  expect(bodyOf((await live(kept)).end)).toBe('{"action":"accept","content":{"city":"Porto","sure":true}}');
  expect((await payloadsOf(kept, 'task.clarify')).map(({ question }) => question)).toEqual([
    'sample asks: Where?\ncity',
    'sample asks: Where?\nSure: whether it is certain',
  ]);
});
