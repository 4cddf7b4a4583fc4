/** An approval is for what was shown, and for nothing that rules deny: neither by another call nor by an edited one. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resultOf, resumedResult, start } from '../../../test/conformance/engine/checks.ts';
import { agent, calls, createWorld, says, turnOf, type World } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { systemRandom } from '../../base/random.ts';
import { createProtection } from '../../ledger/seals/protection.ts';
import { createBuiltIns } from '../../tools/built-ins.ts';
import { decide, deniedBy, type Permissions } from '../../tools/permissions.ts';
import { type OrdinaryTool, textResult } from '../../tools/port.ts';
import type { PermissionWait, RunHandle } from '../port.ts';

let folder = '';
let world: World | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-approved-')));
});
afterEach(async () => {
  await world?.close();
  world = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** A tool whose calls come to what `shows` says at the moment. */
function tool(name: string, run: () => void, shows?: () => string): OrdinaryTool {
  return {
    ...{ name, description: name, inputSchema: { type: 'object' }, replay: 'never' },
    ...(shows === undefined ? {} : { preview: async () => shows() }),
    run: async () => {
      run();
      return textResult('done');
    },
  };
}

async function asked(handle: RunHandle): Promise<PermissionWait> {
  const end = await handle.done;
  const [wait] = end.kind === 'waiting' ? end.waits : [];
  if (wait?.kind !== 'permission') throw new Error(`nothing is asked: ${end.kind}`);
  return wait;
}

describe('what an approval is for', () => {
  let version = 1;
  const made: number[] = [];
  beforeEach(() => {
    version = 1;
    made.length = 0;
    world = createWorld({
      agents: [agent({ tools: ['change'], permissions: { change: 'ask' } })],
      tools: [
        tool(
          'change',
          () => void made.push(version),
          () => `version ${version}`,
        ),
      ],
      brain: (request) => (turnOf(request) === 1 ? calls({ name: 'change' }) : says('Done.')),
    });
  });
  const here = (): World => world ?? expect.unreachable();

  it.each([
    ['something else', () => '0'.repeat(64)],
    ['too little of it', (shown: string) => shown.slice(0, 7)],
    ['nothing of it', () => ''],
    ['more than it', (shown: string) => `${shown}0`],
  ])('is not %s', async (_name, given) => {
    const { run, wait, shown = '' } = await asked(await start(here()));
    const outcome = await here().engine.answer(run, wait, { kind: 'approved' }, { shown: given(shown) });
    expect(outcome).toEqual({ kind: 'other' });
    expect(await here().engine.waits(run)).toHaveLength(1);
  });

  it.each([8, 64])('can be named by its first %i signs', async (length) => {
    const handle = await start(here());
    const { run, wait, shown = '' } = await asked(handle);
    const answering = { shown: shown.slice(0, length) };
    expect(await here().engine.answer(run, wait, { kind: 'approved' }, answering)).toMatchObject({ kind: 'accepted' });
    await resumedResult(here(), handle.run);
    expect(made).toEqual([1]);
  });

  it('is what everybody sees: what is shown of a secret is its name, and the hash is that of it', async () => {
    const protection = createProtection([{ name: 'TOKEN', value: 'hunter2-hunter2' }]);
    world = createWorld({
      agents: [agent({ tools: ['change'], permissions: { change: 'ask' } })],
      tools: [tool('change', () => void made.push(1))],
      brain: (request) => (turnOf(request) === 1 ? calls({ name: 'change', input: { name: 'hunter2-hunter2' } }) : says('Done.')),
      protection,
    });
    const handle = await start(here());
    const { run, wait, shown, request } = await asked(handle);
    expect(request).toContain('[redacted:TOKEN]');
    expect(shown).toBe(createHash('sha256').update(request).digest('hex'));
    // So is what it is held against once it is answered: with the secret in it, it would never be the same.
    await here().engine.answer(run, wait, { kind: 'approved' }, { shown });
    await resumedResult(here(), handle.run);
    expect(made).toEqual([1]);
  });

  it('is asked for again when it would come to something else, and then only by who has looked', async () => {
    const handle = await start(here());
    const first = await asked(handle);
    await here().engine.answer(first.run, first.wait, { kind: 'approved' });
    version = 2;
    const resumed = await here().engine.resume(handle.run);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    const { run, wait, shown, request } = await asked(resumed.handle);
    expect([wait, request]).toEqual([`${first.wait}/2`, expect.stringContaining('version 2')]);
    expect(made).toEqual([]);
    // Whoever changes it has to have looked like anybody else.
    for (const answer of [{ kind: 'approved' }, { kind: 'approved', input: {} }] as const) {
      expect(await here().engine.answer(run, wait, answer)).toEqual({ kind: 'unseen' });
      expect(await here().engine.answer(run, wait, answer, { shown: first.shown })).toEqual({ kind: 'other' });
    }
    expect(await here().engine.answer(run, wait, { kind: 'approved' }, { shown })).toMatchObject({ kind: 'accepted' });
    await resumedResult(here(), handle.run);
    expect(made).toEqual([2]);
  });
});

describe('a file', () => {
  /** The calls of one turn. */
  function writes(permissions: Permissions, ...asks: readonly { name: string; input: JsonObject }[]): World {
    const places = { project: folder, home: join(folder, '.troupe'), ledgers: [], user: join(folder, 'user'), keys: 'seal.keys' };
    const builtIns = createBuiltIns({ clock: systemClock, random: systemRandom, environment: {}, places });
    const [own, edit] = [builtIns.get('write')?.(), builtIns.get('edit')?.()];
    if (own?.kind !== undefined || own === undefined || edit === undefined) throw new Error('there is no such tool');
    // The link comes after the path was looked at, and before the call is made.
    const looked = Promise.withResolvers<void>();
    const target: OrdinaryTool['target'] = async (...given) => {
      const found = await own.target?.(...given);
      looked.resolve();
      return found;
    };
    const swap: OrdinaryTool = {
      ...tool('swap', () => undefined),
      run: async () => {
        await looked.promise;
        rmSync(join(folder, 'src'), { recursive: true });
        rmSync(join(folder, 'there.txt'), { force: true });
        symlinkSync('other', join(folder, 'src'));
        return textResult('done');
      },
    };
    world = createWorld({
      agents: [agent({ tools: ['write', 'edit', 'swap'], permissions: { swap: 'allow', ...permissions } })],
      tools: [{ ...own, target }, edit, swap],
      brain: (request) => (turnOf(request) === 1 ? calls(...asks) : says('Done.')),
      engineOptions: {
        permission: ({ permissions: own }, of, call) => (forbidden.has(call.path ?? '') ? 'deny' : decide(of, own, [], call)),
        denial: ({ permissions: own = {}, source }, of, call) => deniedBy(of, [{ permissions: own, file: source }], call),
      },
    });
    return world;
  }
  /** What a rule denies that has come since. */
  const forbidden = new Set<string>();
  afterEach(() => forbidden.clear());
  const write = (path: string) => ({ name: 'write', input: { path, content: 'x' } });

  it.each([
    ['what is denied', 'secret/a', 'write "secret/**": deny'],
    ['what is protected', 'agents/a.md', 'agents/a.md'],
  ])('is not written where somebody edits the call to %s: they are told, and the question stays', async (_name, path, why) => {
    const here = writes({ write: { '*': 'ask', 'secret/**': 'deny' } }, write('plain.txt'));
    const handle = await start(here, { workspace: folder });
    const { run, wait } = await asked(handle);
    const answer = { kind: 'approved', whole: true, input: { path, content: 'x' } } as const;
    expect(await here.engine.answer(run, wait, answer)).toEqual({ kind: 'forbidden', why: expect.stringContaining(why) });
    expect(await here.engine.waits(run)).toHaveLength(1);
    await here.engine.answer(run, wait, { kind: 'denied' });
    await resumedResult(here, handle.run);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  it('is not written where what somebody made of the call is denied by the time it is made: it is asked again', async () => {
    const here = writes({ write: 'ask' }, write('plain.txt'));
    const handle = await start(here, { workspace: folder });
    const first = await asked(handle);
    const input = { path: 'secret/a', content: 'x' };
    expect(await here.engine.answer(first.run, first.wait, { kind: 'approved', input })).toMatchObject({ kind: 'accepted' });
    forbidden.add('secret/a');
    const resumed = await here.engine.resume(handle.run);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    const { run, wait, request, shown } = await asked(resumed.handle);
    expect([wait, request]).toEqual([`${first.wait}/2`, expect.stringContaining('What you made of it is denied')]);
    await here.engine.answer(run, wait, { kind: 'approved' }, { shown });
    await resumedResult(here, handle.run);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual(['plain.txt']);
  });

  it.each([
    ['a file that was not read', write('there.txt'), 'there.txt exists and you have not read it'],
    ['a text that is not in it', { name: 'edit', input: { path: 'there.txt', old: 'a', new: 'b' } }, '`old` was not found'],
    ['a path outside', write('../out.txt'), 'outside'],
    ['arguments that do not fit', { name: 'write', input: { path: 'a.txt' } }, 'content'],
  ])('that is sure to be refused is nobody asked about: %s', async (_name, call, why) => {
    writeFileSync(join(folder, 'there.txt'), 'mine\n');
    const here = writes({ write: 'ask', edit: 'ask' }, call);
    const handle = await start(here, { workspace: folder });
    await resultOf(handle);
    const recorded = await here.ledger.read({ session: handle.session });
    expect(JSON.stringify(recorded.filter(({ event_type }) => event_type === 'tool.result'))).toContain(why);
    expect(recorded.some(({ event_type }) => event_type === 'approval.asked')).toBe(false);
    expect(readFileSync(join(folder, 'there.txt'), 'utf8')).toBe('mine\n');
  });

  it('is asked about where a call before it in the same turn makes room for it', async () => {
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'there.txt'), 'mine');
    const here = writes({ write: 'ask' }, { name: 'swap', input: {} }, write('there.txt'));
    const { request } = await asked(await start(here, { workspace: folder }));
    expect(request).toContain('there.txt (new file');
  });

  it('that would be refused by the time it is made is asked about no second time', async () => {
    const here = writes({ write: 'ask' }, write('plain.txt'));
    const handle = await start(here, { workspace: folder });
    const { run, wait } = await asked(handle);
    writeFileSync(join(folder, 'plain.txt'), 'of somebody else');
    await here.engine.answer(run, wait, { kind: 'approved' });
    await resumedResult(here, handle.run);
    expect(await here.engine.waits(run)).toEqual([]);
    expect(readFileSync(join(folder, 'plain.txt'), 'utf8')).toBe('of somebody else');
  });

  it('is not written where a call before it has put a link in the way', async () => {
    for (const name of ['src', 'other']) mkdirSync(join(folder, name));
    const here = writes({ write: { 'src/**': 'allow' } }, { name: 'swap', input: {} }, write('src/a'));
    await resultOf(await start(here, { workspace: folder }));
    expect(readdirSync(join(folder, 'other'))).toEqual([]);
  });
});
