/**
 * The longest common subsequence of two lists (Myers), as pairs of places. It takes time and memory by how different the lists
 * are; of lists with more edits than `most` it says nothing.
 */

export type PlacePair = readonly [one: number, other: number];

export function commonPlaces(one: readonly string[], other: readonly string[], most: number): readonly PlacePair[] | undefined {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let ends = 0;
  while (ends < one.length - start && ends < other.length - start && one.at(-1 - ends) === other.at(-1 - ends)) ends += 1;
  const between = shortestWay(one.slice(start, one.length - ends), other.slice(start, other.length - ends), most);
  if (between === undefined) return undefined;
  const head = Array.from({ length: start }, (_, at): PlacePair => [at, at]);
  const tail = Array.from({ length: ends }, (_, at): PlacePair => [one.length - ends + at, other.length - ends + at]);
  return [...head, ...between.map(([left, right]): PlacePair => [left + start, right + start]), ...tail];
}

/** How far each diagonal was reached, edit by edit; then back along the way that came to the end. */
function shortestWay(one: readonly string[], other: readonly string[], most: number): readonly PlacePair[] | undefined {
  const reached: Int32Array[] = [];
  const [width, height] = [one.length, other.length];
  for (let edits = 0; edits <= Math.min(most, width + height); edits += 1) {
    const before = reached.at(-1);
    const now = new Int32Array(2 * edits + 1);
    reached.push(now);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = before === undefined ? 0 : furthest(before, edits - 1, diagonal);
      while (x < width && x - diagonal < height && one[x] === other[x - diagonal]) x += 1;
      now[diagonal + edits] = x;
      if (x >= width && x - diagonal >= height) return wayBack(reached, diagonal, x);
    }
  }
  return undefined;
}

/** Where a diagonal is entered: from above, or from the left. */
function furthest(before: Int32Array, edits: number, diagonal: number): number {
  const above = diagonal + 1 <= edits ? (before[diagonal + 1 + edits] ?? -1) : -1;
  const left = diagonal - 1 >= -edits ? (before[diagonal - 1 + edits] ?? -1) + 1 : -1;
  return Math.max(above, left);
}

function wayBack(reached: readonly Int32Array[], last: number, end: number): readonly PlacePair[] {
  const pairs: PlacePair[] = [];
  let [diagonal, x] = [last, end];
  for (let edits = reached.length - 1; edits >= 0; edits -= 1) {
    const before = reached[edits - 1];
    const entered = before === undefined ? 0 : furthest(before, edits - 1, diagonal);
    while (x > entered) {
      x -= 1;
      pairs.push([x, x - diagonal]);
    }
    if (before === undefined) break;
    const fromLeft = diagonal - 1 >= -(edits - 1) && (before[diagonal - 1 + edits - 1] ?? -1) + 1 === entered;
    diagonal += fromLeft ? -1 : 1;
    x = fromLeft ? entered - 1 : entered;
  }
  return pairs.reverse();
}
