/**
 * Agents that a real executor works for, in a process of its own that speaks the protocol: what it has us do is evidence, what
 * it asks waits with its process, and whoever is killed is taken up without anything being done twice that is known to be done.
 */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/random.ts';
import { ok } from '../../src/base/result.ts';
import type { RunEnd } from '../../src/engine/port.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { EventType } from '../../src/events/catalogue.ts';
import type { EventOf } from '../../src/events/envelope.ts';
import { userText } from '../../src/events/messages.ts';
import { createExecutors } from '../../src/executors/open.ts';
import { createGuard } from '../../src/tools/closed/guard.ts';
import { createWorkspaceWatch } from '../../src/tools/watch/workspace-watch.ts';
import { executing } from '../support/executors/brain-executors.ts';
import { sampleCommand } from '../support/executors/sample-command.ts';
import { createWorld, says, type World } from '../support/world.ts';

const RUN = 'run_0000000000processes' as RunId;
const SESSION = 'ses_0000000000processes' as SessionId;
const environment = { PATH: process.env['PATH'] };

interface Place {
  readonly folder: string;
  readonly workspace: string;
  /** The lines that the executor does. */
  readonly prompt: string;
  readonly agent: AgentDefinition;
}

function newPlace(prompt: string, changes: Partial<AgentDefinition> = {}): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-executor-processes-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = mkdtempSync(join(folder, 'work-'));
  return { folder, workspace, prompt: prompt.replaceAll('@', workspace), agent: executing('coder', changes) };
}

/** One process of ours: its own executors, on the ledger of the place. */
function life({ folder, agent }: Place): World & { end(): Promise<void> } {
  const executors = createExecutors({
    ...{ clock: systemClock, random: systemRandom, guard: createGuard(), environment },
    builtin: { program: ['troupe'], args: [], keys: [] },
    redact: (text) => text,
    layers: async () =>
      ok([{ source: 'project', fields: { sample: { title: 'Sample', command: sampleCommand('--store', folder) } } }]),
  });
  const world = createWorld({
    ...{ path: join(folder, 'ledger.db'), agents: [agent], brain: () => says('') },
    engineOptions: { executors, workspaces: createWorkspaceWatch({ clock: systemClock, environment }) },
  });
  const end = async (): Promise<void> => {
    await world.engine.close();
    await executors.close();
    await world.ledger.close();
  };
  return { ...world, end };
}

async function going({ engine }: World, { prompt, workspace }: Place): Promise<RunEnd> {
  const resumed = await engine.resume(RUN, {});
  if (resumed.kind === 'resumed') return await resumed.handle.done;
  const started = await engine.start({ agent: 'coder', input: userText(prompt), workspace, run: RUN, session: SESSION });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  return await started.handle.done;
}

async function approve({ engine }: World, end: RunEnd): Promise<void> {
  if (end.kind !== 'waiting') throw new Error(JSON.stringify(end));
  for (const { run, wait } of end.waits) await engine.answer(run, wait, { kind: 'approved' });
}

const events = async ({ ledger }: World) => await readAll(ledger, SESSION);
async function payloads<Type extends EventType>(world: World, type: Type): Promise<EventOf<Type>['payload'][]> {
  return (await events(world)).flatMap((event) => (event.event_type === type ? [event.payload as EventOf<Type>['payload']] : []));
}
const bodyOf = (end: RunEnd) => (end.kind === 'ended' ? end.result.report.body : end.kind);
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

describe('an executor in a process of its own', () => {
  it('has us write and run, which is evidence, and ends with its run', async () => {
    const place = newPlace(
      'write @/a.txt hello\nrun . - printf out; printf err >&2; echo x > b.txt\ntouch @/c.txt\ntouch @/d.txt\nwrite @/d.txt \nsay all done',
      {
        permissions: { shell: 'allow' },
      },
    );
    const world = life(place);
    const end = await going(world, place);
    expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(bodyOf(end)).toContain('all done');
    const diffs = await payloads(world, 'file.diff');
    expect(diffs.map(({ before }) => before)).toEqual([null, null, null, null]);
    const seen = diffs.map(({ path, by }) => [path, by ?? 'us']);
    expect(seen.sort()).toEqual(
      [
        ['a.txt', 'us'],
        ['b.txt', 'command'],
        ['c.txt', 'command'],
        // It had us write what it had written before.
        ['d.txt', 'command'],
      ].sort(),
    );
    expect(await payloads(world, 'cli.run')).toMatchObject([{ command: expect.stringContaining('printf out'), exitCode: 0 }]);
    expect(await payloads(world, 'cli.stdout')).toMatchObject([{ head: 'out' }]);
    expect(await payloads(world, 'cli.stderr')).toMatchObject([{ head: 'err' }]);
    const [session] = await payloads(world, 'executor.session');
    expect(session).toMatchObject({ executor: 'sample', version: '9.8.7', protocol: 1, restored: 'new', cwd: place.workspace });
    expect(await payloads(world, 'executor.ended')).toMatchObject([{ stop: 'end_turn' }]);
    expect(isAlive(session?.pid ?? 0)).toBe(false);
    await world.end();
  });

  it('may not write or run what the rules deny', async () => {
    const permissions = { shell: 'deny' as const, write: 'deny' as const };
    const place = newPlace('write @/a.txt hello\nrun . - touch b.txt\nsay tried', { permissions });
    const world = life(place);
    expect(bodyOf(await going(world, place))).toContain('tried');
    expect(existsSync(join(place.workspace, 'a.txt'))).toBe(false);
    expect(existsSync(join(place.workspace, 'b.txt'))).toBe(false);
    await world.end();
  });

  it('waits, while somebody is asked, with its question: the same process goes on with the answer', async () => {
    const place = newPlace('pid\nask * npm test\npid');
    const world = life(place);
    const waiting = await going(world, place);
    expect(waiting).toMatchObject({ kind: 'waiting', waits: [{ tool: 'shell', input: { command: 'npm test' } }] });
    const [session] = await payloads(world, 'executor.session');
    expect(isAlive(session?.pid ?? 0)).toBe(true);
    await approve(world, waiting);
    const body = bodyOf(await going(world, place));
    expect(body).toContain('permission y-once');
    expect(new Set(body.match(/pid \d+/g))).toEqual(new Set([`pid ${session?.pid}`]));
    expect((await payloads(world, 'executor.session')).map(({ restored }) => restored)).toEqual(['new', 'live']);
    await world.end();
    expect(isAlive(session?.pid ?? 0)).toBe(false);
  });

  it('that waited is loaded in another process, and what it asks finds its answer', async () => {
    const place = newPlace('ask * npm test\nsay done');
    const first = life(place);
    const waiting = await going(first, place);
    const [session] = await payloads(first, 'executor.session');
    await first.end();
    expect(isAlive(session?.pid ?? 0)).toBe(false);
    const second = life(place);
    await approve(second, waiting);
    expect(bodyOf(await going(second, place))).toMatch(/permission y-once\n[\s\S]*done/);
    expect((await payloads(second, 'executor.session')).map(({ restored }) => restored)).toEqual(['new', 'loaded']);
    expect(await payloads(second, 'approval.asked')).toHaveLength(1);
    await second.end();
  });

  it('that is killed in the middle is started again, loaded and told to go on', async () => {
    const place = newPlace('unless @/first kill-itself\nsay mended');
    const world = life(place);
    expect(bodyOf(await going(world, place))).toContain('mended');
    expect((await payloads(world, 'executor.session')).map(({ restored }) => restored)).toEqual(['new', 'loaded']);
    expect(await payloads(world, 'model.failed')).toMatchObject([{ final: false, error: { executor: 'crashed' } }]);
    expect((await payloads(world, 'executor.prompted')).map(({ how }) => how)).toEqual(['request', 'go-on']);
    await world.end();
  });

  it('is cancelled with its run, and all that it started ends', async () => {
    const place = newPlace('child\ncancelled');
    const world = life(place);
    const ending = going(world, place);
    const pid = await sessionOf(world);
    await world.engine.cancel(RUN, 'Enough.');
    expect(await ending).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
    expect(isAlive(pid)).toBe(false);
    await world.end();
  });

  it('is not there: nothing is started, and the run says what to do', async () => {
    const place = newPlace('say x', { executor: { name: 'sampel' } });
    const world = life(place);
    const end = await going(world, place);
    expect(end).toMatchObject({
      ...{ kind: 'ended', result: { status: 'failed', error: { code: 'executor_unavailable' } } },
    });
    expect(JSON.stringify(end)).toContain('sample');
    await world.end();
  });
});

async function sessionOf(world: World): Promise<number> {
  for (;;) {
    const prompted = (await payloads(world, 'executor.prompted')).length > 0;
    const [session] = prompted ? await payloads(world, 'executor.session') : [];
    if (session?.pid !== undefined) return session.pid;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
