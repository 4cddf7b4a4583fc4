/**
 * Names for gRPC, which connects to whatever a resolver gives it. Ours looks a name up and judges what it found in one go, each
 * time that it is asked: so an address that is connected to was looked at, however often the name leads elsewhere.
 */
import { experimental, status } from '@grpc/grpc-js';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { FindAddresses } from '../../network/follow.ts';

type Resolver = experimental.Resolver;
type Listener = experimental.ResolverListener;

/** The port of an address that names none. */
const SECURE = 443;

/** There is one table of resolvers for all of gRPC: each way of finding addresses has names of its own in it. */
const known = new Map<FindAddresses, string>();

/** What gRPC is told to connect to: the address with a way to find it that only leads where it may. */
export function guardedTarget(target: string, inside: boolean, find: FindAddresses): string {
  const named = known.get(find) ?? `troupe${known.size}`;
  if (!known.has(find)) {
    known.set(find, named);
    for (const where of [true, false]) experimental.registerResolver(schemeOf(named, where), resolving(find, where));
  }
  return `${schemeOf(named, inside)}:${target}`;
}

const schemeOf = (named: string, inside: boolean): string => `${named}-${inside ? 'inside' : 'outside'}`;

function resolving(find: FindAddresses, inside: boolean) {
  return class implements Resolver {
    readonly #path: string;
    readonly #listener: Listener;
    #asked = 0;
    #endPause: (() => void) | undefined;
    #isWanted = false;

    constructor({ path }: experimental.GrpcUri, listener: Listener) {
      this.#path = path;
      this.#listener = listener;
    }

    static getDefaultAuthority({ path }: experimental.GrpcUri): string {
      return path;
    }

    /** An address that does not answer has gRPC ask again at once, and without a pause nothing else would have its turn. */
    updateResolution(): void {
      if (this.#endPause !== undefined) {
        this.#isWanted = true;
        return;
      }
      this.#endPause = systemClock.after(limits.peerNameMs, () => this.#paused());
      const asked = this.#asked;
      void endpointsOf(this.#path, inside, find).then((found) => {
        if (asked === this.#asked) this.#listener(found, {}, null, '');
      });
    }

    #paused(): void {
      this.#endPause = undefined;
      if (!this.#isWanted) return;
      this.#isWanted = false;
      this.#asked += 1;
      this.updateResolution();
    }

    /** gRPC also does this to a channel that rests, and may ask again afterwards. */
    destroy(): void {
      this.#asked += 1;
      this.#endPause?.();
      this.#endPause = undefined;
      this.#isWanted = false;
    }
  };
}

async function endpointsOf(
  path: string,
  inside: boolean,
  find: FindAddresses,
): Promise<experimental.StatusOr<experimental.Endpoint[]>> {
  const at = experimental.splitHostPort(path);
  if (at === null) return failed(`${path} is no address`);
  const found = await find(at.host, inside);
  if (!found.ok) return failed(found.error.message);
  const { port = SECURE } = at;
  return experimental.statusOrFromValue(found.value.map(({ address: host }) => ({ addresses: [{ host, port }] })));
}

const failed = (message: string): experimental.StatusOr<never> =>
  experimental.statusOrFromError({ code: status.UNAVAILABLE, details: `Name resolution: ${message}` });
