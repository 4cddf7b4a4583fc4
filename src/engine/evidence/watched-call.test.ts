/** More changes than are recorded: the agent is told, the number is recorded, and tests prove nothing any more. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { type Tool, textResult } from '../../tools/port.ts';
import { noticedChanges } from '../../tools/watch/noticed-changes.ts';
import type { WatchedChange } from '../../tools/watch/watched-file.ts';
import { createWorkspaceWatch, type WorkspaceWatch } from '../../tools/watch/workspace-watch.ts';
import { weakenedTests } from '../old-tests/weakened-tests.ts';
import { watchedCall } from './watched-call.ts';

const same = (text: string): string => text;
const file = (text: string) => ({ sha256: text, executable: false, text, binary: false });
const changed = (count: number): WatchedChange[] =>
  Array.from({ length: count }, (_, index) => ({ path: `out/${index}.txt`, before: undefined, after: file('new') }));
const diffs = (count: number) =>
  noticedChanges(changed(count), 'command', same).flatMap(({ type, payload }) => (type === 'file.diff' ? [payload] : []));

function watching(count: number): WorkspaceWatch {
  let looks = 0;
  return {
    look: async () => {
      looks += 1;
      return { state: { kind: 'known', digest: `${looks}` }, changes: looks === 1 ? [] : changed(count) };
    },
    noted: async () => undefined,
    enter: () => () => ({ alone: true }),
  };
}

const tool: Tool = {
  name: 'shell',
  description: 'Runs.',
  inputSchema: { type: 'object' },
  replay: 'never',
  run: async () => textResult('done'),
};

it('changes of a command up to the limit are all recorded', () => {
  expect(diffs(limits.noticedChanges).some(({ more }) => more !== undefined)).toBe(false);
  expect(weakenedTests(diffs(limits.noticedChanges), () => undefined)).toEqual([]);
});

it('changes that are left out are counted, and may hold tests', () => {
  const recorded = diffs(limits.noticedChanges + 7);
  expect(recorded).toHaveLength(limits.noticedChanges);
  expect(recorded.at(-1)).toMatchObject({ more: 7 });
  expect(weakenedTests(recorded, () => undefined)).toEqual([
    '7 changes were too many to be recorded, and tests may be among them',
  ]);
});

it('the agent hears of changes that were too many to be recorded', async () => {
  const call = (count: number) => watchedCall(watching(count), '.', same, tool, async () => textResult('done'));
  expect(await call(limits.noticedChanges)).toMatchObject({ content: [{ text: 'done' }] });
  const { content } = (await call(limits.noticedChanges + 7)) as Extract<Awaited<ReturnType<typeof call>>, { kind: 'ok' }>;
  expect(content).toMatchObject([{ text: 'done' }, { text: expect.stringContaining('7 beyond the first 2,000') }]);
});

it.each([
  ['that is watched', tool],
  ['that reports its changes', { ...tool, reportsChanges: true }],
])('whoever comes after a call that broke is alone: one %s', async (_name, broken) => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-watched-'));
  const watch = createWorkspaceWatch({ clock: systemClock, environment: process.env });
  const failing = watchedCall(watch, folder, same, broken, () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(watch.enter(folder)()).toEqual({ alone: true });
  rmSync(folder, { recursive: true });
});
