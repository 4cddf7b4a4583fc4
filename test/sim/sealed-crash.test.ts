/**
 * Secrets and resuming (invariants I8 and I11). A run with secrets in its prompt, in what its models say, in the arguments of its
 * calls and in what its sub-agent is told and answers is cut at every append and resumed. Each request to a model and each effect
 * must be, byte for byte, that of the uncut run; and nothing of the secrets can be read in the ledger's files.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/random.ts';
import type { RunEnd } from '../../src/engine/port.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import { createKeyRing, passingKeys } from '../../src/ledger/seals/keys.ts';
import { createProtection, type Protection } from '../../src/ledger/seals/protection.ts';
import type { ModelRequest } from '../../src/models/port.ts';
import { type OrdinaryTool, textResult } from '../../src/tools/port.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { agent, calls, createWorld, reports, turnOf, type World, type WorldOptions } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-sealed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_0000000000000sealed' as RunId;
const SESSION = 'ses_0000000000000sealed' as SessionId;

const PASSWORD = 'Xk29-"vb\\Tq\n8';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const SECRETS = [{ name: 'PGPASSWORD', value: PASSWORD }];
const keys = createKeyRing({ HOME: folder }, systemRandom);
const knowing = () => createProtection(SECRETS, keys);
/** A process without the variable, as the one of whoever approves may be. */
const ignorant = () => createProtection([], keys);
/** Another machine. */
const keyless = () => createProtection([], passingKeys(systemRandom));

interface Seen {
  readonly requests: Map<string, string>;
  readonly effects: Map<string, string>;
}

const brain = (seen: Seen) => (request: ModelRequest) => {
  const { agent: name, system, messages, tools } = request;
  const shown = JSON.stringify({ name, system, messages, tools });
  expect(seen.requests.get(request.idempotencyKey) ?? shown).toBe(shown);
  seen.requests.set(request.idempotencyKey, shown);
  const turn = turnOf(request);
  if (name === 'helper')
    return turn === 1 ? calls({ name: 'put', input: { name: `helper ${TOKEN}` } }) : reports(`Told ${PASSWORD}.`);
  if (turn === 1) return calls({ name: 'put', input: { name: PASSWORD } }, { name: 'put', input: { name: `and ${TOKEN}` } });
  if (turn === 2) return calls({ name: 'helper', input: { prompt: `Use ${PASSWORD}.`, reason: `It needs ${TOKEN}` } });
  if (turn === 3) return calls({ name: 'put', input: { name: `${PASSWORD}${TOKEN}` } });
  return reports(`Used ${PASSWORD}.`);
};

/** May be repeated, so that nothing is ever in doubt; what it is given must be the same each time. */
function put(seen: Seen): OrdinaryTool {
  return {
    name: 'put',
    description: 'put',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    replay: 'safe',
    async run(input, { idempotencyKey }) {
      const given = JSON.stringify(input);
      expect(seen.effects.get(idempotencyKey) ?? given).toBe(given);
      seen.effects.set(idempotencyKey, given);
      return textResult(`put ${given}`);
    },
  };
}

interface Options {
  readonly protection: Protection;
  readonly lastAppend?: number;
  readonly ask?: boolean;
}

function worldOf(path: string, seen: Seen, { protection, lastAppend, ask = false }: Options): World & { appends(): number } {
  let appends = () => 0;
  const tools = ['put'];
  const world = createWorld({
    path,
    protection,
    brain: brain(seen),
    tools: [put(seen)],
    agents: [
      agent({ tools, agents: ['helper'], permissions: { put: ask ? 'ask' : 'allow' }, prompt: `You know ${PASSWORD}.` }),
      agent({ name: 'helper', source: 'agents/helper.md', tools, permissions: { put: 'allow' } }),
    ],
    owner: { pid: DEAD_PID },
    wrapLedger: (inner) => {
      const crashing = crashAt(inner, lastAppend ?? Number.POSITIVE_INFINITY);
      appends = crashing.appends;
      return crashing.ledger;
    },
  });
  return { ...world, appends: () => appends() };
}

async function live(path: string, seen: Seen, options: Options): Promise<{ end: RunEnd | undefined; appends: number }> {
  const world = worldOf(path, seen, options);
  const end = await untilEnd(world);
  await world.ledger.close();
  return { end, appends: world.appends() };
}

async function untilEnd(world: World): Promise<RunEnd | undefined> {
  const resumed = await world.engine.resume(RUN);
  if (resumed.kind === 'ended') return { kind: 'ended', result: resumed.result };
  if (resumed.kind === 'resumed') return await resumed.handle.done;
  if (resumed.kind === 'refused') return undefined;
  const input = userText(`The password is ${PASSWORD}.`);
  const started = await world.engine.start({ agent: 'worker', input, workspace: folder, run: RUN, session: SESSION });
  return started.kind === 'started' ? await started.handle.done : undefined;
}

const nothing = (): Seen => ({ requests: new Map(), effects: new Map() });

/** Everything that lies on the disk for this ledger. */
function bytesOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && join(entry.parentPath, entry.name).includes(name),
  );
  expect(files.length).toBeGreaterThan(0);
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n');
}

/** As it is, and as JSON and JSON in JSON write it. Long enough that no sealed text holds it by chance. */
const READABLE = ['Xk29-"vb', 'Xk29-\\"vb', 'Xk29-\\\\\\"vb', 'a1B2a1B2'];

function expectNoSecret(text: string): void {
  for (const part of READABLE) expect(text.includes(part), `${part} can be read`).toBe(false);
}

describe('a run with secrets, cut at every append', () => {
  it.each([
    ['in a process that has them in its environment', knowing],
    ['in one that has not', ignorant],
  ])('goes on as the uncut one, %s', async (where, protection) => {
    const whole = join(folder, `whole-${where.length}.db`);
    const seen = nothing();
    const uncut = await live(whole, seen, { protection: knowing() });
    expect(uncut.end).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body: `Used ${PASSWORD}.` } } });
    expect(seen.requests.size).toBe(6);
    expect([...seen.effects.values()]).toContain(JSON.stringify({ name: PASSWORD }));
    expectNoSecret(bytesOf(whole));
    expect(uncut.appends).toBeGreaterThan(12);

    for (let cut = 1; cut <= uncut.appends; cut += 1) {
      const path = join(folder, `cut-${where.length}-${cut}.db`);
      const again = nothing();
      await live(path, again, { protection: knowing(), lastAppend: cut });
      const second = await live(path, again, { protection: protection() });
      expect(second.end, `cut at ${cut}`).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
      expect(Object.fromEntries(again.requests), `cut at ${cut}`).toEqual(Object.fromEntries(seen.requests));
      expect(Object.fromEntries(again.effects), `cut at ${cut}`).toEqual(Object.fromEntries(seen.effects));
      expectNoSecret(bytesOf(path));
    }
  });
});

describe('after an approval', () => {
  async function waiting(path: string): Promise<Seen> {
    const seen = nothing();
    const first = await live(path, seen, { protection: knowing(), ask: true });
    expect(first.end).toMatchObject({ kind: 'waiting' });
    expect(JSON.stringify(first.end)).not.toContain('Xk29');
    return seen;
  }

  async function approveAll(path: string, seen: Seen, protection: () => Protection): Promise<RunEnd | undefined> {
    for (let round = 0; round < 10; round += 1) {
      const world = worldOf(path, seen, { protection: protection(), ask: true });
      for (const { run, wait } of await world.engine.waits(RUN)) await world.engine.answer(run, wait, { kind: 'approved' });
      const end = await untilEnd(world);
      await world.close();
      if (end?.kind !== 'waiting') return end;
    }
    return undefined;
  }

  it('in another process, the tool gets exactly what the model gave', async () => {
    const path = join(folder, 'approved.db');
    const seen = await waiting(path);
    expect(seen.effects.size).toBe(0);
    expect(await approveAll(path, seen, ignorant)).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect([...seen.effects.values()]).toEqual([
      JSON.stringify({ name: PASSWORD }),
      JSON.stringify({ name: `and ${TOKEN}` }),
      JSON.stringify({ name: `helper ${TOKEN}` }),
      JSON.stringify({ name: `${PASSWORD}${TOKEN}` }),
    ]);
    expectNoSecret(bytesOf(path));
  });

  it('without the key, nothing runs on redacted text: setup, and with it the run, waits for the key', async () => {
    const path = join(folder, 'keyless.db');
    const seen = await waiting(path);
    const end = await approveAll(path, seen, keyless);
    expect(end).toMatchObject({ kind: 'interrupted', reason: expect.stringContaining('not on this machine') });
    expect(seen.effects.size).toBe(0);
    expect(await approveAll(path, seen, ignorant)).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect([...seen.effects.values()]).toContain(JSON.stringify({ name: PASSWORD }));
  });
});

describe('arguments that cannot be opened', () => {
  const asked = `The token is ${TOKEN}`;
  const options = (
    path: string,
    protection: Protection,
    told: string[],
    effects: string[],
    permission: 'ask' | 'allow' = 'ask',
  ): WorldOptions => ({
    path,
    protection,
    owner: { pid: DEAD_PID },
    agents: [agent({ tools: ['look', 'act'], permissions: { look: permission, act: permission } })],
    tools: ['look', 'act'].map((name) => ({
      ...put(nothing()),
      name,
      replay: name === 'act' ? 'never' : 'safe',
      run: async (input) => {
        effects.push(JSON.stringify(input));
        return textResult('done');
      },
    })),
    brain: (request) => {
      const last = request.messages.at(-1);
      if (last?.role !== 'tool')
        return calls({ name: 'look', input: { name: 'plain' } }, { name: 'act', input: { name: asked } });
      told.push(...last.content.flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : []))));
      return reports('Could not.');
    },
  });
  const world = (...given: Parameters<typeof options>): World => createWorld(options(...given));

  const start = async (path: string, told: string[], effects: string[]) => {
    const first = world(path, createProtection([], keys), told, effects);
    const input = userText('Go.');
    const started = await first.engine.start({ agent: 'worker', input, workspace: folder, run: RUN, session: SESSION });
    if (started.kind !== 'started') throw new Error(started.error.message);
    const end = await started.handle.done;
    for (const { run, wait } of await first.engine.waits(RUN)) await first.engine.answer(run, wait, { kind: 'approved' });
    await first.ledger.close();
    return end;
  };
  const goOn = async (one: World): Promise<RunEnd> => {
    const resumed = await one.engine.resume(RUN);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    return await resumed.handle.done;
  };
  const answered = async (one: World, text: string): Promise<RunEnd> => {
    for (const { run, wait } of await one.engine.waits(RUN)) await one.engine.answer(run, wait, { kind: 'text', text });
    return await goOn(one);
  };
  const GONE = /^Not run: the exact arguments of this call are gone.*not on this machine/;

  it('are said to be gone, to who approved the call, then to the model; one without a secret is made', async () => {
    const path = join(folder, 'gone.db');
    const [told, effects]: [string[], string[]] = [[], []];
    expect(await start(path, told, effects)).toMatchObject({ kind: 'waiting' });
    const second = world(path, keyless(), told, effects);
    const asked = { kind: 'question', question: expect.stringMatching(/^act was not run: its exact arguments are gone.*doctor/) };
    expect(await goOn(second)).toMatchObject({ kind: 'waiting', waits: [asked] });
    // The key is not there yet: what is asked again is a question of its own.
    expect(await answered(second, 'again')).toMatchObject({ kind: 'waiting', waits: [asked] });
    expect(told).toEqual([]);
    expect(await answered(second, 'leave it')).toMatchObject({ kind: 'ended', result: { report: { body: 'Could not.' } } });
    expect(effects).toEqual([JSON.stringify({ name: 'plain' })]);
    expect(told).toEqual(['done', expect.stringMatching(GONE)]);
    const events = await readAll(second.ledger, SESSION);
    expect(events.filter((event) => event.event_type === 'tool.result').map(({ payload }) => payload)).toMatchObject([
      { name: 'look' },
      { name: 'act', isError: true, gone: true },
    ]);
    expect(JSON.stringify(events)).toContain('[redacted:github-token]');
    expect(JSON.stringify(events)).not.toContain('"sealed"');
    expect(await second.ledger.verify()).toMatchObject({ kind: 'sound' });
    await second.close();
  });

  it('are exactly what the model gave once the key is back', async () => {
    const path = join(folder, 'back.db');
    const [told, effects]: [string[], string[]] = [[], []];
    await start(path, told, effects);
    const second = world(path, keyless(), told, effects);
    expect(await goOn(second)).toMatchObject({ kind: 'waiting' });
    for (const { run, wait } of await second.engine.waits(RUN))
      await second.engine.answer(run, wait, { kind: 'text', text: 'again' });
    await second.close();
    const third = world(path, createProtection([], keys), told, effects);
    expect(await goOn(third)).toMatchObject({ kind: 'ended' });
    expect(effects).toEqual([JSON.stringify({ name: 'plain' }), JSON.stringify({ name: asked })]);
    expect(told).toEqual(['done', 'done']);
    await third.close();
  });

  it('of a call that nobody was asked about are said to be gone to the model alone', async () => {
    const path = join(folder, 'unasked.db');
    const [told, effects]: [string[], string[]] = [[], []];
    const first = createWorld({
      ...options(path, createProtection([], keys), told, effects, 'allow'),
      wrapLedger: (inner) => crashAt(inner, 4).ledger,
    });
    const input = userText('Go.');
    const started = await first.engine.start({ agent: 'worker', input, workspace: folder, run: RUN, session: SESSION });
    if (started.kind === 'started') await started.handle.done;
    await first.ledger.close();
    const second = world(path, keyless(), told, effects, 'allow');
    expect(await goOn(second)).toMatchObject({ kind: 'ended' });
    // The one without a secret may be repeated.
    expect(new Set(effects)).toEqual(new Set([JSON.stringify({ name: 'plain' })]));
    expect(told).toEqual(['done', expect.stringMatching(GONE)]);
    await second.close();
  });
});
