/** What a policy says about attachments, in the form that both stores ask their tables with. */
import type { AttachmentRetention, RetentionPolicy } from '../port.ts';

export interface AskedRetention {
  /** Attachments of these types may be dropped. */
  readonly types: readonly string[];
  /** Payloads of these types stay. */
  readonly records: readonly string[];
  readonly keep: readonly Buffer[];
  readonly drop: readonly Buffer[];
  readonly sessions: readonly string[];
  /** The position up to which each of them was looked at. */
  readonly heads: readonly number[];
}

const NONE: AttachmentRetention = { types: [], records: [], keep: [], drop: [], upTo: new Map() };

export function askedRetention({ attachments = NONE }: RetentionPolicy): AskedRetention {
  const { types, records, keep, drop, upTo } = attachments;
  const bytes = (refs: readonly string[]): readonly Buffer[] => refs.map((ref) => Buffer.from(ref, 'hex'));
  return {
    types,
    records: [...types, ...records],
    keep: bytes(keep),
    drop: bytes(drop),
    sessions: [...upTo.keys()],
    heads: [...upTo.values()],
  };
}
