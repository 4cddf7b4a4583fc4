/** Times as people write them: `90s`, `10m`, `1.5h`, or a plain number of milliseconds. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `undefined` when the text is not a duration. */
export function parseDuration(value: string | number): number | undefined {
  if (typeof value === 'number') return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.round(value) : undefined;
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(value.trim());
  if (match === null) return undefined;
  const unit = UNITS[match[2] ?? ''];
  if (unit === undefined) return undefined;
  const milliseconds = Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
}

const WRITTEN = ['h', 'm', 's', 'ms'] as const;

/** As somebody would have written it: `10m`, `90s`, `1500ms`. */
export function durationText(milliseconds: number): string {
  const unit = WRITTEN.find((one) => milliseconds >= (UNITS[one] ?? 1) && milliseconds % (UNITS[one] ?? 1) === 0) ?? 'ms';
  return `${milliseconds / (UNITS[unit] ?? 1)}${unit}`;
}
