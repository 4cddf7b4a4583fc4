/** What programs get of runs: the values behind `--json` of the commands that start, show and steer them. */
import { z } from 'zod';
import { answer, failure, report } from '../../events/catalogue.ts';
import { forkSource, importSource } from '../../events/going-on.ts';
import { jsonValue } from '../../events/message-schemas.ts';
import { runStatus } from '../../events/run-status.ts';
import { verification } from '../../events/verification.ts';

const milliseconds = z.number().int().nonnegative();
const count = z.number().int().nonnegative();

/** How a run stands: the same word in every command. */
export const runStanding = z.enum([...runStatus.options, 'running', 'waiting', 'paused', 'parked', 'interrupted', 'lost']);

export const worth = z.enum(['verified', 'unverified', 'unchecked']);

export const owner = z.object({ id: z.string(), pid: z.number().int(), host: z.string() });

export const cost = z.object({
  nanoUsd: z.number().describe('billionths of a dollar that are known'),
  unknownCalls: count.describe(
    'calls without a known price, also those that failed or were cancelled and may have been paid for',
  ),
});

const uncountedCalls = count.describe('calls whose tokens nobody has counted: the sums hold nothing, or not all, of them');

export const tokens = z.object({ input: count, output: count, cached: count, uncountedCalls });

const asked = {
  run: z.string(),
  agent: z.string(),
  member: z.string().optional().describe('the name that it works under, where that is another'),
  wait: z.string().describe('what --wait takes'),
  question: z.string(),
  askedAt: z.string(),
};
const permissionAsked = {
  ...asked,
  kind: z.literal('permission'),
  tool: z.string(),
  input: jsonValue,
  missing: count,
  request: z.string(),
  shown: z.string().optional(),
  rule: z.string().optional(),
};
const questionAsked = { ...asked, kind: z.literal('question'), choices: z.array(z.string()).optional() };

export const openWait = z.discriminatedUnion('kind', [z.object(permissionAsked), z.object(questionAsked)]);

const whereItWaits = {
  session: z.string(),
  root: z.string().describe('the run at the top of its tree'),
  path: z.array(z.string()).describe('the agents from the top down to who asks'),
  ageMs: milliseconds,
};
export const inbox = z.array(
  z.discriminatedUnion('kind', [
    z.object({ ...permissionAsked, ...whereItWaits }),
    z.object({ ...questionAsked, ...whereItWaits }),
  ]),
);

/** The answer that counts, to something that waited. */
export const answerGiven = z.object({
  answer,
  by: z.string().optional(),
  where: z.string().optional().describe('terminal, inbox, command, flag, ...'),
  at: z.string(),
});

const stopReason = z.string();

const summaryShape = {
  run: z.string(),
  session: z.string(),
  agent: z.string(),
  finalAgent: z.string().nullable().describe('whose answer it is, once it has ended'),
  status: runStanding,
  verification: verification.nullable(),
  report: report.nullable(),
  error: failure.nullable(),
  cutShort: z.boolean().describe('the answer ends where the limit of one answer was reached'),
  cutBy: z.enum(['maxOutputTokens', 'peerAnswerBytes', 'peerArtifacts']).nullable().describe('the name of that limit'),
  turns: count.describe('of the run and everything below it, as are the sums that follow'),
  toolCalls: count,
  modelCalls: count.describe('model calls that were answered, or may have been paid for without an answer'),
  callsGone: count.describe('calls that were not made because their exact arguments are gone'),
  unread: z.array(z.string()).describe('what people were told whose words came too late to be heard by the run'),
  runs: count,
  failedBelow: z
    .array(z.object({ run: z.string(), agent: z.string(), role: z.string().nullable(), error: failure.nullable() }))
    .describe('runs below it that failed and stayed so: what they should have done is missing in the result'),
  tokens,
  cost,
  durationMs: milliseconds,
  waits: z.array(openWait),
  loop: z
    .object({ ended: stopReason.nullable(), scores: z.array(z.number().nullable()) })
    .optional()
    .describe('of a reflect loop'),
  packages: z
    .array(
      z.object({
        task: z.string(),
        executor: z.string(),
        verify: z.array(z.string()).describe('the lines of its acceptance that are run'),
        yaml: z.string().describe('as it would be handed over'),
      }),
    )
    .optional()
    .describe('with --plan-only: the tasks that would be handed over'),
  toApply: z
    .object({ files: count })
    .optional()
    .describe('of a run that hands tasks over: how many files the accepted work changes'),
  forked: forkSource.optional().describe('where its session was forked from; the sums are those of the fork'),
  ledger: z.string(),
};
const bundleOrigin = z.object({
  ...{ file: z.string(), bundle: z.string().describe('the SHA-256 of the bundle, unpacked'), troupe: z.string(), at: z.string() },
  signedBy: z.string().optional().describe('the name of the key that it was signed with'),
});
export const summaryOfRun = z.object(summaryShape);

export const treeCall = z.object({
  name: z.string(),
  subject: z.string().describe('what it was about, in a few words'),
  state: z.enum(['running', 'done', 'failed']),
  durationMs: milliseconds.nullable(),
});

export const treeRun = z.object({
  run: z.string(),
  parent: z.string().nullable(),
  depth: count.describe('0 is the run that was asked for'),
  agent: z.string(),
  role: z.string().nullable(),
  status: runStanding,
  verification: worth.nullable(),
  error: failure.nullable(),
  turns: count.describe('of the run and everything below it, as are toolCalls, tokens and cost'),
  toolCalls: count,
  calls: z.array(treeCall).describe('the newest, in the order in which they were asked for'),
  tokens,
  cost,
  startedAt: milliseconds,
  endedAt: milliseconds.nullable(),
  nextAttemptAt: milliseconds.nullable().describe('when its model is asked again, while it cannot be asked'),
});

const groupProgress = z.object({
  run: z.string(),
  agent: z.string(),
  phase: z.enum(['planning', 'working', 'synthesising', 'evaluating', 'ended']),
  iterations: z.array(
    z.object({
      iteration: count,
      workers: z.array(
        z.object({
          worker: z.string(),
          task: z.string().nullable(),
          run: z.string().nullable(),
          state: z.enum(['assigned', 'working', 'done', 'failed']),
          verification: worth.optional(),
        }),
      ),
      score: z.number().nullable(),
      trend: z.string().nullable(),
      stalled: count,
      nudges: count,
      unknown: z.array(z.string()),
      direct: z.boolean(),
      startedAt: milliseconds,
      endedAt: milliseconds.nullable(),
    }),
  ),
  stop: stopReason.nullable(),
  summary: z.string().nullable(),
});

const processStatus = z.enum(['starting', 'running', 'finished', 'failed']);

const message = {
  id: z.string(),
  from: z.string(),
  to: z.string(),
  kind: z.enum(['report', 'question']).nullable(),
  content: z.string(),
  sentAt: milliseconds,
  includedIn: z.string().nullable(),
  readAt: milliseconds.nullable(),
  lagMs: milliseconds.nullable(),
};

const thread = z.object({
  thread: z.string(),
  process: z.string(),
  agent: z.string(),
  status: processStatus,
  pid: z.number().int().nullable(),
  total: count.describe('the newest of them are in messages'),
  messages: z.array(z.object(message)),
});

const shownRun = z.object({
  ...summaryShape,
  bundle: bundleOrigin.optional().describe('the bundle that its session came in'),
  tree: z.array(treeRun).describe('the run and every run below it, parents first'),
  groups: z.array(groupProgress),
  threads: z.array(thread),
  said: z
    .array(z.object({ run: z.string(), ...message }))
    .describe('what a person wrote to runs that have no thread, and that it came too late'),
});
const requests = z.object({
  requests: z
    .array(z.object({ run: z.string(), wait: z.string(), input: jsonValue, request: z.string(), shown: z.string().optional() }))
    .describe('with --request'),
  answered: z
    .array(
      z.object({
        ...{ run: z.string(), wait: z.string(), input: jsonValue, request: z.string(), shown: z.string().optional() },
        seen: z.boolean().describe('whoever answered said that they saw it'),
        answer: z.enum(['approved', 'denied', 'text', 'expired']),
        by: z.string().optional(),
        where: z.string().optional().describe('terminal, inbox, command, flag, ...'),
        at: z.string(),
        text: z.string().describe('how it was answered, by whom and where'),
        changed: z.string().optional().describe('what it was approved as instead'),
      }),
    )
    .describe('what was asked before and has an answer'),
});
export const shown = z.union([shownRun, requests]);

export const sessionThreads = shownRun.pick({ threads: true, said: true });

export const assistantRow = z.object({
  process: z.string().describe('its run'),
  session: z.string(),
  agent: z.string(),
  parent: z.string().nullable(),
  spawnedBy: z.string(),
  status: processStatus,
  startedAt: milliseconds,
  finishedAt: milliseconds.nullable(),
  exitCode: z.number().int().nullable(),
  pid: z.number().int().nullable().describe('the child process that hosts it; null when this process does, or none'),
  ageMs: milliseconds,
  waits: count.describe('how many questions of it are open'),
});

export const psRow = z.object({
  run: z.string(),
  session: z.string(),
  parent: z.string().nullable(),
  depth: count.describe('how many listed runs it stands below'),
  agent: z.string(),
  status: runStanding,
  state: runStanding.describe('the same as status'),
  verification: worth.nullable(),
  startedAt: milliseconds,
  endedAt: milliseconds.nullable(),
  owner: owner.nullable().describe('the process that drives it'),
  next: z.string().nullable().describe('a command that takes it further'),
  error: failure.nullable().describe('why it failed, was cancelled or stands still'),
  nextAttemptAt: milliseconds
    .nullable()
    .describe('when its model, or that of a run below it that it stands still for, is asked again, while that is out of order'),
  pid: z.number().int().nullable(),
  ageMs: milliseconds,
  cost: cost.nullable().describe('of the run and everything below it; null when its events are gone'),
  unread: count,
  oldestUnreadAt: milliseconds.nullable(),
  lagMs: milliseconds.nullable(),
  process: z
    .object({
      spawnedBy: z.string(),
      thread: z.string(),
      status: processStatus,
      exitCode: z.number().int().nullable(),
      messages: count,
      unreadByParent: count,
    })
    .nullable()
    .describe('what only a spawned run has'),
});

export const sessionRow = z.object({
  session: z.string(),
  startedAt: milliseconds,
  lastAt: milliseconds.describe('when the newest prompt was given'),
  newestRun: z.string().describe('the run of the newest prompt'),
  agent: z.string().describe('who was asked last'),
  group: z.string().nullable(),
  prompts: count,
  prompt: z.string().nullable().describe('the beginning of the first; null when its events are gone'),
  status: runStanding,
  state: runStanding.describe('the same as status'),
  verification: worth.nullable().describe('of the newest answer, once it has completed'),
  cost: cost.nullable(),
  forked: forkSource.optional().describe('the session, the run and the event that it was forked from'),
  pinned: z.boolean().describe('it is not collected'),
  held: z.boolean().describe('it is neither collected nor forgotten'),
  forgotten: z.enum(['whole', 'part']).nullable(),
  imported: importSource.pick({ program: true, id: true }).optional().describe('the transcript that it was made of'),
  bundle: bundleOrigin.optional().describe('the bundle that it came in'),
});

export const event = z.object({
  event_id: z.string(),
  parent_event_id: z.string().nullable(),
  session_id: z.string(),
  run_id: z.string(),
  timestamp: z.string(),
  actor: z.string(),
  tool: z.string().nullable(),
  event_type: z.string(),
  payload_ref: z.string(),
  attachment_ref: z.string().nullable(),
  step: z.string().nullable(),
  schema_version: count,
  position: count,
  payload: z.unknown().describe('as docs/events.md has it'),
  inexact: z.string().optional(),
  forgotten: z.string().optional().describe('its payload was forgotten: when and by whom'),
});

export const cause = z.object({
  event: z.string(),
  type: z.string(),
  parent: z.string().nullable(),
  also: z.array(z.string()).describe('what else it rests on'),
  position: count,
  time: z.string(),
  run: z.string(),
  agent: z.string(),
  text: z.string(),
  level: z.enum(['detail', 'info', 'warn', 'error']),
});

export const callCosts = {
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  nanoUsd: z.number(),
  unknownCalls: count,
  uncountedCalls,
};
export const costs = z.object({
  sessions: count,
  gone: count.describe('sessions that were collected or forgotten: what they spent is not in it'),
  lines: z.array(z.object({ agent: z.string(), model: z.string(), ...callCosts })),
  total: z.object(callCosts),
  inDoubt: z
    .object({ calls: count, tokens: count, nanoUsd: z.number() })
    .describe('calls that were cut off: counted in full, perhaps not billed'),
  days: z
    .array(z.object({ day: z.string(), ...callCosts }))
    .describe('the same by day (UTC), earliest first; only those with calls'),
  repriced: z
    .object({ prices: z.string(), recorded: z.object(callCosts) })
    .optional()
    .describe('with --prices: at which, and what was recorded at the time'),
});

export const signalled = z.object({
  run: z.string(),
  signal: z.enum(['cancel', 'pause']),
  outcome: z.enum(['accepted', 'ended']).describe('ended: it came too late'),
  live: z.boolean().describe('a process drives the run, and will hear of it'),
});

export const sent = z.object({
  run: z.string(),
  message: z.string().describe('its id, as in the ledger'),
  status: runStanding.describe('the same as state'),
  state: runStanding.describe('how the run stands: running hears it before its next turn, any other when it goes on'),
  live: z.boolean().describe('a process drives the run, and will hear of it'),
});

const recorded = z.object({
  run: z.string(),
  wait: z.string(),
  answer,
  live: z.boolean().describe('the answer is only recorded here: who drives the run goes on with it'),
});
export const answered = z.union([summaryOfRun, recorded]);
