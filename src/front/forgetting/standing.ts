/** What neither `ledger gc` nor, while it is held, `forget` touches: pins and holds of sessions. */
import type { SessionId } from '../../base/ids.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { Signed } from '../../ledger/forgetting/port.ts';
import type { Ledger } from '../../ledger/port.ts';

export type StandingChange =
  | { readonly kind: 'pin' | 'unpin' }
  | { readonly kind: 'hold'; readonly reason: string }
  | { readonly kind: 'release' };

export async function changeStanding(
  ledger: Ledger,
  session: SessionId,
  change: StandingChange,
  signed: Signed,
): Promise<Result<void, Failure>> {
  if (change.kind === 'hold') {
    if (await ledger.hold(session, change.reason, signed)) return ok(undefined);
    const hold = (await ledger.standings()).get(session)?.hold;
    return fail({
      code: 'session_held',
      message: `${session} is held already, by ${hold?.by}: ${hold?.reason}`,
      fix: `Release it first: troupe sessions release ${session}`,
    });
  }
  if (change.kind === 'release') {
    if (await ledger.unhold(session, signed)) return ok(undefined);
    return fail({ code: 'session_free', message: `${session} is not held.`, fix: 'See which are: troupe sessions --all' });
  }
  await ledger.pin(session, change.kind === 'pin');
  return ok(undefined);
}

/** What programs get of it; its schema is `sessionStanding` of `shapes/forgetting.ts`. */
export async function standingValue(ledger: Ledger, session: SessionId) {
  const found = (await ledger.standings()).get(session) ?? { session, pinned: false, hold: null, forgotten: null };
  return { ...found, holds: (await ledger.holds()).filter((hold) => hold.session === session) };
}
