/**
 * What is said piece by piece, with secrets taken out. A secret may come in two pieces, so the last word waits until it is whole;
 * what waited when nothing follows is not told: the answer itself is in the ledger by then.
 */
import { limits } from '../base/limits.ts';
import { createRecentlyUsed } from '../base/recently-used.ts';
import type { LivePiece } from '../engine/port.ts';

interface Waiting {
  /** How much was told before it, as it was told: a secret and what stands for it need not be of one length. */
  readonly offset: number;
  readonly text: string;
}

export function inWholeWords(redact: (text: string) => string, tell: (piece: LivePiece) => void): (piece: LivePiece) => void {
  const waiting = createRecentlyUsed<string, Waiting>(limits.liveSpeakers);
  return (piece) => {
    const { delta, run, turn, attempt, offset } = piece;
    if (delta.type === 'tool') return tell(piece);
    const key = `${run} ${turn} ${attempt} ${delta.type}`;
    const before = waiting.get(key);
    const text = (before?.text ?? '') + delta.text;
    const end = Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n')) + 1;
    const from = before?.offset ?? offset;
    const told = end === 0 ? '' : redact(text.slice(0, end));
    waiting.set(key, { offset: from + told.length, text: text.slice(end) });
    if (end > 0) tell({ ...piece, offset: from, delta: { ...delta, text: told } });
  };
}
