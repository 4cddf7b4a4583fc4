/** Places of tasks in a real repository and a real ledger that two processes have open. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testRepository, value, writeFiles } from '../../../test/support/workspaces/test-repository.ts';
import { systemClock } from '../../base/clock.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import { openProject } from '../open.ts';
import { createTaskPlaces } from './task-places.ts';

const session = 'ses_1' as SessionId;
const domain = { include: ['src/'], exclude: [], noTouch: [] };

async function processes() {
  const { top, home, options } = await testRepository();
  const open = async () => {
    const project = await openProject({ cwd: top, root: top, env: { HOME: home, TROUPE_HOME: home } });
    onTestFinished(() => project.close());
    const watching = { environment: process.env, clock: systemClock };
    return createTaskPlaces(options, watching, { ledger: project.ledger, clock: systemClock, root: top });
  };
  const files = { folder: top, session, task: 'task-1', run: 'run_1' as RunId, domain };
  return { top, open, files };
}

describe('a task', () => {
  it('is captured by whoever has its files now: one that was taken for dead touches and records nothing', async () => {
    const { top, open, files } = await processes();
    const [frozen, next] = [await open(), await open()];
    value((await frozen.lease?.(files)) ?? { ok: false, error: 'no lease' });
    const place = value(await frozen.prepare({ folder: top, session, task: 'task-1', base: undefined }));
    writeFiles(place.path, { 'src/new.ts': 'new\n', 'outside.txt': 'outside\n' });
    const limits = { maxCliCalls: 1, maxDurationMs: 1_000, maxMemoryMb: 1 };
    const terms: TaskTerms = { task: 'task-1', ...domain, limits, mode: 'full', place, package: 'x' };

    // Somebody takes the task up in another process.
    value((await next.lease?.(files)) ?? { ok: false, error: 'no lease' });
    expect(await frozen.capture(terms, session)).toMatchObject({ error: { code: 'domain_lost' } });
    expect(readFileSync(join(place.path, 'outside.txt'), 'utf8')).toBe('outside\n');
    expect(value(await next.capture(terms, session))).toMatchObject({
      files: [{ path: 'src/new.ts', added: 1, removed: 0 }],
      outside: [{ path: 'outside.txt' }],
    });
    // Asked again by the one who has them, they are not leased anew; by the other they are.
    value((await next.lease?.(files)) ?? { ok: false, error: 'no lease' });
    expect((await next.capture(terms, session)).ok).toBe(true);
    value((await frozen.lease?.(files)) ?? { ok: false, error: 'no lease' });
    expect((await frozen.capture(terms, session)).ok).toBe(true);
    expect(await next.capture(terms, session)).toMatchObject({ error: { code: 'domain_lost' } });
  });
});
