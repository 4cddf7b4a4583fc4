/** What the events about domains, merges and what is applied mean, in words. */
import type { EventType } from '../src/events/catalogue.ts';
import type { workspaceEvents } from '../src/events/tasks/workspace-events.ts';
import type { Meaning } from './event-meanings.ts';

type Meanings = { readonly [Type in EventType & keyof typeof workspaceEvents]: Meaning<Type> };

export const workspaceMeanings: Meanings = {
  'workspace.packed': {
    says: 'A part of the repository that a run brings along to the workers of a cluster. The bytes are attached.',
    fields: { head: 'the commit whose files they are', index: 'which part, from 0', bytes: 'how many' },
  },
  'workspace.kept': {
    says: 'On a cluster: what has changed at the place of a task since it was kept last. Contents are attached in order.',
    fields: {
      task: 'whose place; absent for what was not committed where the run started',
      by: 'the process that kept it',
      point: 'its how many-th',
      files:
        'the files: mode and length, a text that held a secret (sealed), `back` when it is as at the beginning; else it is gone',
      without: 'files that hold a secret which cannot be sealed: they are not kept',
    },
  },
  'domain.leased': {
    says: 'A task has these files to itself. Like `domain.released` it is in the session `ses_workspaces`.',
    fields: {
      token: 'its number, greater than that of every lease before it: an earlier one of the same task no longer holds',
      task: 'whose',
      session: 'the session of the task',
      run: 'who would go on with the task: when that run has ended, so has the lease',
      repo: 'the top of the repository, or the folder',
      include: 'what it may write; everything, when empty',
      exclude: 'what of that it may not',
      noTouch: 'what it must not touch',
      insteadOf: 'the lease of the same task that this one takes the place of',
      assigned: 'on a cluster: the run goes on by itself, so the lease lasts while nobody works on it',
    },
  },
  'domain.released': {
    says: 'A lease has ended.',
    fields: {
      token: 'which',
      why: '`done`: the task gave it back; `ended`: its run had ended; `left`: nobody drives its run any more',
    },
  },
  'apply.made': {
    says: 'A person brought the result of a run to their files, or to a branch (`troupe apply`).',
    fields: {
      apply: 'its id',
      repo: 'the top of the repository',
      base: 'the commit that the work began at',
      patch: 'what was applied',
      branch: 'the branch that was made; absent when the files were changed',
      commit: 'what it points to',
      files: 'which files',
      more: 'how many further files, too many to be listed',
    },
  },
  'apply.undone': { says: 'A person took back what they had applied.', fields: { apply: 'which' } },
};
