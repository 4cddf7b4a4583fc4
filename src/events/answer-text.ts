/** What somebody answered, as whoever asked gets it. */
import type { Answer } from './catalogue.ts';

export function answerText(answer: Answer): string {
  if (answer.kind === 'text') return answer.text;
  return answer.kind === 'approved' ? 'Yes.' : `No.${answer.note === undefined ? '' : ` ${answer.note}`}`;
}
