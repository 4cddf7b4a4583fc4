/**
 * Whether a loop still gets anywhere. Saying the same again (exactly, within the last five, or nearly, compared with the
 * last) is a stall; two in a row end the loop. Progress that the runtime has seen outranks it: a new file change or another
 * test result means no stall, however alike the words are.
 */
const WINDOW = 5;
const ALIKE = 0.9;
const TOLERANCE = 2;

export interface StallState {
  readonly recent: readonly string[];
  readonly consecutive: number;
}

export type StallVerdict = 'moving' | 'warn' | 'stalled';

export const noStall: StallState = { recent: [], consecutive: 0 };

export interface StallCheck {
  readonly state: StallState;
  readonly verdict: StallVerdict;
  readonly similarity: number;
}

export function checkStall(state: StallState, text: string, progressed: boolean): StallCheck {
  const previous = state.recent.at(-1);
  const similarity = previous === undefined ? 0 : jaccard(previous, text);
  const repeats = state.recent.includes(text) || similarity > ALIKE;
  const consecutive = repeats && !progressed ? state.consecutive + 1 : 0;
  const recent = [...state.recent, text].slice(-WINDOW);
  const verdict = consecutive >= TOLERANCE ? 'stalled' : consecutive > 0 ? 'warn' : 'moving';
  return { state: { recent, consecutive }, verdict, similarity };
}

/** Shared words over all words, split at white space. */
export function jaccard(left: string, right: string): number {
  const a = new Set(left.split(/\s+/).filter(Boolean));
  const b = new Set(right.split(/\s+/).filter(Boolean));
  if (a.size === 0 && b.size === 0) return 1;
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}

export type Trend = 'improving' | 'stable' | 'degrading';

const STEP = 0.1;

export function trendOf(scores: readonly number[]): Trend {
  const [before, latest] = scores.slice(-2);
  if (before === undefined || latest === undefined) return 'stable';
  // Scores are decimal fractions: a difference of exactly a tenth must not count as more because of rounding.
  const difference = Math.round((latest - before) * 1e6) / 1e6;
  if (difference > STEP) return 'improving';
  return difference < -STEP ? 'degrading' : 'stable';
}
