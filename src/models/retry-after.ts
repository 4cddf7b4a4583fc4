/** How long a provider asks to be left alone, read from its headers. */
import type { Clock } from '../base/clock.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** Said by Anthropic as a moment, by OpenAI as a span; asked only when there is no `retry-after`. */
const RESET_HEADERS = [
  'anthropic-ratelimit-requests-reset',
  'anthropic-ratelimit-tokens-reset',
  'anthropic-ratelimit-input-tokens-reset',
  'anthropic-ratelimit-output-tokens-reset',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
] as const;

export function retryAfterMs(headers: Headers, clock: Clock): number | undefined {
  const exact = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const asked = headers['retry-after'];
  if (asked !== undefined) return spanOf(asked, clock);
  let longest: number | undefined;
  for (const name of RESET_HEADERS) {
    const value = headers[name];
    // Only the quota that is used up says when to come back; the others renew on their own time.
    if (value === undefined || headers[remainingOf(name)]?.trim() !== '0') continue;
    const span = spanOf(value, clock);
    if (span !== undefined && (longest === undefined || span > longest)) longest = span;
  }
  return longest;
}

function remainingOf(reset: string): string {
  return reset.startsWith('anthropic') ? reset.replace(/-reset$/, '-remaining') : reset.replace('-reset-', '-remaining-');
}

/** `20`, `20.5`, `1m30s`, `250ms`, an HTTP date or an ISO moment. */
function spanOf(text: string, clock: Clock): number | undefined {
  const trimmed = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000;
  const parts = [...trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length > 0 && parts.map((part) => part[0]).join('') === trimmed) {
    return parts.reduce((sum, part) => sum + Number(part[1]) * (UNITS[part[2] ?? ''] ?? 0), 0);
  }
  const moment = Date.parse(trimmed);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - clock.now());
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
