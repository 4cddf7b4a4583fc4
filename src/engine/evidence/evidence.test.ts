/** Claims about files, against what the runtime itself has recorded of them. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { LedgerEvent } from '../../events/envelope.ts';
import { checkClaims } from './evidence.ts';

const workspace = mkdtempSync(join(tmpdir(), 'troupe-claims-'));
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const changed = (position: number, path: string, before: string | null, after: string): LedgerEvent =>
  ({
    event_type: 'file.diff',
    position,
    payload: {
      path,
      diff: '',
      addedLines: 1,
      removedLines: 0,
      before: before === null ? null : sha256(before),
      after: sha256(after),
    },
  }) as LedgerEvent;

function check(path: string, events: readonly LedgerEvent[]) {
  const now = { kind: 'unknown', why: 'nobody watches the workspace' } as const;
  const { claims } = checkClaims([{ kind: 'file', path }], { events, workspace, now });
  return claims[0];
}

it('a file that holds what its last recorded change left is backed by it', () => {
  writeFileSync(join(workspace, 'kept.txt'), 'two');
  const events = [changed(3, 'kept.txt', null, 'one'), changed(7, 'kept.txt', 'one', 'two')];
  expect(check('kept.txt', events)).toMatchObject({ backed: true, by: 7 });
});

it.each([
  ['something else', 'three'],
  ['what an earlier change left', 'one'],
  ['nothing', ''],
])('a file that holds something else than its last recorded change is not: %s', (_what, text) => {
  writeFileSync(join(workspace, 'changed.txt'), text);
  const events = [changed(3, 'changed.txt', null, 'one'), changed(7, 'changed.txt', 'one', 'two')];
  expect(check('changed.txt', events)).toMatchObject({ backed: false, by: 7, why: expect.stringContaining('has changed since') });
});

it('a claim of a file that is gone is not backed', () => {
  expect(check('gone.txt', [changed(3, 'gone.txt', null, 'one')])).toMatchObject({ backed: false });
});
