/** What an executor is kept in, by what its entry, the settings and its variables say. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { executorWorld } from '../../test/support/executors/executor-world.ts';
import { systemRandom } from '../base/random.ts';
import type { SandboxState } from '../sandbox/port.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { type SandboxSaid, sandboxSettings } from '../sandbox/settings.ts';
import type { ExecutorEntry, ExecutorFields } from './entry.ts';
import { type ExecutorKeeping, executorWalls, hostsOf, keepingOf, keptHere } from './kept-in.ts';
import { knownExecutors } from './known/entries.ts';
import { resolveExecutors } from './resolve.ts';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-kept-in-')));
const folder = join(home, 'work');
mkdirSync(folder);
afterAll(() => rmSync(home, { recursive: true, force: true }));

const places = {
  ...{ project: folder, home: join(folder, '.troupe'), ledgers: [] },
  ...{ user: join(home, '.config', 'troupe'), keys: join(home, 'keys') },
};
const BUILTIN = ['node', 'troupe.ts', 'acp', '--executor'];

function keeping(state: SandboxState, variable?: string, said: readonly (SandboxSaid | undefined)[] = []): ExecutorKeeping {
  const sandbox = {
    state: async () => state,
    enter: async (program: Parameters<ExecutorKeeping['sandbox']['enter']>[0]) => ({
      ...{ ok: true as const, value: { ...program, left: () => [] } },
    }),
    close: async () => undefined,
  };
  return { sandbox, settings: sandboxSettings(variable, said), places, builtin: BUILTIN };
}

const ON: SandboxState = { kind: 'on', id: 'walls' };
const MISSING: SandboxState = { kind: 'off', why: 'bwrap is missing', fix: 'install it', chosen: false };

function entryOf(
  project: ExecutorFields,
  user: ExecutorFields = {},
  known: ExecutorFields = { command: ['mine'] },
): ExecutorEntry {
  const { entries } = resolveExecutors([
    { source: 'known', fields: { mine: known } },
    { source: 'user', fields: { mine: user } },
    { source: 'project', fields: { mine: project } },
  ]);
  const [entry] = entries;
  if (entry === undefined) throw new Error('there is no entry');
  return entry;
}

describe('whether it is kept in something', () => {
  it.each<[string, string | undefined, readonly (SandboxSaid | undefined)[], ExecutorFields, ExecutorFields, string]>([
    ['nobody says anything', undefined, [], {}, {}, 'auto'],
    ['the user opens it for one', undefined, [], {}, { sandbox: 'off' }, 'off'],
    ['the project opens it where the user says nothing', undefined, [], { sandbox: 'off' }, {}, 'off'],
    ['the project opens what the user closed', undefined, [undefined, 'auto'], { sandbox: 'off' }, {}, 'auto'],
    ['the project opens what the user closed for this one', undefined, [], { sandbox: 'off' }, { sandbox: 'on' }, 'on'],
    ['the user opens one where the project demands walls', undefined, ['on'], {}, { sandbox: 'off' }, 'on'],
    ['one is closed where all are open', undefined, ['off'], { sandbox: 'on' }, {}, 'on'],
    ['whoever starts Troupe has the last word', 'off', ['on'], { sandbox: 'on' }, {}, 'off'],
    ['another program takes the place of one that was trusted', undefined, [], { command: ['evil'] }, { sandbox: 'off' }, 'auto'],
  ])('%s', (_what, variable, said, project, user, mode) => {
    expect(keepingOf(entryOf(project, user), keeping(ON, variable, said))).toBe(mode);
  });

  it('the built-in one builds its walls itself, and what only looks like it does not', () => {
    const command = [...BUILTIN, '--home', 'x'];
    expect(keepingOf(entryOf({ command }), keeping(ON, undefined, ['on']))).toBe('own');
    expect(keepingOf(entryOf({ command: ['node', 'evil.ts', 'acp', '--executor'] }), keeping(ON))).toBe('auto');
  });

  it.each<[ExecutorFields, SandboxState, SandboxSaid | undefined, object]>([
    [{}, ON, undefined, { how: 'inside', sandbox: 'walls' }],
    [{}, MISSING, undefined, { how: 'outside', why: 'bwrap is missing', fix: 'install it' }],
    [{}, MISSING, 'on', { how: 'refused', why: 'bwrap is missing', fix: 'install it' }],
    [{ address: '127.0.0.1:1' }, ON, undefined, { how: 'outside', why: 'it listens at an address' }],
    [{ address: '127.0.0.1:1' }, ON, 'on', { how: 'refused' }],
    [{ command: BUILTIN }, MISSING, 'on', { how: 'own' }],
  ])('%j with %j and %s is told', async (fields, state, said, told) => {
    expect(await keptHere(entryOf(fields), keeping(state, undefined, [said]))).toMatchObject(told);
  });
});

describe('what it sees and reaches', () => {
  const at = (variable: string): string => `\${${variable}}/`;
  const program = { folder, environment: { HOME: home, MINE: join(home, 'mine') }, mcp: [] };

  it('is its own, made where it must be, and nothing of others or of ours', () => {
    const entry = entryOf({
      sandbox: {
        write: ['~/.mine/', '~/.mine.json', at('MINE'), at('NOT_SET'), 'relative/', '~/keys', '~/.config/troupe/agents/'],
        read: ['~/.mine/settings'],
      },
    });
    const other = { ...entry, name: 'other', sandbox: { ...entry.sandbox, write: ['~/.mine/', '~/.other/'] } };
    const walls = executorWalls(entry, [entry, other], program, keeping(ON));
    expect(walls.write).toEqual([folder, join(home, '.mine/'), join(home, '.mine.json'), `${join(home, 'mine')}/`]);
    expect(walls.keep).toContain(join(home, '.mine/settings'));
    expect(walls.hide).toContain(join(home, '.other/'));
    expect(walls.hide).not.toContain(join(home, '.mine/'));
    expect([existsSync(join(home, '.mine')), existsSync(join(home, '.mine.json'))]).toEqual([true, false]);
  });

  it('are the hosts of its entry, and those that its variables and its MCP servers name', () => {
    const entry = entryOf({
      ...{ keys: ['A_BASE_URL', 'NOT_GIVEN'], env: { CONFIG: '' }, sandbox: { network: ['api.example.org'] } },
    });
    const environment = {
      A_BASE_URL: 'http://127.0.0.1:4010/v1',
      CONFIG: '{"base_url":"https://gateway.example/v1","x":"http://[::1]:9/"}',
      OURS: 'https://not-named.example',
    };
    const mcp = [{ kind: 'http' as const, name: 'm', url: 'https://mcp.example/mcp', headers: {} }];
    expect(hostsOf(entry, environment, mcp)).toEqual([
      ...['api.example.org', '127.0.0.1:4010', 'gateway.example:443', '[::1]:9', 'mcp.example:443'],
    ]);
  });

  it('is said of every one that is known', () => {
    for (const [name, { sandbox }] of Object.entries(knownExecutors)) {
      const { network = [], write = [] } = typeof sandbox === 'object' ? sandbox : {};
      expect([name, network.length > 0, write.every((path) => /^(~\/\.|\$\{)/.test(path))]).toEqual([name, true, true]);
    }
  });
});

it('is not started where walls are demanded and there are none, with what helps', async () => {
  const settings = sandboxSettings('on', []);
  const sandbox = createSandbox({ settings, environment: {}, random: systemRandom, state: [] });
  // No walls can be built around this folder, wherever there are some.
  const cwd = mkdtempSync('/dev/shm/troupe-kept-');
  const world = await executorWorld({ cwd, keeping: { sandbox, settings, places: undefined, builtin: BUILTIN } });
  expect(await world.open()).toMatchObject({
    ...{ ok: false, error: { why: 'unavailable', message: expect.stringContaining('demand a sandbox') } },
  });
  await sandbox.close();
  rmSync(cwd, { recursive: true, force: true });
});
