/** What the events about assistants, their messages and their processes mean, in words. */
import type { assistantEvents } from '../src/events/assistants.ts';
import type { EventType } from '../src/events/catalogue.ts';
import type { Meaning } from './event-meanings.ts';

type Meanings = { readonly [Type in EventType & keyof typeof assistantEvents]: Meaning<Type> };

export const assistantMeanings: Meanings = {
  'message.sent': {
    says: 'Somebody wrote into a thread. It belongs to the run that owns the thread, whoever wrote it.',
    fields: {
      message: 'its id',
      thread: 'in which thread',
      from: 'who wrote it: the agent or client, and the run if it is one',
      to: 'who is to read it',
      content: 'the text',
      fence: 'a word the author could not know; it marks where the text begins and ends in the reader’s prompt',
      digest: 'the SHA-256 of what a client sent under an id of its own',
      clientMessage: 'that id',
      parts: 'what it was made of, where it was more than words: it comes back to who sent it as it came',
      kind: '`report`: the sender’s final report; `question`: somebody has to answer it',
      person: 'a person wrote it to a run at work (`troupe send`), and it counts as the word of the user: `by` whom, and `where`',
      verification: 'of a report: what it was found to be worth',
    },
  },
  'message.included': {
    says: 'A message is part of a model request: from here on its reader knows it.',
    fields: { message: 'which', thread: 'in which thread', reader: 'the run that read it', request: 'the step of the request' },
  },
  'message.read': {
    says: 'A message was fetched and marked as read. This happens once for each.',
    fields: { message: 'which', thread: 'in which thread', reader: 'who marked it' },
  },
  'context.noted': {
    says: 'A run was told about its assistants and its messages before a turn.',
    fields: { turn: 'before which turn', text: 'what it was told' },
  },
  'process.started': {
    says: 'A child process hosts the loop of the run.',
    fields: { pid: 'its number', attempt: 'which process for this loop, from 1' },
  },
  'process.ended': {
    says: 'That process is gone.',
    fields: {
      pid: 'its number',
      exitCode: 'how it ended, unless a signal ended it',
      signal: 'the signal that ended it',
      why: '`done`: its work was over; `stopped`: it was told to; `crashed` and `too_old`: it ended too early',
    },
  },
};
