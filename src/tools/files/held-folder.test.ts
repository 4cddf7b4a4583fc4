/** Somebody who works in a workspace swaps its folders with links while others read and write there for them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { codeOf } from '../../base/errors.ts';
import { holdFolder, holdParent, isThere } from '../../base/files/held-folder.ts';
import { systemRandom } from '../../base/random.ts';
import { replaceFile } from './file-change.ts';
import { readContent } from './file-content.ts';
import { walk } from './walk.ts';

/** A workspace with `d/sub/f`, and a folder of somebody else's, `out`, with the same names in it. */
async function trap() {
  const outer = await testWorkspace();
  const [root, out] = [join(outer.path, 'work'), join(outer.path, 'out')];
  for (const top of [join(root, 'd'), out]) {
    mkdirSync(join(top, 'sub'), { recursive: true });
    writeFileSync(join(top, 'sub/f'), top === out ? 'secret' : 'mine');
  }
  symlinkSync(out, join(root, 'l'));
  const swap = (): void => {
    renameSync(join(root, 'd'), join(root, 'x'));
    renameSync(join(root, 'l'), join(root, 'd'));
    renameSync(join(root, 'x'), join(root, 'l'));
  };
  const at = (relative: string) => ({ root, absolute: join(root, relative), relative });
  return { root, out, swap, at, [Symbol.asyncDispose]: () => outer[Symbol.asyncDispose]() };
}

const codeFrom = (work: () => unknown): string | undefined => {
  try {
    work();
    return 'none';
  } catch (error) {
    return codeOf(error);
  }
};

describe('where a folder of the path has become a link since it was looked at', () => {
  it('nothing is read', async () => {
    await using place = await trap();
    place.swap();
    const read = await readContent(place.at('d/sub/f'));
    expect(read).toMatchObject({ ok: false, error: expect.stringContaining('replaced by a link') });
  });

  it('nothing is written, made or left behind', async () => {
    await using place = await trap();
    place.swap();
    expect((await replaceFile(place.at('d/sub/f'), 'evil', undefined, systemRandom)).ok).toBe(false);
    expect((await replaceFile(place.at('d/new/f'), 'evil', undefined, systemRandom)).ok).toBe(false);
    expect(readFileSync(join(place.out, 'sub/f'), 'utf8')).toBe('secret');
    expect([readdirSync(place.out), readdirSync(join(place.out, 'sub'))]).toEqual([['sub'], ['f']]);
  });

  it('nothing is listed', async () => {
    await using place = await trap();
    place.swap();
    const options = { signal: new AbortController().signal, recursive: true, everything: true, hidden: () => false };
    const found: string[] = [];
    for await (const { relative } of walk(place.at('d'), options)) found.push(relative);
    expect(found).toEqual([]);
  });

  it('nobody is told whether there is something', async () => {
    await using place = await trap();
    place.swap();
    // What cannot be looked at is neither there nor missing: whoever goes on to open it is refused.
    expect([isThere(place.at('d/sub/f')), isThere(place.at('d/none/f'))]).toEqual([true, true]);
    expect(codeFrom(() => holdParent(place.at('d/none/f')))).toBe(codeFrom(() => holdParent(place.at('d/sub/f'))));
  });
});

it('what is done in a folder that is held is done there, wherever its path leads by then', async () => {
  await using place = await trap();
  using held = holdFolder(place.at('d/sub'));
  place.swap();
  writeFileSync(held.at('g'), 'here');
  expect(existsSync(join(place.out, 'sub/g'))).toBe(false);
  expect(readFileSync(join(place.root, 'l/sub/g'), 'utf8')).toBe('here');
  expect((await lstat(held.at('f'))).isFile()).toBe(true);
});

it('a folder that takes the place of another is not the one that was looked at', async () => {
  await using place = await trap();
  mkdirSync(join(place.root, 'closed'));
  const wanted = place.at('d/sub');
  rmSync(join(place.root, 'd/sub'), { recursive: true });
  symlinkSync('../closed', join(place.root, 'd/sub'));
  expect(codeFrom(() => holdFolder(wanted))).toMatch(/ELOOP|ENOTDIR/);
  expect(codeFrom(() => holdFolder({ root: wanted.root, absolute: place.out }))).toBe('ELOOP');
});

it('missing folders are made one by one, and the workspace itself is held as well', async () => {
  await using place = await trap();
  expect((await replaceFile(place.at('n/e/w/f'), 'text', undefined, systemRandom)).ok).toBe(true);
  expect(readFileSync(join(place.root, 'n/e/w/f'), 'utf8')).toBe('text');
  expect((await readContent(place.at('n/e/w/f'))).ok).toBe(true);
  expect(await readContent({ root: place.root, absolute: place.root, relative: '' })).toMatchObject({ ok: false });
  using held = holdParent({ root: place.root, absolute: place.root });
  expect((await lstat(held.entry)).isDirectory()).toBe(true);
});

it('swapped without a pause, a folder shows and takes nothing that is not its own', async () => {
  await using place = await trap();
  const seen = new Set<string>();
  let open = true;
  const swapping = (async () => {
    while (open) {
      place.swap();
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let round = 0; round < 300; round += 1) {
    const target = place.at('d/sub/f');
    const [read] = await Promise.all([readContent(target), replaceFile(place.at('d/sub/w'), 'evil', undefined, systemRandom)]);
    seen.add(read.ok ? read.value.bytes.toString() : 'refused');
  }
  open = false;
  await swapping;
  expect([...seen]).not.toContain('secret');
  expect(readdirSync(join(place.out, 'sub'))).toEqual(['f']);
});
