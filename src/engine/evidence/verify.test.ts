import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { acting, fastClock, type Group, judges } from '../../../test/support/patterns/group-on-engine.ts';
import { playsAgain } from '../../../test/support/replayed.ts';
import { agent, calls, createWorld, reports, turnOf, type World, type WorldOptions } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { systemClock } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { userText } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { createGuard } from '../../tools/closed/guard.ts';
import { shellTool } from '../../tools/shell/shell.ts';
import { createVerifier } from '../../tools/shell/verifier.ts';
import { createWorkspaceWatch } from '../../tools/watch/workspace-watch.ts';
import type { RunEnd } from '../port.ts';
import { readAll } from '../record/read-all.ts';

const environment = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter) };
const TEST = "require('node:test').test('holds', () => require('node:assert').ok(require('../state.js').good));\n";
const GOOD = 'exports.good = true;\n';
const BAD = 'exports.good = false;\n';

let place = '';
let folder = '';
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-verify-')));
  folder = join(place, 'work');
  mkdirSync(join(folder, 'test'), { recursive: true });
  writeFileSync(join(folder, 'test/state.test.js'), TEST);
  writeFileSync(join(folder, 'state.js'), GOOD);
});
afterEach(async () => {
  rmSync(place, { recursive: true, force: true });
});
const kept = closedAfterwards();

interface Play extends Partial<WorldOptions> {
  readonly verify?: AgentDefinition['verify'];
  readonly changes?: Partial<AgentDefinition>;
  /** Command lines of the agent, one per turn; then it reports. */
  readonly deeds?: readonly string[];
  readonly claims?: Json;
}

function open({ verify, changes, deeds = [], claims, engineOptions, ...more }: Play): World {
  const helper = agent({ name: 'helper', tools: ['shell'], permissions: { shell: 'allow' } });
  const world = createWorld({
    agents: [agent({ tools: ['shell'], permissions: { shell: 'allow' }, verify, maxTurns: 8, ...changes }), helper],
    tools: [shellTool({ clock: systemClock, environment, guard: createGuard() })],
    brain: (request) => {
      const command = deeds[turnOf(request) - 1];
      if (command !== undefined) return calls({ name: 'shell', input: { command } });
      return reports('Done.', present({ claims }));
    },
    engineOptions: {
      workspaces: createWorkspaceWatch({ clock: systemClock, environment }),
      verifier: createVerifier({ clock: systemClock, environment }),
      ...engineOptions,
    },
    ...more,
  });
  kept({
    close: async () => {
      await playsAgain(world.ledger);
      await world.close();
    },
  });
  return world;
}

async function run(world: World): Promise<{ readonly end: RunEnd; readonly run: string }> {
  const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: folder });
  if (started.kind !== 'started') throw new Error(started.error.message);
  return { end: await started.handle.done, run: started.handle.run };
}

async function verificationIn(play: Play) {
  const { end } = await run(open(play));
  if (end.kind !== 'ended') throw new Error(end.kind);
  return end.result;
}

const NODE = { commands: ['node --test'] };
/** Counts its runs in a file outside the workspace. */
const counted = (): { readonly commands: string[] } => ({ commands: [`echo x >> ${place}/count`] });
const count = (): number => readFileSync(join(place, 'count'), 'utf8').split('\n').length - 1;

describe('what is demanded', () => {
  it('makes a run verified that claims nothing', async () => {
    expect(await verificationIn({ verify: NODE })).toMatchObject({ status: 'completed', verification: { state: 'verified' } });
  });

  it('makes it unverified when it fails, whatever is claimed', async () => {
    const result = await verificationIn({
      verify: NODE,
      deeds: [`printf '${BAD.trim()}' > state.js`],
      claims: [{ kind: 'file', path: 'state.js' }],
    });
    expect(result).toMatchObject({
      status: 'completed_unverified',
      verification: { state: 'unverified', reasons: ['verify "node --test": it ended with 1'] },
    });
  });

  it('does not hold by a script that the work wrote and nobody can read', async () => {
    const script = 'run() { node --test; }; for each in 1 2; do run; echo $each; done';
    const verify = { commands: ['sh check.sh'] };
    const result = await verificationIn({ verify, deeds: [`echo '${script}' > check.sh`] });
    expect(result.verification).toMatchObject({
      state: 'unverified',
      reasons: [expect.stringContaining('check.sh was written in this work')],
    });
  });

  it('does not hold by a program that the work put in the place of another, also where tests may change', async () => {
    writeFileSync(join(folder, 'package.json'), '{"scripts":{"test":"node --test"}}');
    const fake = "mkdir -p node_modules/.bin && printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/node";
    const result = await verificationIn({
      verify: { commands: ['npm test'], testsMayChange: true },
      deeds: [`printf '${BAD.trim()}' > state.js`, `${fake} && chmod +x node_modules/.bin/node`],
    });
    const why = 'node_modules/.bin/node was changed during the run: it takes the place of node';
    expect(result.verification).toMatchObject({
      state: 'unverified',
      reasons: [`what was verified was changed: ${why}`],
    });
  });

  it.each([
    ['npm test || true', 'true', 'it does not show that the tests passed'],
    ['npm test', "printf 'node state.js' > t.sh", 'it goes through t.sh, which was changed in this work'],
    ['sh t.sh', "printf 'ls' > t.sh", 'it goes through t.sh, which was changed in this work'],
    ['make check', 'touch check', 'make did nothing'],
    ['make check', "printf 'check:\\n\\ttrue\\n' > GNUmakefile", 'it goes through GNUmakefile, which was written in this work'],
  ])('does not hold by %j after %j', async (command, deed, why) => {
    writeFileSync(join(folder, 'package.json'), '{"scripts":{"test":"sh t.sh"}}');
    writeFileSync(join(folder, 't.sh'), 'node --test\n');
    writeFileSync(join(folder, 'Makefile'), 'check:\n\tnode --test\n');
    const result = await verificationIn({ verify: { commands: [command] }, deeds: [deed] });
    expect(result.verification).toMatchObject({ state: 'unverified', reasons: [expect.stringContaining(why)] });
  });

  it('does not hold by tests that ended before they ran', async () => {
    const result = await verificationIn({ verify: NODE, deeds: ["echo 'process.exit(0);' > state.js"] });
    expect(result.verification).toMatchObject({
      state: 'unverified',
      reasons: ['verify "node --test": test/state.test.js ended before its tests had run'],
    });
  });

  it('is evidence like any other, under steps of its own', async () => {
    const world = open({ verify: { commands: ['ls test', 'node --test'] } });
    const { end } = await run(world);
    if (end.kind !== 'ended') throw new Error(end.kind);
    const [session] = await world.ledger.runs({});
    const events = await readAll(world.ledger, session?.session as never);
    const of = (type: string) => events.filter((event) => event.event_type === type).map((event) => event.step);
    expect(of('cli.run')).toEqual(['verify/0', 'verify/1']);
    expect(of('test.report')).toEqual(['verify/1']);
    expect(events.find((event) => event.event_type === 'evidence.checked')).toMatchObject({
      step: 'verify',
      payload: {
        verified: true,
        demanded: [
          { command: 'ls test', passed: true },
          { command: 'node --test', passed: true },
        ],
      },
    });
  });

  it('gives a claim the proof that it lacked, and no other', async () => {
    const hidden = { verify: NODE, deeds: ['node --test | tail -1'] };
    const claimed = [{ kind: 'command', command: 'node --test' }];
    expect((await verificationIn({ ...hidden, claims: claimed })).verification).toEqual({ state: 'verified' });
    const more = [...claimed, { kind: 'command', command: 'npm run lint' }];
    expect((await verificationIn({ ...hidden, claims: more })).verification).toMatchObject({ state: 'unverified' });
  });

  it('does not hold when the tests were changed, unless they may be', async () => {
    writeFileSync(join(folder, 'state.js'), BAD);
    const deeds = ["echo \"require('node:test').test('other', () => {});\" > test/other.test.js; rm test/state.test.js"];
    expect((await verificationIn({ verify: NODE, deeds })).verification).toEqual({
      state: 'unverified',
      reasons: ['what was verified was changed: test/state.test.js was a test and was removed in this work'],
    });
    writeFileSync(join(folder, 'test/state.test.js'), TEST);
    const verify = { ...NODE, testsMayChange: true };
    expect((await verificationIn({ verify, deeds })).verification).toEqual({ state: 'verified' });
  });

  it.each(['node lint.js || true', 'node lint.js &', 'echo fine'])('does not hold by what shows nothing: %s', async (command) => {
    writeFileSync(join(folder, 'lint.js'), 'process.exit(1);\n');
    const { verification } = await verificationIn({ verify: { commands: [command] } });
    expect(verification).toMatchObject({ state: 'unverified', reasons: [expect.stringContaining('it proves nothing')] });
  });

  it('does not hold when no test is left', async () => {
    const verify = { commands: ['node --test test/'], testsMayChange: true };
    const result = await verificationIn({ verify: { ...verify, commands: ['node --test'] }, deeds: ['rm -r test'] });
    expect(result.verification).toEqual({ state: 'unverified', reasons: ['verify "node --test": no test passed in it'] });
  });
});

describe('what a group demands', () => {
  const groups: readonly Group[] = [
    { mode: 'broadcast', workers: ['helper'] },
    { mode: 'sequential', workers: ['helper'] },
    { mode: 'orchestrator', workers: ['helper'] },
    { mode: 'reflect', workers: ['helper'], evaluator: 'helper' },
    { mode: 'reflect', evaluator: 'helper' },
  ];
  const playing = (group: Group, work: string) => ({
    changes: { group },
    clock: fastClock,
    brain: acting(
      ({ agent: name, part, request }) => {
        if (part === 'evaluate') return judges(1);
        if (part === 'synthesis') return 'Put together.';
        if (name === 'worker' && group.workers !== undefined) return undefined;
        return turnOf(request) === 1 ? calls({ name: 'shell', input: { command: work } }) : reports('Done.');
      },
      ['helper'],
    ),
  });

  it.each(groups)('is run once, at its end, and decides: %j', async (group) => {
    const spoil = `printf '${BAD.trim()}' > state.js`;
    const verify = { commands: [...counted().commands, 'node --test'] };
    expect(await verificationIn({ verify, ...playing(group, 'true') })).toMatchObject({
      status: 'completed',
      verification: { state: 'verified' },
    });
    expect(count()).toBe(1);
    expect(await verificationIn({ verify, ...playing(group, spoil) })).toMatchObject({
      status: 'completed_unverified',
      verification: { state: 'unverified', reasons: ['verify "node --test": it ended with 1'] },
    });
  });
});

describe('the shell of the runtime', () => {
  it.each([
    ['a failure in a pipe', 'false | cat', 'it ended with 1'],
    ['a failure before the end', 'false; true', 'it ended with 1'],
    ['a variable that is not set', 'echo "$nobody"', /^it ended with 1/],
    // What never ends: there is nothing that it must have done by then.
    ['too much time', 'sleep 600', 'it was stopped after 1 s (verify.timeout)', { timeout: 1_000 }],
    ['a trap on the time limit', "trap 'exit 0' TERM; sleep 600 & wait", /^it was stopped after 1 s/, { timeout: 1_000 }],
  ])('counts %s', async (_what, command, why, more?: { timeout: number }) => {
    const result = await verificationIn({ verify: { commands: [command], ...more } });
    expect(result.verification).toMatchObject({ state: 'unverified', reasons: [expect.stringContaining('verify ')] });
    const [reason = ''] = result.verification.state === 'unverified' ? result.verification.reasons : [];
    expect(reason.slice(reason.lastIndexOf(': ') + 2)).toMatch(why);
  });

  it('has no input, and nothing that the agent could have left for it', async () => {
    const home = join(place, 'home');
    mkdirSync(home);
    for (const name of ['.bashrc', '.bash_profile', '.profile'])
      writeFileSync(join(home, name), 'node() { return 0; }\nexport -f node\n');
    const verifier = createVerifier({
      clock: systemClock,
      environment: { ...environment, HOME: home, BASH_ENV: join(home, '.bashrc'), ENV: join(home, '.profile') },
    });
    writeFileSync(join(folder, 'state.js'), BAD);
    const result = await verificationIn({ verify: { commands: ['cat', 'node --test'] }, engineOptions: { verifier } });
    expect(result.verification).toEqual({ state: 'unverified', reasons: ['verify "node --test": it ended with 1'] });
  });

  it('does without bash, but not for pipes', async () => {
    const engineOptions = { verifier: createVerifier({ clock: systemClock, environment, shells: [] }) };
    expect((await verificationIn({ verify: NODE, engineOptions })).verification).toEqual({ state: 'verified' });
    expect((await verificationIn({ verify: { commands: ['false | cat'] }, engineOptions })).verification).toMatchObject({
      reasons: [expect.stringContaining('there is no bash here')],
    });
  });
});

describe('permissions', () => {
  it('are those of the shell: asked once, with what would be run', async () => {
    const world = open({ verify: NODE, changes: { permissions: { shell: 'ask' } } });
    const { end, run: id } = await run(world);
    expect(end).toMatchObject({
      kind: 'waiting',
      waits: [{ kind: 'permission', question: expect.stringContaining('node --test') }],
    });
    await world.engine.answer(id as never, 'verify/approval', { kind: 'approved' });
    const resumed = await world.engine.resume(id as never);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { verification: { state: 'verified' } } });
  });

  it('of a no, or of an agent without a shell, is that nothing was proved', async () => {
    const denied = await verificationIn({ verify: NODE, changes: { permissions: { shell: 'deny' } } });
    expect(denied.verification).toMatchObject({
      reasons: ['verify "node --test": not run: this agent may not use the shell (permissions)'],
    });
    const world = open({ verify: NODE, changes: { permissions: { shell: 'ask' } } });
    const { run: id } = await run(world);
    await world.engine.answer(id as never, 'verify/approval', { kind: 'denied' });
    const resumed = await world.engine.resume(id as never);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    expect(await resumed.handle.done).toMatchObject({
      result: { verification: { reasons: ['verify "node --test": not run: the user said no'] } },
    });
  });

  it('are not needed for the project’s own, which are run at the end of the root alone', async () => {
    const world = open({
      changes: { permissions: { shell: 'deny' }, agents: ['helper'] },
      engineOptions: { projectVerify: counted() },
      brain: (request) =>
        turnOf(request) === 1 && request.tools.some(({ name }) => name.includes('helper'))
          ? calls({
              name: request.tools.find(({ name }) => name.includes('helper'))?.name ?? '',
              input: { prompt: 'Help.', reason: 'why' },
            })
          : reports('Done.'),
    });
    const { end } = await run(world);
    expect(end).toMatchObject({ kind: 'ended', result: { verification: { state: 'verified' } } });
    expect(await world.ledger.runs({})).toHaveLength(2);
    expect(count()).toBe(1);
  });

  it('run what agent and project demand, each once', async () => {
    const verify = counted();
    expect((await verificationIn({ verify, engineOptions: { projectVerify: verify } })).verification).toEqual({
      state: 'verified',
    });
    expect(count()).toBe(2);
  });
});

describe('a demand that fails', () => {
  it('is told to an agent that may mend it', async () => {
    writeFileSync(join(folder, 'state.js'), BAD);
    const heard: string[] = [];
    const result = await verificationIn({
      verify: { ...NODE, retries: 1 },
      brain: (request) => {
        if (turnOf(request) === 1) return reports('Done at once.');
        heard.push(JSON.stringify(request.messages.at(-1)?.content));
        return turnOf(request) === 2
          ? calls({ name: 'shell', input: { command: `echo '${GOOD.trim()}' > state.js` } })
          : reports('Done now.');
      },
    });
    expect(result).toMatchObject({ report: { body: 'Done now.' }, verification: { state: 'verified' } });
    expect(heard[0]).toContain('Not done yet: `node --test` must pass before you end, and it ended with 1.');
    expect(heard[0]).toContain('holds');
  });

  it('ends the run unverified when it has been told often enough', async () => {
    writeFileSync(join(folder, 'state.js'), BAD);
    const result = await verificationIn({ verify: { ...NODE, retries: 2 } });
    expect(result).toMatchObject({
      turns: 3,
      verification: { state: 'unverified', reasons: ['verify "node --test": it ended with 1'] },
    });
  });
});

describe('a run that is taken up again', () => {
  /** The power is gone when the run is about to end. */
  const cutAtEnd = (ledger: Ledger): Ledger => ({
    ...ledger,
    append: async (request) => {
      if (request.events.some((event) => event.type === 'run.ended')) throw new Error('the power is gone');
      return await ledger.append(request);
    },
  });

  it.each([
    ['does not run again what passed, when the workspace is as it was', () => undefined, 1],
    ['runs it again when the workspace has changed', () => writeFileSync(join(folder, 'more.js'), ''), 2],
  ])('%s', async (_name, meanwhile, times) => {
    const path = join(place, 'ledger.db');
    const play: Play = { verify: counted(), path, owner: { pid: 2 ** 22 + 1 } };
    const { end, run: id } = await run(open({ ...play, wrapLedger: cutAtEnd }));
    expect(end.kind).toBe('interrupted');
    expect(count()).toBe(1);
    meanwhile();
    const resumed = await open(play).engine.resume(id as never);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { verification: { state: 'verified' } } });
    expect(count()).toBe(times);
  });
});
