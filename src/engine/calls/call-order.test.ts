/** Calls of one turn that change something take effect in the order in which they were asked for; the others side by side. */
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answered, resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { agent, calls, reports, says, turnOf, type World } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { userText } from '../../events/messages.ts';
import { createLoopHost } from '../../runner/host/host.ts';
import { createBuiltIns } from '../../tools/built-ins.ts';
import { type Tool, textResult } from '../../tools/port.ts';
import { readAll } from '../record/read-all.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'troupe-order-')));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});
const createdWorld = keptWorlds();

const builtIns = [...createBuiltIns({ clock: systemClock, random: systemRandom, environment: process.env }).values()].map(
  (make) => make(),
);
const named = (name: string) => ({ name, tools: ['read', 'write', 'edit'], permissions: {} });
const edit = (path: string, old: string, fresh: string) => ({ name: 'edit', input: { path, old, new: fresh } });

async function runIn(world: World, name = 'worker') {
  const started = await world.engine.start({ agent: name, input: userText('Go'), workspace: folder });
  if (started.kind !== 'started') throw new Error(`not started: ${started.kind}`);
  return await resultOf(started.handle);
}

describe('files', () => {
  it.each(Array.from({ length: 20 }, (_, index) => index + 1))('three edits of one turn are all there (%i of 20)', async () => {
    await writeFile(join(folder, 'a.txt'), 'one\ntwo\nthree\n');
    const world = createdWorld({
      agents: [agent(named('worker'))],
      tools: builtIns,
      brain: (request) =>
        turnOf(request) === 1
          ? calls(edit('a.txt', 'one', 'ONE'), edit('a.txt', 'two', 'TWO'), edit('a.txt', 'three', 'THREE'))
          : reports('Done.', { claims: [{ kind: 'file', path: 'a.txt' }] }),
    });
    expect(await runIn(world)).toMatchObject({ status: 'completed' });
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('ONE\nTWO\nTHREE\n');
  });

  it('also when the session is played in a process of its own', async () => {
    await writeFile(join(folder, 'a.txt'), 'one\ntwo\nthree\n');
    const host = createLoopHost({ clock: systemClock, settings: { warm: 0 } });
    const world = createdWorld({
      agents: [agent({ ...named('worker'), isolation: 'process' })],
      tools: builtIns,
      engineOptions: { host },
      brain: (request) =>
        turnOf(request) === 1
          ? calls(edit('a.txt', 'one', 'ONE'), edit('a.txt', 'two', 'TWO'), edit('a.txt', 'three', 'THREE'))
          : says('Done.'),
    });
    expect(await runIn(world)).toMatchObject({ status: 'completed' });
    await host.close();
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('ONE\nTWO\nTHREE\n');
  });

  it('a read behind a write sees it, one in front of it does not', async () => {
    await writeFile(join(folder, 'a.txt'), 'before');
    const seen: string[] = [];
    const world = createdWorld({
      agents: [agent(named('worker'))],
      tools: builtIns,
      brain: (request) => {
        if (turnOf(request) === 1) return calls({ name: 'read', input: { path: 'a.txt' } });
        if (turnOf(request) === 2)
          return calls(
            { name: 'read', input: { path: 'a.txt' }, id: 'first' },
            { name: 'write', input: { path: 'a.txt', content: 'after' } },
            { name: 'read', input: { path: 'a.txt' }, id: 'last' },
          );
        const results = request.messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
        seen.push(...results.flatMap(({ content }) => content.map((part) => (part.type === 'text' ? part.text : ''))));
        return says('Done.');
      },
    });
    await runIn(world);
    expect(seen[1]).toContain('before');
    expect(seen.at(-1)).toContain('after');
  });
});

/** A tool whose calls last until all calls of `crowd` have begun, if there is one. */
function meeting(name: string, readOnly: boolean, begun: string[], crowd = 0): Tool {
  const everybody = Promise.withResolvers<void>();
  return {
    name,
    description: name,
    inputSchema: { type: 'object' },
    replay: 'safe',
    ...(readOnly ? { readOnly } : {}),
    async run(input) {
      const which = `${name} ${(input as { name: string }).name}`;
      begun.push(`${which} begins`);
      if (begun.filter((what) => what.startsWith(name)).length >= crowd) everybody.resolve();
      if (crowd > 0) await everybody.promise;
      else await new Promise((resolve) => setImmediate(resolve));
      begun.push(`${which} ends`);
      return textResult('ok');
    },
  };
}

describe('the order', () => {
  it('calls that say they change nothing run beside each other', async () => {
    const begun: string[] = [];
    const world = createdWorld({
      agents: [agent({ tools: ['peek'], permissions: {} })],
      tools: [meeting('peek', true, begun, 3)],
      brain: (request) => (turnOf(request) === 1 ? calls({ name: 'peek' }, { name: 'peek' }, { name: 'peek' }) : says('Done.')),
    });
    expect(await resultOf(await start(world))).toMatchObject({ status: 'completed' });
    expect(begun.slice(0, 3)).toEqual(['peek 0 begins', 'peek 1 begins', 'peek 2 begins']);
  });

  it('to be safe to repeat is not to change nothing', async () => {
    const begun: string[] = [];
    const world = createdWorld({
      agents: [agent({ tools: ['put', 'peek'], permissions: {} })],
      tools: [meeting('put', false, begun), meeting('peek', true, begun)],
      brain: (request) =>
        turnOf(request) === 1 ? calls({ name: 'peek' }, { name: 'put' }, { name: 'put' }, { name: 'peek' }) : says('Done.'),
    });
    expect(await resultOf(await start(world))).toMatchObject({ status: 'completed' });
    const inOrder = ['peek 0', 'put 1', 'put 2', 'peek 3'].flatMap((call) => [`${call} begins`, `${call} ends`]);
    expect(begun).toEqual(inOrder);
  });

  it('questions are put in the order of the calls, however long it takes to find out what each would do', async () => {
    const looked: string[] = [];
    const late = Promise.withResolvers<void>();
    const dare = (name: string, looks: () => Promise<unknown>): Tool => ({
      ...{ name, description: name, inputSchema: { type: 'object' }, replay: 'never' },
      async preview() {
        await looks();
        looked.push(name);
        return name;
      },
      run: async () => textResult('ok'),
    });
    const world = createdWorld({
      agents: [agent({ permissions: { slow: 'ask', quick: 'ask', free: 'allow' }, tools: ['slow', 'free', 'quick'] })],
      tools: [
        dare('slow', () => late.promise),
        dare('free', async () => undefined),
        // The last one knows first, and has the first find out only then.
        dare('quick', async () => setImmediate(late.resolve)),
      ],
      brain: (request) =>
        turnOf(request) === 1 ? calls({ name: 'slow' }, { name: 'free' }, { name: 'quick' }) : reports('Done.'),
    });
    const handle = await start(world);
    expect(await handle.done).toMatchObject({ kind: 'waiting' });
    expect(looked).toEqual(['quick', 'slow']);
    const asked = await readAll(world.ledger, handle.session, { types: ['approval.asked'] });
    expect(asked.map(({ step }) => step)).toEqual(['turn/1/tool/0/approval', 'turn/1/tool/2/approval']);
    expect((await world.engine.waits(handle.run)).map(({ wait }) => wait)).toEqual(asked.map(({ step }) => step));
  });

  it('what stands behind a call that waits for a permission is made after it', async () => {
    const effects: string[] = [];
    const tool = (name: string): Tool => ({
      name,
      description: name,
      inputSchema: { type: 'object' },
      replay: 'never',
      async run(input) {
        effects.push(`${name} ${(input as { name: string }).name}`);
        return textResult('ok');
      },
    });
    const asking = createdWorld({
      agents: [agent({ permissions: { act: 'allow', dare: 'ask' }, tools: ['act', 'dare'] })],
      tools: [tool('act'), tool('dare')],
      brain: (request) => (turnOf(request) === 1 ? calls({ name: 'act' }, { name: 'dare' }, { name: 'act' }) : reports('Done.')),
    });
    const handle = await start(asking);
    expect(await handle.done).toMatchObject({ kind: 'waiting' });
    expect(effects).toEqual(['act 0']);
    expect(await answered(asking, handle, { kind: 'approved' })).toMatchObject({ status: 'completed' });
    expect(effects).toEqual(['act 0', 'dare 1', 'act 2']);
  });
});
