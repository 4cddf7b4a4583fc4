/**
 * What people keep: groups that they talk to again and again, the folders these lie in, and the prompts that wait their turn.
 * Groups and folders are written in a session of their own, one per ledger; prompts in the session of their group.
 */
import { z } from 'zod';
import { whereSaid } from './assistants.ts';
import { jsonValue } from './message-schemas.ts';

export const groupMember = z.object({
  name: z.string(),
  agent: z.string(),
  role: z.enum(['orchestrator', 'worker', 'evaluator']),
  /** The preferred model; the agent's own otherwise. */
  model: z.string().optional(),
});
export type GroupMember = z.infer<typeof groupMember>;

export const worktreeStrategy = z.enum(['shared', 'group', 'isolated']);
/** `shared`: the project's own folder. `group`: one worktree for all. `isolated`: one for each worker. */
export type WorktreeStrategy = z.infer<typeof worktreeStrategy>;

export const worktree = z.object({
  /** Whose it is; of the whole group when absent. */
  member: z.string().optional(),
  path: z.string(),
  branch: z.string(),
});
export type Worktree = z.infer<typeof worktree>;

/** Who did it, where they had to say so, and where; what their request became, so that a repetition of it finds it. */
const person = { by: z.string().optional(), where: whereSaid.optional(), message: z.string().optional() };

export const organisationEvents = {
  'group.created': z.object({
    group: z.string(),
    name: z.string(),
    /** The session in which the group talks. */
    session: z.string(),
    /** The agent that declares the group: the orchestrator. */
    agent: z.string(),
    mode: z.enum(['broadcast', 'sequential', 'orchestrator', 'reflect']),
    members: z.array(groupMember),
    /** The definitions of all agents of the group as they were, so that it outlives the files it came from. */
    agents: z.array(jsonValue),
    preset: z.string().optional(),
    /** The repository it is linked to. */
    repo: z.string().optional(),
    strategy: worktreeStrategy,
    /** Worktrees that are made for it, and removed with it. */
    worktrees: z.array(worktree),
    folder: z.string().optional(),
    ...person,
  }),
  'group.renamed': z.object({ group: z.string(), name: z.string(), ...person }),
  'group.moved': z.object({ group: z.string(), folder: z.string(), ...person }),
  'group.pinned': z.object({ group: z.string(), pinned: z.boolean(), ...person }),
  'group.ordered': z.object({ group: z.string(), order: z.number(), ...person }),
  /** For good: nothing that comes later brings it back. */
  'group.deleted': z.object({ group: z.string(), ...person }),
  /** What a deleted group had on the disk is gone. */
  'group.cleaned': z.object({ group: z.string(), kept: z.array(z.string()).optional() }),

  'folder.created': z.object({ folder: z.string(), name: z.string(), ...person }),
  'folder.renamed': z.object({ folder: z.string(), name: z.string(), ...person }),
  'folder.deleted': z.object({ folder: z.string(), ...person }),
  'session.moved': z.object({ session: z.string(), folder: z.string(), ...person }),

  'prompt.queued': z.object({
    /** Its id, and that of the run that will answer it. */
    prompt: z.string(),
    text: z.string(),
    /** Only for this member of the group. */
    member: z.string().optional(),
    /** Whom it is for, where the session is of no group. */
    agent: z.string().optional(),
    /** Who prompted it, where they had to say so, and where. */
    person: z.object({ by: z.string(), where: whereSaid }).optional(),
  }),
  'prompt.dropped': z.object({ prompt: z.string(), reason: z.string() }),
} as const;
