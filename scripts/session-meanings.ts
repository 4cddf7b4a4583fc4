/** What the events about a session's beginning, what goes with it, and going on mean, in words. */
import type { Meaning } from './event-meanings.ts';

type About =
  | 'session.started'
  | 'session.imported'
  | 'session.brought'
  | 'run.reopened'
  | 'run.withdrawn'
  | 'transcript.record'
  | 'transcript.imported';

export const sessionMeanings: { readonly [Type in About]: Meaning<Type> } = {
  'session.started': {
    says: 'A session began. Always the first event of its session, and the only one without a cause.',
    fields: {
      title: 'a name for people',
      workspace: 'the folder that tools may touch',
      forked: 'the session, the run and the event that it was forked from: what is before was taken over',
      imported: 'the transcript of another program that it was made of: it can be read, and nothing in it goes on',
    },
  },
  'session.imported': {
    says: 'The session came in a bundle from another ledger. The last event of such a session, which is read and never goes on.',
    fields: {
      events: 'how many of its events came',
      chain: 'the hash of the last of them',
      source: 'that hash in the ledger that they came from',
      sealed: 'how many events came without their exact payload, because a secret is sealed in it',
      file: 'what the file was called',
      bundle: 'the SHA-256 of the bundle, unpacked',
      troupe: 'the version that made it',
      signedBy: 'the name of the key that it was signed with',
      known: 'whether it had to be signed with this key',
    },
  },
  'session.brought': {
    says: 'What a run brings along to the workers of a cluster, which need nothing else of its project.',
    fields: {
      agents: 'every agent that it can come to, as it was when the run started, with what the command changed about it',
      files: 'texts of files that these agents name, by their paths',
      vars: 'variables for prompts',
      models: 'models for agents that name none',
      permissions: 'what the settings allow, ask for and deny; a worker is not less strict',
      verify: 'what the settings demand of every root run',
      repository:
        'of a run that hands out tasks: the top of its repository, its folder below that, the commit, and the commit of the files as they were',
    },
  },
  'run.reopened': {
    says: 'A run that had ended for a reason outside of it goes on, or a run goes on under other terms. The end before it stays.',
    fields: {
      undone: 'positions of events that made it end: they stay, and the run goes on as if they were not there',
      budget: 'limits in the place of those that the run had, limit by limit',
      model: 'of a root run: in the place of the models of every agent in its tree',
      maxTurns: 'of a root run: in the place of the turns of every agent in its tree',
      forked: 'of a root run: the session, the run and the event that everything before this was taken over from',
      without:
        'parts of the context that requests of this run go out without from here on: answers and results by their step, words as they are',
    },
  },
  'run.withdrawn': {
    says: 'A person took back what they had said: later runs go on with what was there before this one. What it did stays done.',
    fields: {},
  },
  'transcript.record': {
    says: 'A record of a transcript that nothing else was made of, as it stood there.',
    fields: {
      kind: 'what the program calls it, or why it could not be read',
      raw: 'its text, or the beginning of it',
      bytes: 'how long it is',
    },
  },
  'transcript.imported': {
    says: 'All of a transcript was taken over. The last event of its session, and the only one with a time of its own.',
    fields: {
      runs: 'how many runs were made of it, those of sub-agents included',
      answers: 'answers of models',
      results: 'results of tools',
      records: 'records that nothing else was made of',
      left: 'records that were left out, because too many stood before the first prompt',
    },
  },
};
