/** Where Restate's admin port is: as named, or that of a cluster which was started for this project, or the usual one. */

import { join } from 'node:path';
import type { Environment } from '../base/environment.ts';
import type { RestateAddress } from '../engine/restate/address.ts';
import { adminAddress } from './admin.ts';
import { readClusterFile } from './cluster-file.ts';

export async function findAdmin(
  address: RestateAddress,
  named: string | undefined,
  env: Environment,
  home: string,
): Promise<string> {
  if (named === undefined && !env['TROUPE_RESTATE_ADMIN']) {
    const file = await readClusterFile(join(home, 'cluster')).catch(() => undefined);
    const server = file?.restate.find(({ ingress }) => address.ingress.includes(`http://127.0.0.1:${ingress}`));
    if (server !== undefined) return `http://127.0.0.1:${server.admin}`;
  }
  return adminAddress(address, named, env);
}
