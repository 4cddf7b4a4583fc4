/** What the events of tasks that are handed over mean. */
import type { taskEvents } from '../src/events/tasks/task-events.ts';
import type { Meaning } from './event-meanings.ts';

export const taskMeanings: { readonly [Type in keyof typeof taskEvents | 'task.captured' | 'task.clarify']: Meaning<Type> } = {
  'task.clarify': {
    says: 'An agent asks the user a question and waits.',
    fields: {
      wait: 'what `troupe answer` takes',
      question: 'the question',
      choices: 'the answers to choose from',
      round: 'of questions before a task is handed over: which round, of how many',
    },
  },
  'task.captured': {
    says: 'What was found where a task was worked on, after its work. What lay outside of its terms was taken back first.',
    fields: {
      task: 'its id',
      files: 'the files that it changed, with lines added and removed',
      patch: 'all of it as one patch, by its reference',
      diff: 'the same as text, bounded',
      undone: 'what lay outside of its terms; `kept` says what holds what was taken back',
      missing: 'work that no patch can hold, each with why: it is at the place of the task only, and the run is not verified',
      failed: 'why nothing could be captured',
    },
  },
  'task.snapshot': {
    says: 'What is known when a task is handed over. The context that the executor gets is made of it.',
    fields: {
      task: 'the id of the task',
      attempt: 'which attempt it is for',
      hash: 'the SHA-256 of the references and the text: made again from the same events, it is the same',
      events: 'the events that it rests on, each by run, step and type',
      left: 'how many more there were',
      context: 'the text that was made of them',
    },
  },
  'task.package': {
    says: 'A task, as it is handed over to an executor.',
    fields: {
      task: 'its id',
      attempt: 'which attempt it is',
      executor: 'who gets it',
      yaml: 'the package, whole',
      ref: 'stands for it in the start of the run that works on it',
      verify: 'commands that the runtime runs when the work is said to be done',
      again: 'the task that this one does again',
      planned: 'only shown by `--plan-only`: nobody is handed it before the run is resumed',
    },
  },
  'task.policy': {
    says: 'A task failed, and what the settings have happen then.',
    fields: {
      task: 'its id',
      attempt: 'which attempt it was',
      trigger: 'what went wrong',
      action: 'what is done about it',
      executor: 'who had it',
      to: 'who gets it instead',
      why: 'the error in words',
      error: 'what is the same about errors that are the same, and how often it came',
    },
  },
  'task.judged': {
    says: 'What became of a task: accepted, handed over again, or given up.',
    fields: {
      task: 'its id',
      attempt: 'which attempt it was',
      verdict: 'accepted, again or given_up',
      by: 'who says so: the architect, its acceptance, or the limits',
      why: 'in words',
      acceptance: 'each line: run by the runtime, or judged, which proves nothing; and whether it is met',
      verification: 'what the work was found to be worth',
    },
  },
  'task.merged': {
    says: 'Accepted work was put together.',
    fields: {
      tasks: 'what is put together: tasks that began at the same commit, and were accepted by then',
      commit: 'what later tasks begin from',
      patch: 'everything that was accepted so far, as one artifact',
      files: 'how many files it changes',
      conflicts:
        'what does not fit together, file by file, by the name that git gives it, with both sides and the lines; what is left out of the patch is kept',
    },
  },
};
