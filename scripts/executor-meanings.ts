/** What the events about executors mean, in words. */
import type { executorEvents } from '../src/events/tasks/executor-events.ts';
import type { Meaning } from './event-meanings.ts';

export const executorMeanings: { readonly [Type in keyof typeof executorEvents]: Meaning<Type> } = {
  'executor.session': {
    says: 'Who works for the run from here on. On the disk before anything is said to it; loaded again after a crash.',
    fields: {
      executor: 'its name',
      version: 'as it says',
      protocol: 'the version of the protocol that both speak',
      session: 'its own word for the session',
      restored: 'whether it is new, was loaded again, or is the very one that was left',
      mode: 'the mode that it is in, in its own words',
      model: 'the model that it uses, in its own words',
      cwd: 'the folder that it works in',
      pid: 'the number of its process',
      sandbox: 'what it is kept in',
      without: 'what of that which was wanted it cannot do',
    },
  },
  'executor.prompted': {
    says: 'A prompt is about to go to the executor. On the disk before it does.',
    fields: {
      session: 'to which session',
      how: 'the request as it is; `go-on` after it was cut off; `again` to another session; `words` about what was not allowed',
      told: 'what was said in the runtime’s own words, such as what is known to be done',
    },
  },
  'executor.call': {
    says: 'The executor says that it does something. Its word, and no evidence.',
    fields: {
      id: 'its word for the call',
      title: 'what it says that it is',
      kind: 'what kind it says that it is',
      locations: 'files that it says it is about',
      input: 'what it says that it is given',
    },
  },
  'executor.result': {
    says: 'The executor says what came of a call. Its word, and no evidence.',
    fields: {
      id: 'which call',
      status: 'how it says that it ended',
      output: 'what it says that came of it',
      wholeBytes: 'how long that was, when it is cut',
    },
  },
  'executor.decided': {
    says: 'The executor asked whether it may, and was told.',
    fields: {
      id: 'which call',
      title: 'what it says that it is',
      decision: 'what it was told; always for this one time',
      by: 'whether a rule decided, or somebody who was asked',
      wait: 'the question, where somebody was asked',
      why: 'why not',
    },
  },
  'executor.planned': {
    says: 'The executor says what it is going to do. The latest one counts.',
    fields: { entries: 'the steps, and how far each is' },
  },
  'executor.ended': {
    says: 'The executor’s processes are over.',
    fields: {
      executor: 'its name',
      session: 'which session',
      stop: 'how its last prompt ended, in its words',
      why: 'why its last prompt did not end',
      exitCode: 'of its process',
      signal: 'that ended its process',
      stderr: 'the end of what it wrote there',
      refused: 'what the walls that it was kept in have refused it',
      notices: 'what of it was left out or cut because it is not the protocol, or too much',
      survivors: 'processes that had left its group; they were ended as well',
    },
  },
};
