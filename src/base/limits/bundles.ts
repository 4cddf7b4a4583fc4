/** Bounds of bundles: what is written into one file, and what is read from a stranger's. */
import { GIB, KIB, MIB } from './units.ts';

export const bundleLimits = {
  /** Unpacked, all of it. */
  bundleBytes: 8 * GIB,
  bundleEntries: 1_000_000,
  bundleSessions: 100,
  /** Of all sessions together: their envelopes are held in memory until they are written at once. */
  bundleEvents: 1_000_000,
  /** A page of events is written when it has so many, or so much text. */
  bundlePageEvents: 500,
  bundlePageBytes: MIB,
  /** A page that is read: one that was almost full, and one more event. */
  bundlePageReadBytes: 4 * MIB,
  /** Entries before the page whose events name them: a payload and an attachment of full size, and what a page has room for. */
  bundleAheadBytes: 192 * MIB,
  bundleListBytes: 128 * MIB,
  bundleNoteBytes: 64 * KIB,
  bundleAgentBytes: MIB,
} as const;
