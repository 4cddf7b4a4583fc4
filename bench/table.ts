/** Numbers and markdown tables. */

export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((left, right) => left - right);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  const lower = sorted[Math.ceil(middle) - 1] ?? upper;
  return sorted.length === 0 ? Number.NaN : (upper + lower) / 2;
}

/** Three digits that matter, unless told how many after the point. */
export function number(value: number, digits?: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  return value.toFixed(digits ?? (size >= 100 ? 0 : size >= 10 ? 1 : 2));
}

/** The median, and with several values also the least and the greatest. */
export function spread(values: readonly number[], digits?: number): string {
  const known = values.filter(Number.isFinite);
  const middle = number(median(known), digits);
  if (known.length < 2) return middle;
  return `${middle} (${number(Math.min(...known), digits)}–${number(Math.max(...known), digits)})`;
}

export function bytes(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value >= 1_048_576 ? `${number(value / 1_048_576)} MB` : `${number(value / 1_024)} KB`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
