/** What the events about permissions and questions mean, in words. */
import type { Meaning } from './event-meanings.ts';

type Approvals = 'approval.answered' | 'approval.withdrawn';

export const approvalMeanings: { readonly [Type in Approvals]: Meaning<Type> } = {
  'approval.answered': {
    says: 'Somebody answered a question or a request for permission, or its time ran out.',
    fields: {
      wait: 'which one',
      answer: 'what they said; `expired`: nobody did in time',
      by: 'who: a person at a machine, or the name of a caller',
      where: 'on which way',
      message: 'the id that they gave to their message; sent again, it is the same answer',
      parts: 'what that message was made of, where it was more than words: it comes back to who sent it as it came',
      digest: 'the SHA-256 of that message',
      shown: 'the SHA-256 of what was shown to them; absent where nobody said that they saw it',
      request: 'the SHA-256 of the request for a permission that it answers, whether or not anybody was shown it',
    },
  },
  'approval.withdrawn': {
    says: 'Somebody took back what was remembered for the session. It is in the run that it began with, and holds for all.',
    fields: {
      rule: 'the tool, and behind a blank which of its calls; everything that was remembered until then, without one',
      by: 'who: a person at a machine',
      where: 'on which way',
    },
  },
};
