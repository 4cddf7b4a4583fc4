/** Words as a task shows them: bounded, whoever said them. */
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { TaskMessage } from './task-json.ts';

export function shortMessage(role: TaskMessage['role'], text: string): TaskMessage {
  return { role, content: shortText(text, 'taskMessageCharacters') };
}

/** Says what is left out, and which limit it was. */
export function shortText(
  text: string,
  limit: 'taskMessageCharacters' | 'taskResultCharacters' | 'taskAnswerCharacters',
): string {
  const missing = text.length - limits[limit];
  if (missing <= 0) return text;
  return `${text.slice(0, limits[limit]).toWellFormed()}\n\n(${counted(missing, 'more character')} left out: ${limit})`;
}
