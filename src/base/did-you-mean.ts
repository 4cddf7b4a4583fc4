/** Finds the word that somebody probably meant. */

/** Longer words are not compared: nobody mistypes them, and the cost grows with the square of the length. */
const WORD_MAX = 64;

/** The nearest candidate, if it is near enough to be worth suggesting. Case and `-`, `_`, space do not count as differences. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = fold(word);
  if (wanted.length === 0 || wanted.length > WORD_MAX) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const folded = fold(candidate);
    if (folded.length > WORD_MAX || Math.abs(folded.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, folded);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

const LISTED_MAX = 12;

/** The sentence that goes with an unknown word: the near one, or what there is to choose from. */
export function suggest(word: string, candidates: readonly string[], kind: string): string | undefined {
  const near = nearest(word, candidates);
  if (near !== undefined) return `Did you mean "${near}"?`;
  if (candidates.length === 0) return undefined;
  const shown = candidates.slice(0, LISTED_MAX).join(', ');
  return `Known ${kind}: ${shown}${candidates.length > LISTED_MAX ? ', …' : ''}.`;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
