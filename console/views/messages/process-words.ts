/** How a process stands: a sign and a word, and its tone. */
import type { AssistantRow } from '../../api/types.ts';

const WORDS: Readonly<Record<AssistantRow['status'], { readonly words: string; readonly tone: string }>> = {
  starting: { words: '◌ starting', tone: 'quiet' },
  running: { words: '● running', tone: 'tone-runs' },
  finished: { words: '✓ finished', tone: 'quiet' },
  failed: { words: '✗ failed', tone: 'tone-bad' },
};

export const processWords = (status: AssistantRow['status']) => WORDS[status];
