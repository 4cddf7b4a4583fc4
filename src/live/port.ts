/**
 * Words as they come, for whoever watches from another process. They are not events: nobody waits for them, they are dropped
 * where somebody is slow, and what counts is in the ledger when they end.
 *
 * With a ledger in a file whoever watches listens on a port of this machine and leaves a note of it in the project's state, with
 * a word that only who can read the note knows. Whoever drives a run looks for notes before each turn: without one, no model is
 * asked to stream. With a ledger in Postgres, which may have processes on many machines, it carries the words
 * (postgres-live.ts).
 */
import { z } from 'zod';
import type { LivePiece } from '../engine/port.ts';

export const note = z.strictObject({ port: z.number().int().min(1).max(65_535), word: z.string().min(16).max(100) });

const words = z.string().max(100_000);
export const wirePiece = z.object({
  session: z.string().max(100),
  run: z.string().max(100),
  agent: z.string().max(200),
  turn: z.number().int(),
  attempt: z.number().int(),
  terminal: z.boolean(),
  offset: z.number().int().nonnegative(),
  delta: z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: words }),
    z.object({ type: z.literal('reasoning'), text: words }),
    z.object({ type: z.literal('tool'), name: z.string().max(200) }),
  ]),
});

export interface LiveChannel {
  /** Whoever watches from elsewhere, if somebody does. Asked before each turn. */
  outside(): ((piece: LivePiece) => void) | undefined;
  /** Tells what is said in any process of the project, secrets taken out. Returns what ends it. */
  hear(tell: (piece: LivePiece) => void): () => void;
  close(): void | Promise<void>;
}
