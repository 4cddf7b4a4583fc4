/** Bounds of what is taken over from the transcripts of other programs. */
import { KIB, MIB } from './units.ts';

export const transcriptLimits = {
  /** A longer line is not looked into: its beginning is kept, and how long it is. */
  transcriptLineBytes: 16 * MIB,
  /** How much is kept of a record that nothing is made of. */
  transcriptRecordBytes: 4 * KIB,
  /** Records before the first prompt: they are kept with it. */
  transcriptRecordsBefore: 1_000,
  /** Answers, results and the like that one answer of a model is put together from. */
  transcriptTurnParts: 10_000,
  /** Sub-agents within sub-agents. */
  transcriptDepth: 16,
  /** Files that one command takes over, or lists. */
  transcriptFiles: 2_000,
  /** Folders that are walked through for them. */
  transcriptFolders: 20_000,
  /** Names, titles and the like. */
  transcriptNameCharacters: 200,
  /** Events that wait for one append. */
  transcriptBatchEvents: 500,
  transcriptBatchCharacters: 4 * MIB,
} as const;
