/** Blame looks at every session, however many runs there are. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { RunRow } from '../../ledger/port.ts';
import { readBlame } from './blame.ts';

it('names who wrote a line also where the run is older than ten thousand others', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'troupe-blame-'));
  await writeFile(join(workspace, 'a.txt'), 'one\n');
  const count = limits.runLookup + 1;
  const rows = Array.from({ length: count }, (_, index): RunRow => {
    const name = String(index);
    const row = {
      agent: 'helper',
      state: 'completed',
      startedAt: count - index,
      endedAt: count,
      owner: null,
      parent: null,
    } as const;
    return { ...row, run: `run_${name}` as RunId, session: `ses_${name}` as SessionId };
  });
  const oldest = `ses_${count - 1}` as SessionId;
  const change = {
    ...{ event_type: 'file.diff', event_id: `${oldest}.2`, session_id: oldest, run_id: `run_${count - 1}`, position: 2 },
    ...{ timestamp: new Date(1).toISOString(), step: 'turn/1/tool/0', tool: 'write', attachment_ref: null },
    payload: { path: 'a.txt', before: null, after: 'x', diff: '@@ -0,0 +1,1 @@\n+one\n', addedLines: 1, removedLines: 0 },
  } as unknown as LedgerEvent;
  const blamed = await readBlame(
    {
      runs: async ({ limit }) => rows.slice(0, limit),
      read: async ({ session }) => (session === oldest ? [change] : []),
      payload: async () => undefined,
    },
    { workspace, cwd: workspace },
    'a.txt',
  );
  await rm(workspace, { recursive: true });
  expect(blamed.ok && blamed.value.changes.map(({ event }) => event)).toEqual([`${oldest}.2`]);
});
