/**
 * Patterns with stars, compared without going back further than to the last star: no pattern and no text makes it slow.
 */

/** `isMany` says which pieces of the pattern stand for any number of items. */
export function fitsSequence<Piece, Item>(
  pattern: readonly Piece[],
  items: readonly Item[],
  isMany: (piece: Piece) => boolean,
  fits: (piece: Piece, item: Item, index: number) => boolean,
  mayCover: (item: Item, index: number, star: Piece) => boolean = () => true,
): boolean {
  let [at, item, star, resume] = [0, 0, -1, 0];
  while (item < items.length) {
    const piece = pattern[at];
    const current = items[item];
    if (piece !== undefined && isMany(piece)) {
      star = at;
      resume = item;
      at += 1;
    } else if (piece !== undefined && current !== undefined && fits(piece, current, item)) {
      at += 1;
      item += 1;
    } else if (star >= 0 && items[resume] !== undefined && mayCover(items[resume] as Item, resume, pattern[star] as Piece)) {
      resume += 1;
      item = resume;
      at = star + 1;
    } else return false;
  }
  return pattern.slice(at).every(isMany);
}

/** A text against a pattern in which a star stands for any signs. */
export function fitsText(pattern: string, text: string, mayCover: (sign: string) => boolean = () => true): boolean {
  return fitsSequence(
    [...pattern],
    [...text],
    (sign) => sign === '*',
    (sign, other) => sign === other,
    mayCover,
  );
}
