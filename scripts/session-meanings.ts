/** What the events about a session's beginning and what goes with it mean, in words. */
import type { Meaning } from './event-meanings.ts';

type About = 'session.started' | 'session.brought';

export const sessionMeanings: { readonly [Type in About]: Meaning<Type> } = {
  'session.started': {
    says: 'A session began. Always the first event of its session, and the only one without a cause.',
    fields: { title: 'a name for people', workspace: 'the folder that tools may touch' },
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
};
