import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../base/random.ts';
import { parseRestateAddress } from '../engine/restate/address.ts';
import { openClusterFile, readClusterFile } from './cluster-file.ts';
import { findAdmin } from './find-admin.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-cluster-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('what a local cluster keeps', () => {
  it('is chosen once, for the owner alone', async () => {
    const file = await openClusterFile(join(folder, 'cluster'), 3, systemRandom);
    expect(await openClusterFile(join(folder, 'cluster'), 3, systemRandom)).toEqual(file);
    expect(statSync(join(folder, 'cluster', 'cluster.json')).mode & 0o777).toBe(0o600);
    const ports = [file.postgres, file.workers, ...file.restate.flatMap((one) => Object.values(one))];
    expect(new Set(ports).size).toBe(11);
    expect(file.password.length).toBeGreaterThanOrEqual(20);
  });

  it('has no port in common with somebody who listens on one of the usual ones', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(9080, '127.0.0.1', resolve).once('error', () => resolve()));
    const file = await openClusterFile(folder, 1, systemRandom);
    expect([file.workers, file.postgres, file.restate[0]?.ingress]).not.toEqual(expect.arrayContaining([9080]));
    expect([5432, 8080]).not.toEqual(expect.arrayContaining([file.postgres, file.restate[0]?.ingress]));
    await new Promise((resolve) => server.close(resolve));
  });

  it('is not mixed up with another number of servers, nor read when it is broken', async () => {
    await openClusterFile(folder, 1, systemRandom);
    await expect(openClusterFile(folder, 3, systemRandom)).rejects.toThrow('holds a cluster of 1 Restate servers, not of 3');
    const path = join(folder, 'cluster.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"version": 1', '"version": 7'));
    await expect(readClusterFile(folder)).rejects.toMatchObject({ code: 'cluster_file' });
  });
});

describe('the admin port', () => {
  it('is the named one, that of the own cluster, or the usual one', async () => {
    const file = await openClusterFile(join(folder, 'cluster'), 1, systemRandom);
    const address = (text: string) => {
      const parsed = parseRestateAddress(text);
      if (!parsed.ok) throw new Error(parsed.error);
      return parsed.value;
    };
    const own = address(`restate+http://127.0.0.1:${file.restate[0]?.ingress}`);
    expect(await findAdmin(own, undefined, {}, folder)).toBe(`http://127.0.0.1:${file.restate[0]?.admin}`);
    expect(await findAdmin(own, 'http://admin:1/', {}, folder)).toBe('http://admin:1');
    expect(await findAdmin(own, undefined, { TROUPE_RESTATE_ADMIN: 'http://admin:2' }, folder)).toBe('http://admin:2');
    expect(await findAdmin(address('restate+http://far:8080'), undefined, {}, folder)).toBe('http://far:9070');
    await expect(findAdmin(own, 'admin', {}, folder)).rejects.toMatchObject({ code: 'usage' });
  });
});
