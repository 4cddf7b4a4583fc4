/** Numbers as people read them. The terminal and the console show the same words for the same figures. */
import { counted } from '../base/wording.ts';

/** An executor without a file, where it stands beside its part: `executor:codex (executor)` would say it twice. */
export const shownAgent = (agent: string, role: string | null | undefined): string =>
  role === 'executor' ? agent.replace(/^executor:/, '') : agent;

const NANO_PER_USD = 1_000_000_000;

/** Money with as many digits as it needs: `$0`, `$0.00042`, `$1.27`. */
export function readableMoney(nanoUsd: number): string {
  const usd = nanoUsd / NANO_PER_USD;
  if (usd === 0) return '$0';
  const sign = usd < 0 ? '-' : '';
  const size = Math.abs(usd);
  if (size >= 1) return `${sign}$${size.toFixed(2)}`;
  if (size >= 0.01) return `${sign}$${size.toFixed(3).replace(/0$/, '')}`;
  return `${sign}$${twoDigits(size)}`;
}

/** What is known, and that something is not: an unknown price is never shown as nothing. */
export function readableCost(cost: { readonly nanoUsd: number; readonly unknownCalls: number }): string {
  if (cost.unknownCalls === 0) return readableMoney(cost.nanoUsd);
  const calls = counted(cost.unknownCalls, 'call');
  return cost.nanoUsd === 0 ? `cost unknown (${calls})` : `${readableMoney(cost.nanoUsd)} + unknown (${calls})`;
}

/** What was counted, and that something was not: tokens that nobody counted are never shown as none. */
export function readableTokens(tokens: number, { uncountedCalls }: { readonly uncountedCalls: number }): string {
  if (uncountedCalls === 0) return readableCount(tokens);
  return tokens === 0 ? 'unknown' : `${readableCount(tokens)}+?`;
}

/** `34 in, 4 out`. */
export function readableInAndOut(spent: {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly uncountedCalls: number;
}): string {
  if (spent.uncountedCalls > 0 && spent.inputTokens + spent.outputTokens === 0) return 'tokens unknown';
  return `${readableTokens(spent.inputTokens, spent)} in, ${readableTokens(spent.outputTokens, spent)} out`;
}

export function readableCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function readableBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`;
  if (bytes < 1_073_741_824) return `${(bytes / 1_048_576).toFixed(1)} MiB`;
  return `${(bytes / 1_073_741_824).toFixed(1)} GiB`;
}

export function readableDuration(milliseconds: number): string {
  const safe = Math.max(0, milliseconds);
  if (safe < 1_000) return `${Math.round(safe)}ms`;
  if (safe < 59_950) return `${(safe / 1_000).toFixed(1)}s`;
  const seconds = Math.round(safe / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(seconds / 3_600)}h${String(Math.floor((seconds % 3_600) / 60)).padStart(2, '0')}m`;
}

/** One line of at most `length` characters: what is shown of a text that may be a book. */
export function firstLine(text: string, length: number): string {
  const flat = text
    .slice(0, length * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return flat.length <= length ? flat : `${flat.slice(0, Math.max(0, length - 1))}…`;
}

/** Two significant digits without an exponent. */
function twoDigits(size: number): string {
  const digits = Math.min(9, 1 - Math.floor(Math.log10(size)));
  return size.toFixed(digits).replace(/0+$/, '');
}

const AGE_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** The largest unit only: `45s`, `12m`, `3h`, `5d`. */
export function readableAge(milliseconds: number): string {
  const unit = AGE_UNITS.find(([, size]) => milliseconds >= size);
  return unit === undefined ? `${Math.floor(milliseconds / 1_000)}s` : `${Math.floor(milliseconds / unit[1])}${unit[0]}`;
}
