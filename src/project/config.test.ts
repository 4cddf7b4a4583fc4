import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConfigPlaces, loadConfig, type ProjectConfig } from './config.ts';
import { settingsSchema } from './settings.ts';
import { parseSettings } from './settings-file.ts';

let root: string;
let home: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'troupe-config-'));
  home = await mkdtemp(join(tmpdir(), 'troupe-home-'));
});

afterEach(async () => {
  for (const folder of [root, home]) await rm(folder, { recursive: true, force: true });
});

async function load(more: Partial<ConfigPlaces> = {}): Promise<ProjectConfig> {
  const config = await loadConfig({ cwd: root, env: { HOME: home }, ...more });
  if (!config.ok) throw new Error(JSON.stringify(config.error));
  return config.value;
}

const project = (text: string): Promise<void> => writeFile(join(root, 'troupe.yaml'), text);

async function user(text: string): Promise<void> {
  await mkdir(join(home, '.config/troupe'), { recursive: true });
  await writeFile(join(home, '.config/troupe/config.yaml'), text);
}

describe('which setting holds', () => {
  it('without any file, the defaults', async () => {
    expect(await load()).toMatchObject({
      root,
      home: join(root, '.troupe'),
      ledger: join(root, '.troupe/ledger.db'),
      models: [],
      durability: 'effects',
      workspace: root,
      files: [],
    });
  });

  it('a ledger on a server, without its password in what is shown', async () => {
    await project('ledger: postgres://me:secret-word@db.internal/troupe?payloads=/mnt/payloads\n');
    const config = await load({ env: { HOME: home, TROUPE_HOME: '/elsewhere' } });
    expect(config).toMatchObject({ ledger: 'postgres://me@db.internal/troupe', ledgerAddress: { kind: 'postgres' } });
    expect(JSON.stringify(config)).not.toContain('secret-word');
    expect(config.ledgerAddress.location()).toContain('secret-word');
    const env = { HOME: home, TROUPE_HOME: '/elsewhere', TROUPE_LEDGER: 'sqlite:mine/other.db' };
    expect((await load({ env })).ledger).toBe(join(root, 'mine/other.db'));
    await expect(load({ env: { HOME: home, TROUPE_LEDGER: 'mysql://x' } })).rejects.toMatchObject({ code: 'ledger_address' });
  });

  it('ledgers that another setting overrides are still known, so that they stay closed to agents', async () => {
    await user('ledger: "postgres://db/troupe?payloads=/mnt/payloads"\n');
    await project('ledger: sqlite:data/l.db\n');
    const named = [join(root, 'data/l.db'), '/mnt/payloads'];
    expect((await load()).ledgerPlaces).toEqual(named);
    expect((await load({ env: { HOME: home, TROUPE_HOME: '/elsewhere' } })).ledgerPlaces).toEqual(named);
    const env = { HOME: home, TROUPE_LEDGER: 'sqlite:other.db' };
    expect(await load({ env })).toMatchObject({
      ledger: join(root, 'other.db'),
      ledgerPlaces: [join(root, 'other.db'), ...named],
    });
  });

  it('permissions of the user hold beside those of the project, which cannot open what the user closed', async () => {
    await user('permissions: { shell: deny }\n');
    await project('permissions: { shell: allow, fetch: ask }\n');
    expect((await load()).permissions).toEqual([{ shell: 'allow', fetch: 'ask' }, { shell: 'deny' }]);
  });

  it('flag over environment over project over user', async () => {
    await user('model: user/m\nvars: { a: user, b: user }\ndurability: full\n');
    expect((await load()).models).toEqual(['user/m']);
    await project('model: [project/m, project/n]\nvars: { b: project, c: project }\n');
    expect(await load()).toMatchObject({
      models: ['project/m', 'project/n'],
      vars: { a: 'user', b: 'project' },
      durability: 'full',
    });
    const env = { HOME: home, TROUPE_MODEL: 'env/m' };
    expect((await load({ env })).models).toEqual(['env/m']);
    expect(await load({ env, flags: { model: 'flag/m', vars: { c: 'flag' } } })).toMatchObject({
      models: ['flag/m'],
      vars: { a: 'user', b: 'project', c: 'flag' },
    });
  });

  it('a Redis for tasks, without its password in what is shown', async () => {
    expect((await load()).taskRedis).toBeUndefined();
    await project('tasks: { redis: "rediss://me:s3cret-of-tests-1@cache:6380/2", ttl: 2h }\n');
    const config = await load();
    expect(config.taskRedis).toMatchObject({
      key: 'task:{id}',
      ttlMs: 7_200_000,
      address: { shown: 'rediss://me@cache:6380/2' },
    });
    expect(JSON.stringify(config)).not.toContain('s3cret');
    expect(config.taskRedis?.address.location()).toContain('s3cret-of-tests-1');
    const env = { HOME: home, TROUPE_REDIS: 'redis://other', TROUPE_REDIS_PASSWORD: 'x/y@z-of-tests-2' };
    const other = (await load({ env })).taskRedis?.address;
    expect(other?.shown).toBe('redis://other');
    expect(other?.location()).toContain('x%2Fy%40z-of-tests-2');
    await expect(load({ env: { HOME: home, TROUPE_REDIS: 'http://x:hidden-1@y' } })).rejects.toThrow(
      /^(?!.*hidden).*Redis for tasks/,
    );
    await project('tasks: { redis: "http://x", key: task, ttl: 0 }\n');
    const wrong = await loadConfig({ cwd: root, env: { HOME: home } });
    if (wrong.ok) throw new Error('it should not load');
    expect(wrong.error.map(({ message }) => message)).toEqual([
      '"tasks.redis" must be redis:// or rediss:// and an address, such as redis://127.0.0.1:6379/0',
      '"tasks.key" must have {id} in it, such as task:{id}',
      '"tasks.ttl" must be at least 1s',
    ]);
  });

  it('TROUPE_HOME moves all state', async () => {
    await project('ledger: sqlite:elsewhere/l.db\n');
    expect((await load()).ledger).toBe(join(root, 'elsewhere/l.db'));
    expect(await load({ env: { HOME: home, TROUPE_HOME: '/state' } })).toMatchObject({
      home: '/state',
      ledger: '/state/ledger.db',
    });
  });

  it('the project is the nearest folder upwards with settings', async () => {
    await project('workspace: src\n');
    await mkdir(join(root, 'a/b'), { recursive: true });
    expect(await load({ cwd: join(root, 'a/b') })).toMatchObject({ root, workspace: join(root, 'src') });
    expect(await load({ cwd: join(root, 'a'), flags: { workspace: 'b' } })).toMatchObject({ workspace: join(root, 'a/b') });
  });
});

describe('the engine', () => {
  it('is this process, unless a cluster is named: by flag, environment or file', async () => {
    expect(await load()).toMatchObject({ cluster: undefined });
    await project('engine: restate+http://r1:8080,r2:8080/reviews\n');
    expect(await load()).toMatchObject({ cluster: { ingress: ['http://r1:8080', 'http://r2:8080'], name: 'reviews' } });
    expect(await load({ env: { HOME: home, TROUPE_ENGINE: 'embedded' } })).toMatchObject({ cluster: undefined });
    const flags = { engine: 'restate+https://far' };
    expect(await load({ flags })).toMatchObject({ cluster: { ingress: ['https://far'], name: 'troupe' } });
  });

  it('is refused where it stands when it is none', async () => {
    await project('engine: restate://r1\n');
    const config = await loadConfig({ cwd: root, env: { HOME: home } });
    if (config.ok) throw new Error('it should not load');
    expect(config.error[0]?.message).toMatch(/^"engine" must be embedded, or restate\+http:/);
    await project('');
    await expect(loadConfig({ cwd: root, env: { HOME: home, TROUPE_ENGINE: 'x' } })).rejects.toThrow(
      'The engine must be restate+http',
    );
  });
});

describe('what is wrong', () => {
  it('is said of every file at once, with its place', async () => {
    await project('modle: x\nbudget: { usd: -1, dollars: 2 }\nledger: mysql://x\ndurability: none\n');
    await user('model: [\n');
    const config = await loadConfig({ cwd: root, env: { HOME: home } });
    if (config.ok) throw new Error('it should not load');
    const shown = config.error.map(
      (one) => `${one.file.replace(home, '~')}:${one.line}:${one.column} ${one.message} | ${one.fix ?? ''}`,
    );
    expect(shown.slice(0, 5)).toMatchInlineSnapshot(`
      [
        "troupe.yaml:1:1 unknown key "modle" | Did you mean "model"?",
        "troupe.yaml:2:16 "budget.usd" must be at least 0 | ",
        "troupe.yaml:2:20 unknown key "dollars" in "budget" | Known keys: usd, tokens, calls, allowUnknownPrices.",
        "troupe.yaml:3:9 "ledger" must be sqlite: and a path, such as sqlite:.troupe/ledger.db, or postgres://… | ",
        "troupe.yaml:4:13 "durability" must be one of effects, full, not "none" | Known values: effects, full.",
      ]
    `);
    expect(shown.at(-1)).toMatch(/^~\/\.config\/troupe\/config\.yaml:\d+:\d+ /);
  });

  it.each([
    ['verify: []', '1:9 "verify" must have at least 1 entry | '],
    ['verify: npm test', '1:9 "verify" must be a list or a map of keys, not "npm test" | '],
    ['verify: { commandz: [npm test] }', '1:11 unknown key "commandz" in "verify" | Did you mean "commands"?'],
    ['verify:\n  commands: [npm test]\n  retries: many', '3:12 "verify.retries" must be a number, not "many" | '],
    ['budget: { usdd: 2 }', '1:11 unknown key "usdd" in "budget" | Did you mean "usd"?'],
    ['model:', '1:1 "model" has no value | Give it a value or remove the line.'],
    ['serve: { callers: { alice: { answers: 1 } } }', '1:39 "serve.callers.alice.answers" must be true or false, not 1 | '],
    ['- a', '1:1 the file is not a map of keys and values'],
  ])('names the key and what belongs there: %j', async (text, said) => {
    await project(`${text}\n`);
    const config = await loadConfig({ cwd: root, env: { HOME: home } });
    if (config.ok) throw new Error('it should not load');
    const shown = config.error.map((one) => `${one.line}:${one.column} ${one.message} | ${one.fix ?? ''}`);
    expect(shown.join('\n')).toContain(said);
  });

  it('never throws, whatever the file holds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.json()), (text) => {
        const parsed = parseSettings('troupe.yaml', text, settingsSchema);
        if (!parsed.ok) for (const one of parsed.error) expect(one.line).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
  });
});
