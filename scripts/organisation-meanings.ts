/** What the events about groups, folders and waiting prompts mean, in words. */
import type { EventType } from '../src/events/catalogue.ts';
import type { organisationEvents } from '../src/events/organisation.ts';
import type { Meaning } from './event-meanings.ts';

/** Of everything that is changed about groups and folders. */
const person = {
  by: 'who did it, where they had to say so',
  where: 'where they did',
  message: 'what their request became: a repetition of it finds it',
};

type Meanings = { readonly [Type in EventType & keyof typeof organisationEvents]: Meaning<Type> };

export const organisationMeanings: Meanings = {
  'group.created': {
    says: 'Somebody keeps a group to talk to. Like all events about groups and folders it is in the session `ses_organisation`.',
    fields: {
      group: 'its id',
      name: 'its name for people',
      session: 'the session in which it talks',
      agent: 'the agent that declares the group',
      mode: 'how its workers work together',
      members: 'who is in it: name, agent, role and preferred model',
      agents: 'the definitions of all its agents as they were',
      preset: 'the preset it was made from',
      repo: 'the repository it is linked to',
      strategy: '`shared`: the project’s folder; `group`: a worktree for all; `isolated`: one for each worker',
      worktrees: 'the worktrees that are made for it',
      folder: 'the folder it lies in',
      ...person,
    },
  },
  'group.renamed': { says: 'A group has another name.', fields: { group: 'which', name: 'the new one', ...person } },
  'group.moved': { says: 'A group lies in another folder.', fields: { group: 'which', folder: 'where', ...person } },
  'group.pinned': { says: 'A group is listed first, or no longer.', fields: { group: 'which', pinned: 'whether', ...person } },
  'group.ordered': {
    says: 'A group has another place in its folder.',
    fields: { group: 'which', order: 'smaller is earlier', ...person },
  },
  'group.deleted': {
    says: 'A group and its members are closed for good.',
    fields: { group: 'which', ...person },
  },
  'group.cleaned': {
    says: 'What a deleted group had on the disk is gone.',
    fields: { group: 'which', kept: 'branches that hold work of their own and were kept' },
  },
  'folder.created': {
    says: 'There is a folder for sessions and groups.',
    fields: { folder: 'its id', name: 'its name', ...person },
  },
  'folder.renamed': { says: 'A folder has another name.', fields: { folder: 'which', name: 'the new one', ...person } },
  'folder.deleted': {
    says: 'A folder is gone; what lay in it lies in the default one.',
    fields: { folder: 'which', ...person },
  },
  'session.moved': { says: 'A session lies in another folder.', fields: { session: 'which', folder: 'where', ...person } },
  'prompt.queued': {
    says: 'A prompt for a group, or for a session, that is busy. It is answered when its turn comes, by the run with its id.',
    fields: {
      prompt: 'its id, and that of the run that will answer it',
      text: 'what it says',
      member: 'only for this member of the group',
      agent: 'whom it is for, where the session is of no group',
      person: 'who gave it and where, when they had to say who they are',
    },
  },
  'prompt.dropped': {
    says: 'A prompt that waited is not answered any more.',
    fields: { prompt: 'which', reason: 'why' },
  },
};
