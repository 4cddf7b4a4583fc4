/**
 * Our process dies while an executor works on a task, wherever that is: what was written before is in the patch, in the recorded
 * changes and in the manifest alike, and tests that were changed meanwhile are seen to be.
 */
import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { RunResult } from '../../src/patterns/steps.ts';
import { CHECK, LIBRARY, TIMES } from '../support/executors/task-cases.ts';
import { DEAD, newTaskFolder, TASK_SESSION, type TaskPlan, taskLife } from '../support/executors/task-world.ts';
import { crashAt } from '../support/ledger/crash.ts';

const planOf = (include: readonly string[], ...plays: readonly string[]): TaskPlan => ({
  files: LIBRARY,
  tasks: [{ goal: 'times', include, acceptance: [CHECK], plays }],
});

function newFolder(plan: TaskPlan): string {
  const folder = newTaskFolder(plan);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** One life, which ends with this append. */
async function live(folder: string, plan: TaskPlan, lastAppend = Number.POSITIVE_INFINITY) {
  let appends: readonly string[] = [];
  const life = taskLife(folder, plan, {
    owner: DEAD,
    wrapLedger: (inner) => {
      const crashing = crashAt(inner, lastAppend);
      appends = crashing.kinds;
      return crashing.ledger;
    },
  });
  const end = await life.go().catch(() => undefined);
  const events = await readAll(life.ledger, TASK_SESSION);
  await life.end();
  const result: RunResult | undefined = end?.kind === 'ended' ? end.result : undefined;
  return { result, events, appends };
}

/** From when the executor is told to when its work is captured. */
function whileItWorks(appends: readonly string[]): readonly number[] {
  const at = (kind: string): number => appends.findIndex((kinds) => kinds.includes(`${kind} below`));
  const [told, captured] = [at('executor.prompted'), at('task.captured')];
  expect(told).toBeGreaterThan(0);
  expect(captured).toBeGreaterThan(told);
  return Array.from({ length: captured - told }, (_, step) => told + 1 + step);
}

it('what was written before a crash is in the patch, in the recorded changes and in the manifest', async () => {
  const plan = planOf(['src/'], TIMES, 'put src/two.js exports.two = 2;\\n', 'rename src/old/one.js src/one.js');
  const whole = await live(newFolder(plan), plan);
  for (const cut of whileItWorks(whole.appends)) {
    const folder = newFolder(plan);
    const { result: none } = await live(folder, plan, cut);
    expect(none, `cut at ${cut}`).toBeUndefined();
    const { result, events } = await live(folder, plan);
    const when = `cut at ${cut} (${whole.appends[cut]})`;
    expect(result?.verification, when).toEqual({ state: 'verified' });
    const changed = events.flatMap((event) => (event.event_type === 'file.diff' ? [event.payload.path] : []));
    expect(new Set(changed), when).toEqual(new Set(['src/old/one.js', 'src/one.js', 'src/times.js', 'src/two.js']));
    const items = events.flatMap((event) => (event.event_type === 'artifact.manifest' ? event.payload.items : []));
    expect(new Set(items.map(({ path }) => path)), when).toEqual(new Set(changed));
    const patched = events.flatMap((event) => (event.event_type === 'task.captured' ? event.payload.files : []));
    expect(patched.map(({ path }) => path).toSorted(), when).toEqual(['src/one.js', 'src/times.js', 'src/two.js']);
  }
});

it('a check that was changed before a crash proves nothing after it', async () => {
  const plan = planOf(['.'], 'put check.js process.exit(0);\\n');
  const { appends } = await live(newFolder(plan), plan);
  const folder = newFolder(plan);
  await live(folder, plan, whileItWorks(appends)[0]);
  const { result } = await live(folder, plan);
  expect(result?.verification).toMatchObject({ state: 'unverified', reasons: [expect.stringContaining('check.js')] });
});
