/** What each event about peers means, those that are told and those that are asked, and each of its fields. */
import type { peerEvents, pushEvents } from '../src/events/peers.ts';
import type { Meaning } from './event-meanings.ts';
import { peerMeanings } from './peer-meanings.ts';

export const pushMeanings: { readonly [Type in keyof typeof pushEvents | keyof typeof peerEvents]: Meaning<Type> } = {
  ...peerMeanings,
  'push.configured': {
    says: 'A peer wants to be told at an address how the task stands.',
    fields: {
      config: 'its name',
      url: 'the address',
      token: 'what is said in a header of its own; redacted, and sealed beside',
      scheme: 'how it wants to be sure that it is we',
      credentials: 'with what; redacted, and sealed beside',
      version: 'the version of A2A that it speaks',
      task: 'of which task, where the run went on after its end and is another one',
    },
  },
  'push.removed': { says: 'The address is told nothing more.', fields: { config: 'which', task: 'of which task' } },
  'push.told': {
    says: 'The address was told everything up to here, or is given up.',
    fields: {
      config: 'which',
      target: 'the `push.configured` that it is about: one that has replaced it was not told',
      position: 'up to which event',
      failed: 'why nobody tries any more',
      place: 'of one that is told of all sessions: the place in the order of all up to which it was',
      spans: 'how many spans it was sent until now',
      refused: 'how many of them it refused',
    },
  },
};
