/** What each event about peers that are told means, and each of its fields. */
import type { pushEvents } from '../src/events/push.ts';
import type { Meaning } from './event-meanings.ts';

export const pushMeanings: { readonly [Type in keyof typeof pushEvents]: Meaning<Type> } = {
  'push.configured': {
    says: 'A peer wants to be told at an address how the task stands.',
    fields: {
      config: 'its name',
      url: 'the address',
      token: 'what is said in a header of its own; redacted, and sealed beside',
      scheme: 'how it wants to be sure that it is we',
      credentials: 'with what; redacted, and sealed beside',
      version: 'the version of A2A that it speaks',
    },
  },
  'push.removed': { says: 'The address is told nothing more.', fields: { config: 'which' } },
  'push.told': {
    says: 'The address was told everything up to here, or is given up.',
    fields: { config: 'which', position: 'up to which event', failed: 'why nobody tries any more' },
  },
};
