/**
 * The program of a real Redis: redis-server or valkey-server on the PATH, or, as root on Debian, taken from its packages into a
 * folder, without installing anything. Where there is none, tests that need it do not run and say so; in CI that is a failure.
 */
import { join } from 'node:path';
import { fromDebian, isProgram, onPath } from '../debian/packages.ts';
import { describeWhere } from '../left-out.ts';

type Found = { readonly program: string } | { readonly why: string };

function fromPackages(): Found {
  const none = 'neither redis-server nor valkey-server is on the PATH';
  const brought = fromDebian('redis', ['redis-server', 'redis-tools']);
  if ('why' in brought) return { why: `${none}, and ${brought.why}` };
  const path = join(brought.programs, 'redis-server');
  return isProgram(path) ? { program: path } : { why: `${none}, and Debian's packages brought none` };
}

function find(): Found {
  const path = onPath(['redis-server', 'valkey-server']);
  return path === undefined ? fromPackages() : { program: path };
}

const found = find();

export function redisProgram(): string {
  if ('why' in found) throw new Error(found.why);
  return found.program;
}

/** Tests that need a Redis. */
export function describeWithRedis(name: string, tests: () => void): void {
  describeWhere(name, 'why' in found ? found.why : undefined, tests);
}
