/** Leases in a real ledger file that several hold open, as several processes do. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { value } from '../../test/support/workspaces/test-repository.ts';
import { systemClock } from '../base/clock.ts';
import { createIds, type RunId, type SessionId, shortId } from '../base/ids.ts';
import { systemRandom } from '../base/random.ts';
import type { NewEvent } from '../ledger/port.ts';
import { openProject } from '../project/open.ts';
import type { Project } from '../project/project.ts';
import { holdsDomain, type LeaseHolder, leaseDomain, releaseDomain, WORKSPACES } from './leases.ts';

let folder: string;
let opened: Project[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-leases-'));
  opened = [];
});

afterEach(async () => {
  for (const project of opened) await project.close();
  await rm(folder, { recursive: true, force: true });
});

async function needs() {
  const project = await openProject({ cwd: folder, root: folder, env: { HOME: folder, TROUPE_HOME: join(folder, 'home') } });
  opened.push(project);
  return { ledger: project.ledger, clock: systemClock, root: folder };
}

const wanted = (task: string, ...include: string[]) => ({
  task,
  session: 'ses_1',
  run: `run_of_${task}`,
  repo: '/repo',
  domain: { include, exclude: [], noTouch: [] },
});

describe('a lease', () => {
  it('is had by one of those who could write the same files, in all processes', async () => {
    const [one, other] = [await needs(), await needs()];
    const [first, second] = await Promise.all([
      leaseDomain(one, wanted('a', 'src/')),
      leaseDomain(other, wanted('b', 'SRC/main.ts', 'docs/')),
    ]);
    expect([first.ok, second.ok].toSorted()).toEqual([false, true]);
    const refused = first.ok ? second : first;
    expect(refused).toMatchObject({ error: { code: 'domain_taken', message: expect.stringContaining('src') } });
    expect(value(await leaseDomain(other, wanted('c', 'lib/'))).token).toBe(2);
    expect((await leaseDomain(other, { ...wanted('d', 'src/', 'docs/'), repo: '/another' })).ok).toBe(true);
  });

  it('of a task that is taken up again takes the place of the earlier one, which no longer holds', async () => {
    const [one, other] = [await needs(), await needs()];
    const first = value(await leaseDomain(one, wanted('a', 'src/')));
    expect(await holdsDomain(other, first)).toBe(true);
    const again = value(await leaseDomain(other, wanted('a', 'src/')));
    expect(again.token).toBeGreaterThan(first.token);
    expect(await holdsDomain(one, first)).toBe(false);
    // Whoever was overtaken gives back nothing of the other's.
    value(await releaseDomain(one, first));
    expect(await holdsDomain(one, again)).toBe(true);
    value(await releaseDomain(other, again));
    value(await releaseDomain(other, again));
    expect(await holdsDomain(one, again)).toBe(false);
    const events = await one.ledger.read({ session: WORKSPACES });
    expect(events.map(({ event_type }) => event_type)).toEqual([
      'session.started',
      'domain.leased',
      'domain.leased',
      'domain.released',
    ]);
  });

  it('is waited for, which is told once for each holder, until it is given back or the wait is over', async () => {
    const [one, other] = [await needs(), await needs()];
    const first = value(await leaseDomain(one, wanted('a', 'src/')));
    const told: (readonly LeaseHolder[])[] = [];
    const begun = Promise.withResolvers<void>();
    const stop = new AbortController();
    const waiting = leaseDomain(other, wanted('b', 'src/x'), {
      whenTaken: 'wait',
      told: (holders) => {
        told.push(holders);
        begun.resolve();
      },
    });
    const stopped = leaseDomain(other, wanted('c', 'src/y'), { whenTaken: 'wait', signal: stop.signal });
    await begun.promise;
    stop.abort();
    expect(await stopped).toMatchObject({ error: { code: 'cancelled' } });
    value(await releaseDomain(one, first));
    expect(value(await waiting).task).toBe('b');
    expect(told).toEqual([[{ task: 'a', run: 'run_of_a', overlap: 'src/x and src/**' }]]);
  });

  it.each([
    ['ended', true],
    ['left', false],
  ] as const)('is over when its run has %s, also when nobody gave it back', async (why, ended) => {
    const one = await needs();
    const ids = createIds(systemClock, systemRandom);
    const [session, run] = [ids.session(), ids.run()];
    const lease = value(await leaseDomain(one, { ...wanted('a', 'src/'), run }));
    const stop = await beginRun(one, session, run);
    expect(await holdsDomain(one, lease)).toBe(true);
    await stop(ended);
    expect(await holdsDomain(one, lease)).toBe(false);
    expect(value(await leaseDomain(one, wanted('b', 'src/'))).token).toBe(2);
    const released = await one.ledger.read({ session: WORKSPACES, types: ['domain.released'] });
    expect(released.map(({ payload }) => payload)).toEqual([{ token: 1, why }]);
  });

  it.each([
    ['paused', { type: 'run.paused', payload: { reason: 'later' } }, /is paused/, /troupe resume \w{6}.*troupe cancel \w{6}/],
    [
      'waiting',
      { type: 'approval.asked', payload: { wait: 'w', tool: 'shell', input: {}, why: 'it asks' } },
      /waits for an answer/,
      /troupe inbox.*troupe cancel \w{6}/,
    ],
  ] as const)('of a run that is %s is told with who has it, and how it is had', async (_state, left, says, fix) => {
    const one = await needs();
    const ids = createIds(systemClock, systemRandom);
    const [session, run] = [ids.session(), ids.run()];
    value(await leaseDomain(one, { ...wanted('a', 'src/'), run }));
    await (await beginRun(one, session, run))(left as never);
    const refused = await leaseDomain(one, wanted('b', 'src/x'));
    expect(refused).toMatchObject({ error: { message: expect.stringMatching(says), fix: expect.stringMatching(fix) } });
    expect(refused).toMatchObject({ error: { message: expect.stringContaining(`a of ${shortId(run)}`) } });
  });

  it('of a run that somebody assigns lasts while nobody works on that, and ends with it', async () => {
    const one = await needs();
    const ids = createIds(systemClock, systemRandom);
    const [session, run] = [ids.session(), ids.run()];
    const lease = value(await leaseDomain(one, { ...wanted('a', 'src/'), run, assigned: true }));
    await (await beginRun(one, session, run))(false);
    expect(await holdsDomain(one, lease)).toBe(true);
    expect(await leaseDomain(one, wanted('b', 'src/'))).toMatchObject({ error: { code: 'domain_taken' } });
  });

  it('stands against none of the same run where that keeps its tasks apart by itself', async () => {
    const one = await needs();
    const [mine, again] = [wanted('a', 'src/'), { ...wanted('a-2', 'src/'), run: 'run_of_a' }];
    value(await leaseDomain(one, mine, { amongRun: true }));
    value(await leaseDomain(one, again, { amongRun: true }));
    expect(await leaseDomain(one, wanted('b', 'src/x'), { amongRun: true })).toMatchObject({ error: { code: 'domain_taken' } });
    expect(await leaseDomain(one, { ...again, task: 'a-3' })).toMatchObject({ error: { code: 'domain_taken' } });
  });
});

/** What comes back ends it, or leaves it as a process that is gone does. */
async function beginRun(
  { ledger }: Awaited<ReturnType<typeof needs>>,
  session: SessionId,
  run: RunId,
): Promise<(ended: boolean | Pick<NewEvent, 'type' | 'payload'>) => Promise<void>> {
  const lease = await ledger.acquire(session, run);
  if (lease.kind !== 'acquired') throw new Error(lease.kind);
  const about = { run, actor: 'system', at: 1 } as const;
  const started = { ...about, type: 'session.started', cause: null, payload: { workspace: folder } } as const;
  const input = { role: 'user' as const, content: [{ type: 'text' as const, text: 'x' }] };
  const begun = {
    ...about,
    type: 'run.started',
    cause: started,
    payload: { agent: 'a', input, origin: { kind: 'person' as const }, depth: 0 },
  } as const;
  await ledger.append({ session, fence: lease.fence, events: [started, begun] });
  return async (isEnd) => {
    if (isEnd === false) return await ledger.release(lease.fence);
    if (isEnd !== true) {
      await ledger.append({
        session,
        fence: lease.fence,
        events: [{ ...about, ...isEnd, cause: begun } as NewEvent],
        release: true,
      });
      return;
    }
    const report = { format: 'text', body: 'done' } as const;
    const payload = { status: 'completed', report, finalAgent: 'a', verification: { state: 'unchecked' } } as const;
    const ended = { ...about, type: 'run.ended', cause: begun, payload } as const;
    await ledger.append({ session, fence: lease.fence, events: [ended], release: true });
  };
}
