/** What the events about agents that live elsewhere mean, in words. */
import type { peerEvents } from '../src/events/peers.ts';
import type { Meaning } from './event-meanings.ts';

const artifact = {
  id: 'the peer’s word for it',
  name: 'the peer’s name for it',
  mediaType: 'what the peer says that it is',
  bytes: 'how long it is',
  cut: 'the content is longer than what is kept',
};

export const peerMeanings: { readonly [Type in keyof typeof peerEvents]: Meaning<Type> } = {
  'peer.sent': {
    says: 'A message is about to go to an agent that lives elsewhere. On the disk before it does.',
    fields: {
      message: 'its id: the same message has the same one, however often it is sent',
      context: 'the conversation that it belongs to',
      task: 'the task that it is said to; absent when it begins one',
      address: 'where it goes',
      card: 'the SHA-256 of the card that named the address',
      again: 'the same was sent before and may have been taken: it may be done, and paid for, twice',
    },
  },
  'peer.unsent': { says: 'The message certainly did not arrive.', fields: { message: 'its id', why: 'what was in the way' } },
  'peer.task': {
    says: 'What the message became there. From here on the task is followed, and never begun again.',
    fields: { task: 'the peer’s id for it', context: 'the peer’s id for the conversation' },
  },
  'peer.state': {
    says: 'How the task stood when nothing more came without us; in the same transaction as what is made of it.',
    fields: {
      forked: 'it happened, and is counted, in the session that this one was forked from',
      state: 'it ended, or waits for an answer',
      task: 'the peer’s id for it; absent when it answered without a task',
      confirms: 'the calls that it wants leave for, by its own ids: the answer goes back for each of them, in its own form',
      asked: 'by what its question is known again when the peer shows it once more after the answer',
      context: 'the peer’s id for the conversation',
      artifacts: 'what it made',
      files: 'the files among it, each with the artifact of ours that it is (`ref`), or why it was not kept',
      leftOut: 'it made more than are kept (`peerArtifacts`, `peerFiles`)',
      usage: 'what one that ended without an answer says that it took',
      cost: 'and what it says that this cost',
    },
  },
  'peer.artifact': {
    says: 'Something that the task made. What it says is the event’s attachment; files are artifacts, which `peer.state` names.',
    fields: { ...artifact, encoding: '`text`; earlier releases kept a file here, in base64' },
  },
  'peer.cancelled': {
    says: 'The run was to end while the task was under way, and the peer was told.',
    fields: {
      forked: 'it happened, and is counted, in the session that this one was forked from',
      task: 'the peer’s id for it',
      reached: 'whether it heard',
      unanswered: 'it was at work, so that what it cost is known only if it says so',
      usage: 'what it says that this took until then',
      cost: 'and what it says that this cost',
      state: 'how the task stood then',
      why: 'why it did not hear',
    },
  },
};
