/** Which lines are shown: by run, by how much they matter, by a text. Goes on where it was when more lines come. */
import { useRef } from 'react';
import type { RunId } from '../../../src/base/ids.ts';
import { type RunTree, subtree } from '../../../src/projections/run-tree.ts';
import type { Level, TimelineLine } from '../../../src/projections/timeline.ts';

export interface Wanted {
  readonly run: string | undefined;
  readonly least: Level;
  readonly text: string;
}

const ORDER: readonly Level[] = ['detail', 'info', 'warn', 'error'];

interface Found {
  readonly key: string;
  readonly lines: readonly TimelineLine[];
  seen: number;
  readonly indices: number[];
}

/** The indices of the lines that are wanted, among the first `count`. */
export function useFiltered(lines: readonly TimelineLine[], count: number, wanted: Wanted, tree: RunTree): readonly number[] {
  const kept = useRef<Found>(undefined);
  const runs = wanted.run === undefined ? undefined : subtree(tree, wanted.run as RunId).map(({ run }) => run as string);
  const key = JSON.stringify([wanted, runs?.length]);
  const before = kept.current;
  const found =
    before !== undefined && before.key === key && before.lines === lines && before.seen <= count
      ? before
      : { key, lines, seen: 0, indices: [] };
  const of = runs === undefined ? undefined : new Set(runs);
  const text = wanted.text.toLowerCase();
  const least = ORDER.indexOf(wanted.least);
  for (let index = found.seen; index < count; index += 1) {
    const line = lines[index];
    if (line === undefined || ORDER.indexOf(line.level) < least || of?.has(line.run) === false) continue;
    if (text !== '' && !`${line.agent} ${line.text}`.toLowerCase().includes(text)) continue;
    found.indices.push(index);
  }
  found.seen = count;
  kept.current = found;
  return found.indices;
}
