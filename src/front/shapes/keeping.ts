/** What programs get of what is kept: the ledger, groups, and the cluster that works on both. */
import { z } from 'zod';
import { groupMember, organisationEvents, worktree, worktreeStrategy } from '../../events/organisation.ts';
import { verification } from '../../events/verification.ts';
import { owner, runStanding, summaryOfRun } from './runs.ts';

const count = z.number().int().nonnegative();

export const ledgerStats = z.object({
  ledger: z.string(),
  sessions: count,
  runs: count,
  events: count,
  payloads: count,
  payloadBytes: count,
  fileBytes: count,
  databaseBytes: count,
});

const value = z.union([z.string(), z.number(), z.null()]);

export const verifyReport = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sound'), sessions: count, events: count, tombstones: count, forgotten: count }),
  z.object({ kind: z.literal('broken'), event: z.string(), why: z.string() }),
  z.object({
    kind: z.literal('drifted'),
    rows: z.array(
      z.object({
        table: z.enum(['run', 'session', 'counter', 'feed']),
        name: z.string(),
        column: z.string(),
        found: value,
        expected: value,
        event: z.string().nullable(),
      }),
    ),
  }),
  z.object({ kind: z.literal('damaged'), why: z.string() }),
]);

export const rebuilt = z.object({ found: verifyReport, left: verifyReport });

export const collected = z.object({
  sessions: z.array(z.string()),
  payloads: count,
  bytes: count,
  events: z
    .array(z.object({ session: z.string(), type: z.string(), events: count }))
    .describe('of sessions that stay, those of types that are kept for a shorter time'),
  stays: z.array(z.object({ session: z.string(), why: z.string() })).describe('sessions that stay'),
  left: z.array(z.string()).describe('what could not be cleared away: collect again'),
  dryRun: z.boolean().describe('nothing was dropped'),
});

export const copied = z.object({
  from: z.string(),
  to: z.string(),
  sessions: count,
  events: count.describe('those that were not there yet'),
  payloads: count,
  counters: count,
  verified: verifyReport,
});

export const newKey = z.object({ key: z.string().describe('its name, not the key'), file: z.string() });

const groupState = z.union([runStanding, z.literal('idle')]);

const groupShape = {
  group: z.string(),
  name: z.string(),
  session: z.string(),
  agent: z.string(),
  mode: organisationEvents['group.created'].shape.mode,
  members: z.array(groupMember),
  agents: count.describe('how many; their definitions are in the ledger'),
  preset: z.string().optional(),
  repo: z.string().optional(),
  strategy: worktreeStrategy,
  worktrees: z.array(worktree),
  folder: z.string(),
  pinned: z.boolean(),
  order: z.number(),
  createdAt: z.string(),
};

export const groupMade = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('group'), ...groupShape }),
  z.object({ kind: z.literal('folder'), folder: z.string(), name: z.string() }),
]);

export const groupList = z.object({
  folders: z.array(z.object({ folder: z.string(), name: z.string(), sessions: z.array(z.string()) })),
  groups: z.array(z.object({ ...groupShape, state: groupState, queued: count })),
});

export const groupShown = z.object({
  ...groupShape,
  state: groupState,
  queue: z.array(organisationEvents['prompt.queued'].extend({ queuedAt: z.string() })),
  runs: z.array(
    z.object({
      run: z.string(),
      session: z.string(),
      parent: z.string().nullable(),
      agent: z.string(),
      state: runStanding,
      startedAt: count,
      endedAt: count.nullable(),
      owner: owner.nullable(),
      verification: verification.nullable(),
    }),
  ),
});

const kept = { kind: z.enum(['group', 'folder']), id: z.string() };

export const groupRenamed = z.object({ ...kept, name: z.string() });

export const groupMoved = z.union([
  z.object({
    ...kept,
    folder: z.string().optional(),
    pinned: z.boolean().optional(),
    order: z.number().optional(),
  }),
  z.object({ session: z.string(), folder: z.string() }),
]);

export const groupDeleted = z.object({
  ...kept,
  deleted: z.literal(true),
  branches: z.array(z.string()).describe('kept, because they hold commits of their own'),
});

export const groupSaved = z.object({
  preset: z.string(),
  path: z.string(),
  files: z.array(z.string()).optional().describe('with --squad, as warnings and copy'),
  warnings: z.array(z.string()).optional(),
  copy: z.string().optional(),
});

const queued = z.object({
  queued: z.literal(true),
  prompt: z.string().describe('the run that will answer it'),
  before: count,
  run: z.string().nullable(),
  standing: z.enum(['working', 'waiting', 'paused', 'left']),
  live: z.boolean(),
});
export const groupSent = z.union([summaryOfRun, queued]);

export const groupResumed = z.union([summaryOfRun, z.object({ group: z.string(), state: z.literal('idle') })]);

/** What giving a prompt answers with. */
export const promptGiven = z.object({
  prompt: z.string().describe('the run that answers it'),
  session: z.string(),
  outcome: z.enum(['started', 'queued']),
  before: count.describe('how many prompts are before it'),
  run: z.string().nullable().describe('the run that is worked on'),
  standing: z.enum(['working', 'waiting', 'paused', 'left']),
});

/** Prompts that wait their turn, oldest first. */
export const queueShown = z.array(organisationEvents['prompt.queued'].extend({ queuedAt: z.string() }));

export const groupSignalled = z.object({
  group: z.string(),
  signal: z.enum(['cancel', 'pause']),
  run: z.string().nullable(),
  outcome: z.enum(['accepted', 'ended', 'unknown', 'idle']),
  live: z.boolean(),
  dropped: count,
  queued: count,
});

export const clusterStatus = z.object({
  restate: z.object({ admin: z.string(), version: z.string(), nodes: count }),
  ledger: z.object({ address: z.string(), sessions: count, events: count }),
  workers: z
    .array(
      z.object({
        id: z.string(),
        uri: z.string(),
        createdAt: z.string(),
        services: z.array(z.string()),
        answers: z.boolean(),
        working: count.nullable(),
      }),
    )
    .describe('newest first'),
  underWay: z.array(z.object({ service: z.string(), status: z.string(), count })),
  runs: z.record(z.string(), count).describe('how many runs stand how'),
});
