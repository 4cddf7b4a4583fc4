/** How a file comes to be on the disk: the order, and that the system is really asked. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import type { PayloadRef } from '../../base/ids.ts';
import { type Disk, type DiskStep, keepFile, systemDisk } from './disk.ts';
import { createPayloadFiles } from './payload-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-disk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function recorded(): { readonly disk: Disk; readonly said: string[] } {
  const said: string[] = [];
  const note = (step: DiskStep): void => {
    const path = (step.kind === 'rename' ? step.to : step.path).slice(folder.length);
    said.push(`${step.kind}${step.kind === 'flush' ? ` ${step.what}` : ''} ${path}`);
  };
  return {
    said,
    disk: {
      carryOut: async (step) => {
        note(step);
        await systemDisk.carryOut(step);
      },
      carryOutNow: (step) => {
        note(step);
        systemDisk.carryOutNow(step);
      },
    },
  };
}

const ref = (start: string): PayloadRef => start.padEnd(64, '0') as PayloadRef;

it.each(['awaited', 'inside a transaction'])('a payload file and the folders made for it are flushed, %s', async (how) => {
  const place = join(folder, how, 'payloads');
  const { disk, said } = recorded();
  const files = createPayloadFiles(place, 'me', disk);
  const name = ref('ab');
  if (how === 'awaited') await files.write(name, 'bytes');
  else files.ensure(name, 'bytes');
  const [above, inner] = [`/${how}/payloads`, `/${how}/payloads/ab`];
  const file = `${inner}/${name.slice(2)}`;
  expect(said).toEqual([
    ...[`folder /${how}`, 'flush folder ', `folder ${above}`, `flush folder /${how}`, `folder ${inner}`, `flush folder ${above}`],
    ...[`write ${file}.me.tmp`, `flush file ${file}.me.tmp`, `rename ${file}`, `flush folder ${inner}`],
  ]);
  expect(readFileSync(join(place, 'ab', name.slice(2)), 'utf8')).toBe('bytes');
});

it('a payload file that somebody else has just put there gets its name flushed too', async () => {
  const place = join(folder, 'shared');
  await createPayloadFiles(place, 'other').write(ref('cd'), 'bytes');
  const { disk, said } = recorded();
  await createPayloadFiles(place, 'me', disk).write(ref('cd'), 'bytes');
  expect(said).toEqual(['flush folder /shared/cd']);
});

it('a flush of a payload file reaches the system', async () => {
  const path = join(folder, 'flushed');
  writeFileSync(path, 'bytes');
  const handle = await open(path, 'r');
  const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
  await handle.close();
  await systemDisk.carryOut({ kind: 'flush', what: 'file', path });
  expect(sync).toHaveBeenCalledTimes(1);
  await systemDisk.carryOut({ kind: 'flush', what: 'folder', path: folder });
  expect(sync).toHaveBeenCalledTimes(2);
  sync.mockRestore();
  expect(() => systemDisk.carryOutNow({ kind: 'flush', what: 'file', path: join(folder, 'missing') })).toThrow('ENOENT');
});

it('no payload file has its name before it is whole', () => {
  const path = join(folder, 'whole', 'file');
  for (const step of keepFile(path, 'bytes', `${path}.tmp`)) {
    if (existsSync(path)) expect(readFileSync(path, 'utf8')).toBe('bytes');
    systemDisk.carryOutNow(step);
  }
  expect(existsSync(path)).toBe(true);
});
