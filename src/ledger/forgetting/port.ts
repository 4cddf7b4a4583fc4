/**
 * What people decide about what is kept of a session, apart from what happened in it: a pin, a legal hold, and that it, or a part
 * of it, was forgotten. None of it is an event: it must not go with the session, and must hold whatever else is lost.
 *
 * - While a session is held, nothing of it is collected or forgotten: asked for in the same transaction.
 * - Who held and released it, when and why, stays for ever.
 * - What is forgotten leaves its envelope, the hash of its payload, and who had it forgotten and when: the chain still verifies.
 */
import type { SessionId } from '../../base/ids.ts';

/** Who did something, and when, in milliseconds since 1970. */
export interface Signed {
  readonly by: string;
  readonly at: number;
}

export interface Hold extends Signed {
  readonly session: SessionId;
  readonly reason: string;
  /** `null` while it holds. */
  readonly released: Signed | null;
}

export interface ForgottenSession extends Signed {
  /** Up to this event everything is gone; 0: only single events are. */
  readonly upTo: number;
  /** How many single events are gone, beside those. */
  readonly events: number;
  /** Bytes may still lie where they were: it was cut off before it had cleared them away. */
  readonly unfinished: boolean;
}

/** Of a session about which somebody has decided something. */
export interface SessionStanding {
  readonly session: SessionId;
  readonly pinned: boolean;
  readonly hold: Hold | null;
  readonly forgotten: ForgottenSession | null;
}

export interface ForgetPart {
  readonly session: SessionId;
  /**
   * Only these events, each with what is read in place of its payload, as JSON: one that is of the same type and says nothing.
   * Without them it is the whole session.
   */
  readonly events?: readonly StandIn[] | undefined;
  /**
   * By a rule, and by nobody's word: refused with `pinned` where the session is, and with `worked_on` where it has gone on since
   * it was looked at, which was up to this event.
   */
  readonly byRule?: { readonly upTo: number } | undefined;
}

export interface StandIn {
  readonly position: number;
  readonly payload: string;
}

export interface ForgetRequest extends Signed {
  readonly parts: readonly ForgetPart[];
  readonly dryRun: boolean;
}

/** Another session that has the same bytes, as a fork has: there they stay. */
export interface SharedPayloads {
  readonly session: SessionId;
  readonly payloads: number;
}

export type ForgottenOutcome =
  | {
      readonly kind: 'forgotten';
      /** Events that have lost their payload or what was attached to them. */
      readonly events: number;
      readonly payloads: number;
      readonly bytes: number;
      readonly shared: readonly SharedPayloads[];
      /** What could not be cleared away now: asked for again, it is tried again. */
      readonly left: readonly string[];
      readonly dryRun: boolean;
    }
  /** Nothing of any part was touched. */
  | { readonly kind: 'held'; readonly session: SessionId; readonly hold: Hold }
  | { readonly kind: 'unfinished' | 'worked_on' | 'pinned' | 'unknown'; readonly session: SessionId };

export interface Keeping {
  pin(session: SessionId, pinned: boolean): Promise<void>;
  /** A second hold on the same session is refused: `false`. So is one on a session that there is not. */
  hold(session: SessionId, reason: string, signed: Signed): Promise<boolean>;
  /** `false`: it is not held. */
  unhold(session: SessionId, signed: Signed): Promise<boolean>;
  /** Every hold that there ever was, the oldest first. */
  holds(): Promise<readonly Hold[]>;
  /** Sessions that are pinned, held or forgotten, in part or whole. */
  standings(): Promise<ReadonlyMap<SessionId, SessionStanding>>;
  /** Whether anything of it was forgotten: cheap enough to be asked before each of its runs. */
  hasForgotten(session: SessionId): Promise<boolean>;
  /**
   * Destroys payloads, with what is sealed in them, and attachments. Of several parts all go, or none. What an earlier one that
   * was cut off has left is cleared away too, also when nothing more is asked for.
   */
  forget(request: ForgetRequest): Promise<ForgottenOutcome>;
}
