/** How a task can stand, and what can follow on what. The words are those of A2A. */

export const taskStates = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown'] as const;
/** `unknown` is never the state of a task of ours: it is how one shows that a newer writer has put into another state. */
export type TaskState = (typeof taskStates)[number];

/**
 * What may come next. Steps that nobody saw may be left out, so all that is open can end. An end is for ever: a run that goes on
 * after its end is another task.
 */
export const taskTransitions: Readonly<Record<TaskState, readonly TaskState[]>> = {
  submitted: ['working', 'input-required', 'completed', 'canceled', 'failed'],
  working: ['input-required', 'completed', 'canceled', 'failed'],
  'input-required': ['working', 'completed', 'canceled', 'failed'],
  completed: [],
  canceled: [],
  failed: [],
  unknown: ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed'],
};

export const isTerminalTask = (state: TaskState): boolean => taskTransitions[state].length === 0;

/** Whether a task that stood like this may stand like that. Standing as before is no transition. */
export const mayFollow = (before: TaskState, after: TaskState): boolean =>
  before === after || taskTransitions[before].includes(after);

const byLetters = new Map(taskStates.map((state) => [lettersOf(state), state]));

/**
 * A state as others write it: `InputRequired` and `input_required` are the same word, and a number is the place in the list. What
 * is none of ours is `unknown`: somebody newer has written it.
 */
export function readTaskState(written: string | number): TaskState {
  if (typeof written === 'number') return taskStates[written] ?? 'unknown';
  return byLetters.get(lettersOf(written)) ?? 'unknown';
}

function lettersOf(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}
