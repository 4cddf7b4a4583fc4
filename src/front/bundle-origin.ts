/** Where a session came from, when it came in a bundle: what lists and pages say of it. */
import { codeOf } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { Ledger } from '../ledger/port.ts';

export interface BundleOrigin {
  readonly file: string;
  readonly bundle: string;
  readonly troupe: string;
  /** When it was imported. */
  readonly at: string;
  readonly signedBy?: string;
}

/** The stable shape behind `--json`; `undefined` for a session that began here. */
export async function readBundleOrigin(ledger: Pick<Ledger, 'read'>, session: SessionId): Promise<BundleOrigin | undefined> {
  try {
    const [last] = await ledger.read({ session, newest: true, limit: 1 });
    return last?.event_type === 'session.imported' ? shownOrigin(last.payload, last.timestamp) : undefined;
  } catch (error) {
    if (codeOf(error) === 'ledger_collected' || codeOf(error) === 'ledger_corrupt') return undefined;
    throw error;
  }
}

const shownOrigin = ({ file, bundle, troupe, signedBy }: Payloads['session.imported'], at: string): BundleOrigin => ({
  ...{ file, bundle, troupe, at },
  ...present({ signedBy }),
});
