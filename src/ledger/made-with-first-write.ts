/**
 * A ledger whose file is not there yet. It is made by the first write, so that a command that is refused leaves nothing behind;
 * until then it is empty, unless another process has made it meanwhile.
 */
import { existsSync } from 'node:fs';
import type { Ledger } from './port.ts';

export function madeWithFirstWrite(path: string, open: () => Ledger): Ledger {
  let opened: Ledger | undefined;
  const real = (): Ledger => {
    opened ??= open();
    return opened;
  };
  const found = (): Ledger | undefined => (opened === undefined && !existsSync(path) ? undefined : real());
  return {
    append: async (request) => await real().append(request),
    read: async (query) => (await found()?.read(query)) ?? [],
    feed: async (query) => (await found()?.feed(query)) ?? { entries: [], pending: false },
    tail: (session, after, signal) => real().tail(session, after, signal),
    onNews: (session, callback) => real().onNews(session, callback),
    onInbound: (session, callback) => real().onInbound(session, callback),
    lastInbound: async (session) => (await found()?.lastInbound(session)) ?? 0,
    payload: async (ref) => await found()?.payload(ref),
    held: async (refs) => (await found()?.held(refs)) ?? new Set(),
    runs: async (filter) => (await found()?.runs(filter)) ?? [],
    counter: async (name) => (await found()?.counter(name)) ?? 0,
    acquire: async (session, run, options) => await real().acquire(session, run, options),
    release: async (fence) => await found()?.release(fence),
    stats: async () => await real().stats(),
    verify: async (session) => await real().verify(session),
    rebuild: async () => await real().rebuild(),
    pin: async (session, pinned) => await real().pin(session, pinned),
    hold: async (session, reason, signed) => await real().hold(session, reason, signed),
    unhold: async (session, signed) => await real().unhold(session, signed),
    holds: async () => (await found()?.holds()) ?? [],
    standings: async () => (await found()?.standings()) ?? new Map(),
    hasForgotten: async (session) => (await found()?.hasForgotten(session)) === true,
    forget: async (request) => await real().forget(request),
    gc: async (policy) => await real().gc(policy),
    close: async () => await opened?.close(),
  };
}
