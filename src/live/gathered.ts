/** Pieces gathered for a moment: what one speaker says in it is one piece, wherever the pieces of the model ended. */
import type { Clock } from '../base/clock.ts';
import type { LivePiece } from '../engine/port.ts';

export function gathered(clock: Clock, waitMs: number, tell: (piece: LivePiece) => void): (piece: LivePiece) => void {
  let pending: LivePiece[] = [];
  const flush = (): void => {
    const pieces = pending;
    pending = [];
    for (const piece of joined(pieces)) tell(piece);
  };
  return (piece) => {
    if (pending.length === 0) clock.after(waitMs, flush);
    pending.push(piece);
  };
}

/** Only what follows each other in the same answer; what comes between, such as the name of a tool, stays between. */
function joined(pieces: readonly LivePiece[]): Iterable<LivePiece> {
  const parts: { readonly first: LivePiece; readonly texts: string[] }[] = [];
  const latest = new Map<string, (typeof parts)[number]>();
  for (const piece of pieces) {
    const open = latest.get(piece.run);
    if (open !== undefined && piece.delta.type !== 'tool' && isSameAnswer(open.first, piece)) {
      open.texts.push(piece.delta.text);
      continue;
    }
    const part = { first: piece, texts: piece.delta.type === 'tool' ? [] : [piece.delta.text] };
    latest.set(piece.run, part);
    parts.push(part);
  }
  return parts.map(({ first, texts }) =>
    first.delta.type === 'tool' ? first : { ...first, delta: { ...first.delta, text: texts.join('') } },
  );
}

const isSameAnswer = (one: LivePiece, other: LivePiece): boolean =>
  one.delta.type === other.delta.type && one.turn === other.turn && one.attempt === other.attempt;
