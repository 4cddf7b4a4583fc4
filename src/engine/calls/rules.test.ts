/** Rules as runs meet them: what "always" allows later in a session, and paths that are not what they look like. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { agent, calls, createWorld, says, type World } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { systemRandom } from '../../base/random.ts';
import { createBuiltIns } from '../../tools/built-ins.ts';
import type { Permissions } from '../../tools/permissions.ts';
import type { OpenWait, RunHandle } from '../port.ts';

let folder = '';
let world: World | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-rules-')));
});
afterEach(async () => {
  await world?.engine.close();
  world = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const TOOLS = ['shell', 'write', 'read', 'fetch'];

/** One call a turn. */
function worldOf(permissions: Permissions, asked: readonly (readonly [string, JsonObject])[]): World {
  const builtIns = createBuiltIns({ clock: systemClock, random: systemRandom, environment: { PATH: process.env['PATH'] } });
  return createWorld({
    agents: [agent({ tools: TOOLS, permissions: { ...permissions } })],
    tools: TOOLS.flatMap((name) => builtIns.get(name)?.() ?? []),
    brain: (request) => {
      const [tool, input] = asked[request.messages.filter(({ role }) => role === 'assistant').length] ?? [];
      return tool === undefined || input === undefined ? says('Done.') : calls({ name: tool, input });
    },
  });
}

/** What is asked, in order, when everything is answered in the same way. */
async function questions(here: World, handle: RunHandle, remember: boolean): Promise<readonly OpenWait[]> {
  const all: OpenWait[] = [];
  for (let current = handle; ; ) {
    const end = await current.done;
    if (end.kind !== 'waiting') {
      await resultOf(current);
      return all;
    }
    for (const wait of end.waits) {
      all.push(wait);
      await here.engine.answer(wait.run, wait.wait, { kind: 'approved', whole: true, ...(remember ? { remember } : {}) });
    }
    const resumed = await here.engine.resume(handle.run);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    current = resumed.handle;
  }
}

const commands = (waits: readonly OpenWait[]): readonly unknown[] =>
  waits
    .map((wait) => (wait.kind === 'permission' ? (wait.input as { command?: string; path?: string }) : undefined))
    .map((one) => one?.command ?? one?.path);

describe('"always"', () => {
  it('is for the same command, and for nothing else of the tool', async () => {
    const lines = ['echo one', 'echo  one', 'echo one', 'echo two', 'echo one; echo two', 'echo one > f', 'echo two'];
    world = worldOf(
      {},
      lines.map((command) => ['shell', { command }] as const),
    );
    const asked = await questions(world, await start(world, { workspace: folder }), true);
    expect(commands(asked)).toEqual(['echo one', 'echo two', 'echo one > f']);
    expect(asked.map((wait) => wait.kind === 'permission' && wait.rule)).toEqual([
      'shell echo one',
      'shell echo two',
      'shell = echo one > f',
    ]);
  });

  it.each([
    [{ kind: 'denied', note: 'never' } as const, ['once']],
    [{ kind: 'approved', whole: true, input: { command: 'echo another >> log' } } as const, ['once', 'another']],
  ])('decides nothing that somebody was asked about and has answered: %j', async (second, lines) => {
    const command = 'echo once >> log';
    const builtIns = createBuiltIns({ clock: systemClock, random: systemRandom, environment: { PATH: process.env['PATH'] } });
    world = createWorld({
      agents: [agent({ tools: ['shell'], permissions: { shell: 'ask' } })],
      tools: ['shell'].flatMap((name) => builtIns.get(name)?.() ?? []),
      brain: ({ messages }) =>
        messages.some(({ role }) => role === 'assistant')
          ? says('Done.')
          : calls({ name: 'shell', input: { command }, id: 'a' }, { name: 'shell', input: { command }, id: 'b' }),
    });
    const handle = await start(world, { workspace: folder });
    const end = await handle.done;
    const [one, other] = end.kind === 'waiting' ? end.waits : [];
    if (one === undefined || other === undefined) throw new Error('both are to be asked about');
    await world.engine.answer(one.run, one.wait, { kind: 'approved', whole: true, remember: true });
    await world.engine.answer(other.run, other.wait, second);
    const resumed = await world.engine.resume(handle.run);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    await resultOf(resumed.handle);
    expect(readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')).toEqual(lines);
  });

  it('asks again without it', async () => {
    world = worldOf(
      {},
      [1, 2].map(() => ['shell', { command: 'echo one' }] as const),
    );
    expect(await questions(world, await start(world, { workspace: folder }), false)).toHaveLength(2);
  });

  it('is for one file', async () => {
    const paths = ['a.md', './a.md', 'b.md'];
    world = worldOf(
      { write: 'ask' },
      paths.map((path) => ['write', { path, content: path }] as const),
    );
    const asked = await questions(world, await start(world, { workspace: folder }), true);
    expect(commands(asked)).toEqual(['a.md', 'b.md']);
  });
});

describe('rules for paths', () => {
  it('are about where a path really leads', async () => {
    mkdirSync(join(folder, 'src'));
    mkdirSync(join(folder, 'other'));
    symlinkSync('../other', join(folder, 'src', 'link'));
    const paths = ['src/a', 'src/link/b', 'src/../other/c', `${folder}/src/d`];
    world = worldOf(
      { write: { 'src/**': 'allow' } },
      paths.map((path) => ['write', { path, content: 'x' }] as const),
    );
    const asked = await questions(world, await start(world, { workspace: folder }), false);
    expect(commands(asked)).toEqual(['src/link/b', 'src/../other/c']);
    expect(readdirSync(join(folder, 'src')).sort()).toEqual(['a', 'd', 'link']);
  });

  it('deny what they deny', async () => {
    const rules = { write: { '*': 'allow', 'secret/**': 'deny' } } as const;
    world = worldOf(rules, [
      ['write', { path: 'secret/a', content: 'x' }],
      ['write', { path: 'b', content: 'x' }],
    ]);
    expect(await questions(world, await start(world, { workspace: folder }), false)).toEqual([]);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual(['b']);
  });
});

it('rules for hosts decide about a fetch', async () => {
  // Nothing goes out: one is denied, and to the others the tool says no, as they are of this machine.
  const rules = { fetch: { '*.example.org': 'deny', '127.0.0.1': 'allow', '*': 'ask' } } as const;
  const urls = ['https://docs.example.org/a', 'http://127.0.0.1/b', 'http://[::1]/c'];
  world = worldOf(
    rules,
    urls.map((url) => ['fetch', { url }] as const),
  );
  const asked = await questions(world, await start(world, { workspace: folder }), false);
  expect(asked.map((wait) => wait.kind === 'permission' && wait.input)).toEqual([{ url: 'http://[::1]/c' }]);
});

describe('what another process takes back', () => {
  it('holds from the next call of a run that is at work here', async () => {
    const path = join(folder, 'ledger.db');
    const builtIns = createBuiltIns({ clock: systemClock, random: systemRandom, environment: { PATH: process.env['PATH'] } });
    const other = createWorld({ path, brain: () => says('Nothing.') });
    let started: RunHandle | undefined;
    world = createWorld({
      path,
      // Nobody rings the bell: what the other process wrote is only there for whoever looks.
      wrapLedger: (ledger) => ({ ...ledger, onInbound: () => () => undefined }),
      agents: [agent({ tools: ['shell'] })],
      tools: [builtIns.get('shell')?.() ?? []].flat(),
      brain: async (request) => {
        const turn = request.messages.filter(({ role }) => role === 'assistant').length + 1;
        if (turn === 3 && started !== undefined)
          expect(await other.engine.forget(started.session, 'shell echo one')).toMatchObject({ rules: ['shell echo one'] });
        return turn < 5 ? calls({ name: 'shell', input: { command: 'echo one' } }) : says('Done.');
      },
    });
    started = await start(world, { workspace: folder });
    expect(commands(await questions(world, started, true))).toEqual(['echo one', 'echo one']);
    await other.close();
  });
});
