/** One place for the signs and words of states: a shape and a word before a colour, and the words of the terminal. */
import type { Worth } from './worth.ts';

export type Standing =
  | 'running'
  | 'waiting'
  | 'paused'
  | 'parked'
  | 'interrupted'
  | 'lost'
  | 'queued'
  | 'completed'
  | 'completed_unverified'
  | 'failed'
  | 'budget_exhausted'
  | 'cancelled';

export type Tone = 'runs' | 'waits' | 'good' | 'bad' | 'quiet';

export interface Mark {
  readonly sign: string;
  readonly word: string;
  readonly tone: Tone;
}

const MARKS: Readonly<Record<Standing, Mark>> = {
  running: { sign: '●', word: 'running', tone: 'runs' },
  waiting: { sign: '◐', word: 'waits for you', tone: 'waits' },
  paused: { sign: '‖', word: 'paused', tone: 'waits' },
  parked: { sign: '‖', word: 'parked', tone: 'waits' },
  interrupted: { sign: '‖', word: 'interrupted', tone: 'waits' },
  lost: { sign: '‖', word: 'lost', tone: 'waits' },
  queued: { sign: '◌', word: 'queued', tone: 'quiet' },
  completed: { sign: '○', word: 'completed, unchecked', tone: 'quiet' },
  completed_unverified: { sign: '!', word: 'completed, unverified', tone: 'waits' },
  failed: { sign: '✗', word: 'failed', tone: 'bad' },
  budget_exhausted: { sign: '✗', word: 'budget exhausted', tone: 'bad' },
  cancelled: { sign: '✗', word: 'cancelled', tone: 'quiet' },
};

/** That something completed is never said without what it is worth. */
export function markOf(state: Standing, worth: Worth | null | undefined): Mark {
  if (state === 'completed' && worth === 'verified') return { sign: '✓', word: 'completed, verified', tone: 'good' };
  if (state === 'completed' && worth === 'unverified') return MARKS.completed_unverified;
  return MARKS[state];
}
