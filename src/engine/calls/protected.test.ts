/** What is protected is asked for by its own name: an approval of the tool does not open it. */
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answered, resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { agent, calls, createWorld, says, turnOf, type World } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { createBuiltIns } from '../../tools/built-ins.ts';
import { decideProtected, type Permissions } from '../../tools/permissions.ts';

let folder: string;
let world: World;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'troupe-protected-')));
});
afterEach(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const writes = (path: string) => calls({ name: 'write', input: { path, content: 'new' } });
const text = (path: string) => readFile(join(folder, path), 'utf8').catch(() => undefined);

function worldWith(permissions: Permissions, owner: Permissions): World {
  const places = {
    project: folder,
    home: join(folder, '.troupe'),
    ledgers: [],
    user: join(folder, 'user'),
    keys: 'seal.keys',
  };
  const builtIns = createBuiltIns({ clock: systemClock, random: systemRandom, environment: {}, places });
  return createWorld({
    agents: [agent({ tools: ['write'], permissions })],
    tools: [...builtIns.values()].map((make) => make()),
    engineOptions: { opening: (definition, protection) => decideProtected(protection, definition.permissions, [owner]) },
    brain: (request) => {
      if (turnOf(request) === 1) return writes('plain.txt');
      return turnOf(request) === 2 ? writes('agents/new.md') : says('Done.');
    },
  });
}

it('an approval of write for the session leaves agent files closed, or a question of their own', async () => {
  world = worldWith({ write: 'ask', 'protected:agents': 'ask' }, { protected: 'allow' });
  const handle = await start(world, { workspace: folder });
  const first = await handle.done;
  if (first.kind !== 'waiting') throw new Error(first.kind);
  for (const { run, wait } of first.waits) await world.engine.answer(run, wait, { kind: 'approved', remember: true });
  const resumed = await world.engine.resume(handle.run);
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  const second = await resumed.handle.done;
  expect(second).toMatchObject({ kind: 'waiting', waits: [{ question: expect.stringContaining('protected:agents') }] });
  expect([await text('plain.txt'), await text('agents/new.md')]).toEqual(['new', undefined]);
  await answered(world, resumed.handle, { kind: 'approved' });
  expect(await text('agents/new.md')).toBe('new');
});

it('an agent file that asks for it gets nothing where the owner has not said so', async () => {
  world = worldWith({ 'protected:agents': 'allow' }, { '*': 'allow' });
  await resultOf(await start(world, { workspace: folder }));
  expect([await text('plain.txt'), await text('agents/new.md')]).toEqual(['new', undefined]);
});

it('protected files are open when both the agent and the project allow it', async () => {
  world = worldWith({ 'protected:agents': 'allow' }, { 'protected:agents': 'allow' });
  await resultOf(await start(world, { workspace: folder }));
  expect([await text('plain.txt'), await text('agents/new.md')]).toEqual(['new', 'new']);
});

it('whoever approves a call cannot make of it one into a protected place', async () => {
  world = worldWith({ write: 'ask' }, { protected: 'allow' });
  const handle = await start(world, { workspace: folder });
  const end = await handle.done;
  if (end.kind !== 'waiting') throw new Error(end.kind);
  const input = { path: 'agents/edited.md', content: 'new' };
  for (const { run, wait } of end.waits) {
    const outcome = await world.engine.answer(run, wait, { kind: 'approved', input });
    expect(outcome).toEqual({ kind: 'forbidden', why: expect.stringContaining('"agents/edited.md" is protected') });
    await world.engine.answer(run, wait, { kind: 'denied' });
  }
  const resumed = await world.engine.resume(handle.run);
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  await resumed.handle.done;
  expect([await text('plain.txt'), await text('agents/edited.md')]).toEqual([undefined, undefined]);
  // It was not even tried: the tool's own guard is another wall.
  expect(await world.ledger.read({ session: handle.session, types: ['tool.call'], limit: 1 })).toEqual([]);
});
