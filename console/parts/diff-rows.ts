/** The lines of a unified difference with the numbers that they have in both files. */
export interface DiffRow {
  readonly kind: 'added' | 'removed' | 'same' | 'place';
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function diffRows(diff: string): readonly DiffRow[] {
  let before = 0;
  let after = 0;
  let isInside = false;
  const lines = diff.endsWith('\n') ? diff.slice(0, -1).split('\n') : diff.split('\n');
  return lines.map((line): DiffRow => {
    const hunk = HUNK.exec(line);
    if (hunk !== null) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      isInside = true;
    } else if (line.startsWith('diff ')) isInside = false;
    if (hunk !== null || !isInside || line.startsWith('\\')) return { kind: 'place', text: line, before: null, after: null };
    const text = line.slice(1);
    if (line.startsWith('+')) return { kind: 'added', text, before: null, after: after++ };
    if (line.startsWith('-')) return { kind: 'removed', text, before: before++, after: null };
    return { kind: 'same', text, before: before++, after: after++ };
  });
}
