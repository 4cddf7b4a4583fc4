/**
 * The package leads programs inside to the hosts outside by `socat`, and ends it when it is left; whoever is killed would leave
 * it behind for ever. So a script starts it in such a way that the kernel ends it with us.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { limits } from '../base/limits.ts';

/** Must be seen inside, too. */
export const RELAY = fileURLToPath(new URL('../../bin/relay.sh', import.meta.url));

/** `undefined` where it cannot work (without `setpriv` of util-linux, say): then `socat` is started as it is. */
export function findRelay(): Promise<string | undefined> {
  if (process.platform !== 'linux') return Promise.resolve(undefined);
  return new Promise((resolve) => {
    execFile(RELAY, ['-V'], { timeout: limits.sandboxTryMs }, (error) => resolve(error === null ? RELAY : undefined));
  });
}
