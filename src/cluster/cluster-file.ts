/**
 * What a cluster on this machine keeps in its folder: ports and a password, chosen when it first starts and the same ever after,
 * because settings and runs that are under way name them.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TroupeError } from '../base/errors.ts';
import { parseJson } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import { freePorts } from './free-ports.ts';

const port = z.number().int().min(1).max(65_535);
const fileSchema = z.object({
  version: z.literal(1),
  /** One entry for each Restate server. */
  restate: z.array(z.object({ ingress: port, admin: port, node: port })).min(1),
  postgres: port,
  workers: port,
  password: z.string().min(16),
});

export type ClusterFile = z.infer<typeof fileSchema>;

const FILE = 'cluster.json';
const USUAL = { ingress: 8080, admin: 9070, node: 5122, postgres: 5432, workers: 9080 };
const PASSWORD_BYTES = 18;

export async function openClusterFile(folder: string, nodes: number, random: Random): Promise<ClusterFile> {
  const known = await readClusterFile(folder);
  if (known === undefined) return await createClusterFile(folder, nodes, random);
  if (known.restate.length === nodes) return known;
  throw new TroupeError('usage', `${folder} holds a cluster of ${known.restate.length} Restate servers, not of ${nodes}`, {
    fix: `go on with --nodes ${known.restate.length}, or begin anew in another folder: --data <folder>`,
  });
}

/** `undefined`: there is no cluster in this folder. */
export async function readClusterFile(folder: string): Promise<ClusterFile | undefined> {
  const path = join(folder, FILE);
  if (!existsSync(path)) return undefined;
  const parsed = parseJson(await readFile(path, 'utf8'));
  const file = parsed.ok ? fileSchema.safeParse(parsed.value) : undefined;
  if (file?.success === true) return file.data;
  throw new TroupeError('cluster_file', `${path} is not what a cluster keeps there`, {
    fix: 'begin anew in another folder: --data <folder>',
  });
}

async function createClusterFile(folder: string, nodes: number, random: Random): Promise<ClusterFile> {
  const indexes = Array.from({ length: nodes }, (_, index) => index);
  const wanted = indexes.flatMap((index) => [USUAL.ingress + index, USUAL.admin + index, USUAL.node + index]);
  const [postgres = 0, workers = 0, ...ports] = await freePorts([USUAL.postgres, USUAL.workers, ...wanted]);
  const restate = indexes.map((index) => {
    const [ingress = 0, admin = 0, node = 0] = ports.slice(index * 3, index * 3 + 3);
    return { ingress, admin, node };
  });
  const file: ClusterFile = {
    version: 1,
    restate,
    postgres,
    workers,
    password: Buffer.from(random.bytes(PASSWORD_BYTES)).toString('base64url'),
  };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return file;
}
