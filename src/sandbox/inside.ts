/**
 * The line that is run inside: the very program, with a folder for what is temporary. A server of this machine that was allowed
 * with its port is reached there under its own address, as if there were no walls: many programs pass by every proxy for such
 * an address, and some talk with themselves over it. So something listens there, and passes on through the proxy, which still
 * decides.
 */
import type { Program } from './port.ts';
import { commandLineOf } from './quote.ts';

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])(?::(\d{1,5}))?$/;
/** Where the package's proxy listens inside. */
const PROXY_PORT = 3128;

export function lineInside({ file, args }: Program, temporary: string, hosts: readonly string[]): string {
  const near = hosts.flatMap(loopback);
  const anyPort = near.some(({ port }) => port === undefined);
  // Without a port nothing can listen for it: all of these addresses are asked for through the proxy then.
  const direct = anyPort ? ['NO_PROXY=', 'no_proxy='] : [];
  const program = commandLineOf(['exec', 'env', `TMPDIR=${temporary}`, 'NODE_USE_ENV_PROXY=1', ...direct, file, ...args]);
  const ways = anyPort ? [] : near.flatMap(({ name, port }) => (port === undefined ? [] : [wayTo(name, port)]));
  return ways.length === 0 ? program : [KEY, ...ways, program].join('\n');
}

function loopback(host: string): readonly { readonly name: string; readonly port: number | undefined }[] {
  const found = LOOPBACK.exec(host);
  if (found === null) return [];
  return [{ name: (found[1] ?? '').replace(/^\[|\]$/g, ''), port: found[2] === undefined ? undefined : Number(found[2]) }];
}

/** The proxy knows the program by the name in its address, where signs are written as in addresses. */
const KEY = `troupe_key=$(printf %s "$HTTP_PROXY" | sed 's|^http://||; s|@.*$||; s|%2B|+|g; s|%2F|/|g; s|%3D|=|g')`;

/** Waited for, but not for ever: a program may ask at once. It belongs to nobody, so that no program is told of its end. */
function wayTo(name: string, port: number): string {
  const to = `"PROXY:localhost:${name.includes(':') ? `[${name}]` : name}:${port},proxyport=${PROXY_PORT},proxyauth=$troupe_key"`;
  const listen = (how: string): string => `socat ${how},fork,reuseaddr ${to}`;
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return [
    `( { ${listen(`TCP6-LISTEN:${port},ipv6only=0`)} || exec ${listen(`TCP4-LISTEN:${port}`)}; } </dev/null >/dev/null 2>&1 & )`,
    'troupe_tries=0',
    `until grep -q ':${hex} 0*:0000 0A' /proc/net/tcp /proc/net/tcp6 2>/dev/null || [ "$troupe_tries" -ge ${TRIES} ]; do`,
    '  troupe_tries=$((troupe_tries + 1))',
    'done',
  ].join('\n');
}

const TRIES = 500;
