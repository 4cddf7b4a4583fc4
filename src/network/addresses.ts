/**
 * Which network addresses may be reached for a stranger: public ones. Loopback, private networks, link-local (cloud metadata) and
 * reserved ranges are refused unless the project allows them.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { messageOf } from '../base/errors.ts';
import { fail, ok, type Result } from '../base/result.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Includes the ranges that carry an IPv4 address inside (NAT64, 6to4, Teredo), which could lead back in. */
const NOT_PUBLIC_6 = [
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

const blocked = new BlockList();
for (const [ranges, family] of [[NOT_PUBLIC_4, 'ipv4'] as const, [NOT_PUBLIC_6, 'ipv6'] as const]) {
  for (const range of ranges) {
    const [network = '', bits = ''] = range.split('/');
    blocked.addSubnet(network, Number(bits), family);
  }
}

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !blocked.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Domains that are kept for networks of one's own, so that nobody outside can have a name below them. */
const OWN_DOMAINS = /\.(?:localhost|local|internal|home\.arpa|test)$/;

/** Whoever writes such a host means a place inside: an address that is not public, or a name that nobody outside can have. */
export function namesInside(host: string): boolean {
  const bare = bareHost(host);
  if (isIP(bare) !== 0) return !isPublicAddress(bare);
  return !bare.includes('.') || OWN_DOMAINS.test(bare);
}

/** This machine, by its name or its number. */
export function namesLoopback(host: string): boolean {
  const bare = bareHost(host);
  return bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}

const bareHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');

/** Why a place is not reached: it must not be, or it is not there. */
export interface NoWay {
  readonly kind: 'refused' | 'failed';
  readonly message: string;
}

/** Every address of a host. One that is not public refuses the host as a whole: the others may be bait. */
export async function reachableAddresses(host: string, allowLocal: boolean): Promise<Result<readonly Address[], NoWay>> {
  const found = await addressesOf(host.replace(/^\[|\]$/g, ''));
  if (!found.ok) return fail({ kind: 'failed', message: found.error });
  const local = allowLocal ? undefined : found.value.find(({ address }) => !isPublicAddress(address));
  if (local === undefined) return found;
  const message = `${host} is at ${local.address}, which is not a public address; fetching from local networks is not allowed.`;
  return fail({ kind: 'refused', message });
}

async function addressesOf(host: string): Promise<Result<readonly Address[], string>> {
  const literal = isIP(host);
  if (literal !== 0) return ok([{ address: host, family: literal === 6 ? 6 : 4 }]);
  try {
    const found = await lookup(host, { all: true });
    if (found.length === 0) return fail(`${host} has no address.`);
    return ok(found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
  } catch (error) {
    return fail(`${host} was not found: ${messageOf(error)}`);
  }
}
