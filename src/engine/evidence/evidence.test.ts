/** Claims about files and commands, against what the runtime itself has recorded of them. */
import { createHash } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { LedgerEvent } from '../../events/envelope.ts';
import { checkClaims } from './evidence.ts';

const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-claims-')));
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

const ran = (position: number, more: object = {}): LedgerEvent =>
  ({
    event_type: 'cli.run',
    position,
    payload: {
      ...{ command: 'node --test', cwd: workspace, exitCode: 0, proves: [{ command: 'node --test' }] },
      ...{ workspace: { before: 'a', after: 'a' }, ...more },
    },
  }) as LedgerEvent;
const stopped = { stopped: 'timeout', proves: [] };
const between = { before: 'a', after: 'b' };

it.each([
  ['that passed', [ran(1)], 'a', 'nothing was changed since'],
  ['that passed and left something', [ran(1, { workspace: between })], 'b', 'nothing was changed since'],
  ['that failed later', [ran(1), ran(2, { exitCode: 1, proves: [] })], 'a', 'its last run ended with 1'],
  ['that was stopped later and ended well', [ran(1), ran(2, stopped)], 'a', 'its last run was stopped before it ended'],
  [
    'beside somebody',
    [ran(1, { workspace: { ...between, shared: true } })],
    'b',
    'somebody else was changing files while it ran',
  ],
  ['before a change', [ran(1)], 'b', 'files were changed after it had passed'],
])('a command %s', (_what, events, digest, why) => {
  const seen = { events, workspace, now: { kind: 'known', digest } as const };
  const { claims } = checkClaims([{ kind: 'command', command: 'node --test' }], seen);
  expect(claims).toMatchObject([{ backed: why.startsWith('nothing'), why: expect.stringContaining(why) }]);
});
