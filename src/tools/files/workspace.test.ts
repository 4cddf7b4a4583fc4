import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { createGuard } from '../closed/guard.ts';
import { resolveInside } from './workspace.ts';

const guard = createGuard();

/** A workspace beside a folder with a secret, and links that lead out of it. */
async function trap() {
  const outer = await testWorkspace();
  const workspace = join(outer.path, 'work');
  await mkdir(join(workspace, 'sub/.git'), { recursive: true });
  await mkdir(join(outer.path, 'secret'));
  await writeFile(join(outer.path, 'secret/key'), 'k');
  await writeFile(join(workspace, 'file'), 'f');
  await symlink('../secret', join(workspace, 'out'));
  await symlink('../secret/new', join(workspace, 'dangling'));
  await symlink('sub', join(workspace, 'in'));
  await symlink('loop', join(workspace, 'loop'));
  return { outer, workspace };
}

describe('resolveInside', () => {
  it('finds what is inside, existing or not, by any spelling', async () => {
    const { outer, workspace } = await trap();
    await using _clean = outer;
    for (const [path, relative] of [
      ['file', 'file'],
      ['./sub/../file', 'file'],
      ['new/deep/file.txt', 'new/deep/file.txt'],
      ['in/x', 'sub/x'],
      ['.', ''],
      ['..name', '..name'],
      [join(workspace, 'file'), 'file'],
    ] as const) {
      expect(await resolveInside(workspace, path, { guard, use: 'read' })).toMatchObject({ ok: true, value: { relative } });
    }
  });

  it('refuses every way out', async () => {
    const { outer, workspace } = await trap();
    await using _clean = outer;
    const ways = [
      '..',
      '../secret/key',
      '/etc/passwd',
      'out/key',
      'out',
      'dangling',
      'loop',
      'loop/x',
      'file/x',
      'a\0b',
      'sub/../../secret/key',
      '../work2',
    ];
    for (const path of [...ways, 'x'.repeat(5_000), `${'a/'.repeat(1_000)}b/../..${'/..'.repeat(1_001)}`]) {
      expect(await resolveInside(workspace, path, { guard, use: 'read' }), path.slice(0, 50)).toMatchObject({ ok: false });
    }
  });

  it('keeps agents out of the ledger, and writers out of the repository', async () => {
    const { outer, workspace } = await trap();
    await using _clean = outer;
    expect(await resolveInside(workspace, '.troupe/ledger.db', { guard, use: 'read' })).toMatchObject({ ok: false });
    expect(await resolveInside(workspace, 'sub/.git/hooks/pre-commit', { guard, use: 'write' })).toMatchObject({ ok: false });
    expect(await resolveInside(workspace, 'in/.GIT/config', { guard, use: 'write' })).toMatchObject({ ok: false });
    expect(await resolveInside(workspace, 'sub/.git/config', { guard, use: 'read' })).toMatchObject({ ok: true });
  });

  it('says when the workspace is gone', async () => {
    expect(await resolveInside('/no/such/workspace', 'x', { guard, use: 'read' })).toEqual({
      ok: false,
      error: 'The workspace folder no longer exists; an earlier command may have deleted it.',
    });
  });

  it('never lets a path out, whatever it is made of', async () => {
    const { outer, workspace } = await trap();
    await using _clean = outer;
    const root = await realpath(workspace);
    const part = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '',
        'out',
        'in',
        'dangling',
        'file',
        'sub',
        'secret',
        'key',
        'new',
        '~',
        '\\',
        '..\\',
        '%2e%2e',
        workspace,
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), fc.boolean(), async (parts, absolute) => {
        const outcome = await resolveInside(workspace, (absolute ? '/' : '') + parts.join('/'), { guard, use: 'read' });
        if (!outcome.ok) return;
        const { absolute: found } = outcome.value;
        expect(found === root || found.startsWith(`${root}/`)).toBe(true);
        const real = await realpath(found).catch(() => found);
        expect(real).toBe(found);
      }),
      { numRuns: 500 },
    );
  });
});
