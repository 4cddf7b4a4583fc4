/**
 * Cards kept in a folder, a file for each. Each is written beside its place and then put there, so that another process reads the
 * one before or the new one; which of two writers is last does not matter, as both have asked. Beyond the limit the oldest go.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { KeptCards } from './port.ts';

const shape = z.strictObject({
  address: z.string(),
  text: z.string(),
  etag: z.string().optional(),
  lastModified: z.string().optional(),
  seenAt: z.number(),
  freshUntil: z.number(),
  standsIn: z.boolean(),
});

/** Below the project's folder for state. */
export function createKeptCards(home: string): KeptCards {
  const folder = join(home, 'cards');
  const fileOf = (address: string): string =>
    join(folder, `${createHash('sha256').update(address).digest('hex').slice(0, 40)}.json`);
  return {
    async get(address) {
      const file = fileOf(address);
      const found = await stat(file).catch(() => undefined);
      // Written by us it is hardly longer than the card; as JSON in JSON it may double.
      if (found === undefined || found.size > limits.cardBytes * 3) return undefined;
      const parsed = parseJson(await readFile(file, 'utf8').catch(() => ''));
      const checked = shape.safeParse(parsed.ok ? parsed.value : undefined).data;
      if (checked === undefined || checked.address !== address) return undefined;
      const { address: _address, ...kept } = checked;
      return kept;
    },
    async put(address, card) {
      const beside = `${fileOf(address)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(beside, JSON.stringify({ address, ...card }), { mode: 0o600, flag: 'wx' });
        await rename(beside, fileOf(address));
        await dropOldest(folder);
      } catch {
        await rm(beside, { force: true }).catch(() => undefined);
      }
    },
    drop: async (address) => await rm(fileOf(address), { force: true }).catch(() => undefined),
  };
}

/** For whoever only looks. */
export const keepsNoCards: KeptCards = {
  get: async () => undefined,
  put: async () => undefined,
  drop: async () => undefined,
};

async function dropOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= limits.cardsKept) return;
  const files = await Promise.all(
    names.map(async (name) => ({ name, time: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const oldest = files.sort((left, right) => left.time - right.time).slice(0, names.length - limits.cardsKept);
  for (const { name } of oldest) await rm(join(folder, name), { force: true });
}
