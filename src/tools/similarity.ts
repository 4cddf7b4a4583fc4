/** How alike two short texts are, from 0 to 1: the share of letter pairs they have in common. For hints, not for decisions. */

const COMPARED_CHARACTERS = 200;

export function similarity(left: string, right: string): number {
  const leftPairs = pairsOf(left);
  const rightPairs = pairsOf(right);
  if (leftPairs.size === 0 || rightPairs.size === 0) return left === right ? 1 : 0;
  let common = 0;
  for (const pair of leftPairs) if (rightPairs.has(pair)) common += 1;
  return (2 * common) / (leftPairs.size + rightPairs.size);
}

function pairsOf(text: string): ReadonlySet<string> {
  const short = text.slice(0, COMPARED_CHARACTERS).toLowerCase().replaceAll(/\s+/g, ' ').trim();
  const pairs = new Set<string>();
  for (let index = 0; index + 1 < short.length; index += 1) pairs.add(short.slice(index, index + 2));
  return pairs;
}
