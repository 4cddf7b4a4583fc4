/**
 * Every event type and what its payload holds. The zod schemas are the source: types, validation on read and the page
 * docs/events.md all come from here. A payload may gain optional fields; anything else is a new schema version.
 */
import { z } from 'zod';
import { answering, assistantEvents, whereSaid } from './assistants.ts';
import { treeDoings } from './doings.ts';
import { artifactEvents, evidenceEvents } from './evidence.ts';
import { budget, forkedRun, goingOnEvents, inSource, sessionEvents, termsOfTree, transcriptEvents } from './going-on.ts';
import { frozenChild, openChange, sessionFacts } from './left-behind.ts';
import { assistantMessage, callCost, imagePart, jsonValue, message, seenFile, textPart, usage } from './message-schemas.ts';
import { organisationEvents } from './organisation.ts';
import { outsideReason } from './outside-reason.ts';
import { patternEvents } from './pattern-events.ts';
import { peerEvents, pushEvents } from './peers.ts';
import { runOrigin } from './run-origin.ts';
import { runStatus } from './run-status.ts';
import { clarifying, convergence, loopExit } from './tasks/convergence.ts';
import { executorEvents, ofExecutor } from './tasks/executor-events.ts';
import { taskCaptured } from './tasks/task-terms.ts';
import { workspaceEvents } from './tasks/workspace-events.ts';
import { claim, verification } from './verification.ts';

export type { Budget } from './going-on.ts';

/** What a final report says was done, in a form that the runtime can check against evidence. */
export type Claim = z.infer<typeof claim>;
/** What a result was found to be worth: verified, unverified and why, or unchecked. */
export type Verification = z.infer<typeof verification>;

const position = z.number().int().positive();
const nanoUsd = z.number().int();

/** Money and effort. An amount of money that cannot be known (no price for the model) is absent. */
export const amounts = z.object({ calls: z.number().int(), tokens: z.number().int(), nanoUsd: nanoUsd.optional() });
export type Amounts = z.infer<typeof amounts>;

export const failure = z.object({
  code: z.string(),
  message: z.string(),
  fix: z.string().optional(),
  /** Of one that took too long: what was known last of the agent elsewhere that it waited for. */
  last: z.string().optional(),
  /** A task that was begun elsewhere may still be at work: what is tried again would be done twice. */
  left: z.boolean().optional(),
  /** Which limit it was that an executor was stopped for, and other words by which failures are sorted. */
  category: z.string().optional(),
});
/** What went wrong: a code for programs, a sentence for people, and where there is one a way out. */
export type Failure = z.infer<typeof failure>;

/** How a run can end. `waiting` and `paused` are not ends: such a run waits and goes on later. */
export type RunStatus = z.infer<typeof runStatus>;
/** How a run stands. */
export type RunState = 'running' | 'waiting' | 'paused' | 'parked' | RunStatus;

export const report = z.object({
  format: z.enum(['text', 'markdown', 'json']),
  /** The answer as text; for `json` the compact JSON text. */
  body: z.string(),
  /** Written by the runtime because the agent gave no answer of its own. */
  synthetic: z.boolean().optional(),
  /** It ends where the limit of one answer was reached, so the rest is missing. */
  cut: z.boolean().optional(),
});
/** What an agent gives at its end. */
export type Report = z.infer<typeof report>;

export const answer = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('approved'),
    /** And what the rule of the question fits, later in the session. */
    remember: z.boolean().optional(),
    /** And in every later session of the project. */
    scope: z.literal('project').optional(),
    whole: z.boolean().optional(),
    /** What the call is made with instead: whoever approves it has changed it. */
    input: jsonValue.optional(),
  }),
  z.object({ kind: z.literal('denied'), note: z.string().optional() }),
  z.object({ kind: z.literal('text'), text: z.string() }),
]);
/** To a permission: approved, perhaps for the whole session, or denied; to a question: a text. */
export type Answer = z.infer<typeof answer>;

/** A question with a time limit that nobody has answered: written by the run that asked, and as final as an answer. */
const expired = z.object({ kind: z.literal('expired') });

export const modelFailure = z.object({
  kind: z.enum([
    'auth',
    'rate_limited',
    'overloaded',
    'timeout',
    'cancelled',
    'context_overflow',
    'invalid_request',
    'bad_response',
    'network',
    ...(['refused', 'script_ended'] as const),
  ]),
  message: z.string(),
  status: z.number().int().optional(),
  retryAfterMs: z.number().optional(),
  /** The request certainly never reached the provider. */
  unsent: z.boolean().optional(),
  /** The answer had begun to come when it failed. */
  begun: z.boolean().optional(),
  /** It does not pass by itself, such as a certificate that is not trusted. */
  lasting: z.boolean().optional(),
  /** It was no provider but an agent that lives elsewhere. */
  peer: z.boolean().optional(),
  ...ofExecutor,
  /** What can be done about it, where more is known than follows from the kind. */
  fix: z.string().optional(),
});
export type ModelFailure = z.infer<typeof modelFailure>;

/** How an agent was set up when its run started. Equal setups are stored once. A resumed run uses this, not the file. */
export const agentSetup = z.object({
  agent: z.string(),
  source: z.string().optional(),
  definition: jsonValue,
  system: z.string(),
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), inputSchema: jsonValue, replay: z.enum(['safe', 'never']) }),
  ),
  /** What bounds the tasks that the agent hands over, and what happens when they fail. */
  config: convergence.optional(),
});

const catalogue = {
  ...sessionEvents,
  'session.config': agentSetup,

  'run.started': z.object({
    agent: z.string(),
    input: message,
    /** How the run came to be. */
    origin: runOrigin,
    depth: z.number().int().nonnegative(),
    budget: budget.optional(),
    /** The setting that its wall time comes from, when it is not its own budget. */
    timeLimit: z.string().optional(),
    /** The earlier run of the same agent in this session whose transcript this one continues. */
    continues: z.string().optional(),
    /** The earlier run of this session whose work this one does again. */
    retries: z.string().optional(),
    /** Takes the place of the agent's own models. */
    model: z.string().optional(),
    /** What it was started with for every agent of its tree, in this life and in later ones, whatever their files say. */
    tree: termsOfTree.optional(),
    /** Says what it would hand over, and waits with it until it is resumed. */
    planOnly: z.boolean().optional(),
    /** Begins with what was said before condensed, whether there is room or not. */
    condense: z.boolean().optional(),
    /** The folder that tools may touch, when it is not the session's; holds for the runs below too. */
    workspace: z.string().optional(),
    /** What earlier runs of the session changed and has to be put back, as it was when this one began; of a root run only. */
    open: z.array(openChange).optional(),
    /** In a session that was forked. */
    forked: forkedRun.optional(),
  }),
  'run.signalled': z.object({
    signal: z.enum(['cancel', 'pause', 'resume']),
    reason: z.string().optional(),
    /** Who said so, and where, where that is known. */
    by: z.string().optional(),
    where: whereSaid.optional(),
  }),
  ...goingOnEvents,
  'run.ended': z.object({
    status: runStatus,
    report,
    finalAgent: z.string(),
    /** The run whose answer this is, when it is not this one: the last of a chain. */
    finalRun: z.string().optional(),
    /** Model calls that the answering agent has made in that run; absent when none. */
    turns: z.number().int().positive().optional(),
    /** In a team: ended with a broadcast instead of a report; with a `final` one the member leaves. */
    spoke: z.enum(['update', 'final']).optional(),
    error: failure.optional(),
    /** The tool that its loop ended with, where that was for whoever asked for the run, and what it carries. */
    exit: loopExit.optional(),
    /** Whose budget has nothing left, when that ended it: a run's id, or `project`. */
    exhausted: z.string().optional(),
    /** Why, where it lies outside of the run: once that is mended, the run can go on. */
    reason: outsideReason.optional(),
    claims: z.array(claim).optional(),
    verification,
    /** What later runs of the session go by; of a root run only. */
    facts: sessionFacts.optional(),
  }),

  'model.request': z.object({
    turn: z.number().int().positive(),
    model: z.string(),
    /** What this request adds to the transcript: the step whose outcome it is, or a message of the runtime's own. */
    added: z.array(z.union([z.object({ step: z.string(), run: z.string().optional() }), z.object({ message })])),
    /** The tools that were offered, when not all of the setup's. */
    tools: z.array(z.string()).optional(),
  }),
  'model.response': z.object({
    turn: z.number().int().positive(),
    message: assistantMessage,
    finish: z.enum(['stop', 'length', 'tool-calls', 'content-filter', 'error', 'other']),
    usage,
    requested: z.string(),
    served: z.string(),
    attempts: z.number().int().positive(),
    cost: callCost.optional(),
    durationMs: z.number(),
    ...inSource,
  }),
  'model.failed': z.object({
    turn: z.number().int().positive(),
    model: z.string(),
    attempt: z.number().int().positive(),
    error: modelFailure,
    /** The last word: nothing more is tried for this turn. */
    final: z.boolean(),
    /** How long is waited before the next attempt. */
    nextInMs: z.number().int().nonnegative().optional(),
    inDoubt: z.literal(true).optional(), // the provider may have charged for it
    /** What it took until then, and what that cost, of an executor that said so. */
    usage: usage.optional(),
    cost: callCost.optional(),
    ...inSource,
  }),

  'tool.call': z.object({
    turn: z.number().int().positive(),
    id: z.string(),
    name: z.string(),
    replay: z.enum(['safe', 'never']),
    /** Present only when it differs from what the model asked for: whoever approved the call has changed it. */
    input: jsonValue.optional(),
  }),
  'tool.result': z.object({
    id: z.string(),
    name: z.string(),
    content: z.array(z.union([textPart, imagePart])),
    isError: z.boolean().optional(),
    /** Set when `content` is cut; the whole is the event's attachment. */
    wholeBytes: z.number().int().optional(),
    /** The call was under way when the process died, and it was not made again. */
    inDoubt: z.boolean().optional(),
    /** The call was not made: its exact arguments held a secret, and what they were sealed with is not here. */
    gone: z.boolean().optional(),
    durationMs: z.number(),
    /** The versions of files, by their SHA-256, that the agent knows from this; `null` where there is none. */
    saw: z.array(seenFile).optional(),
    /** The sub-agent that answered, whether it can be asked again, and what all its answers so far are worth. */
    child: frozenChild.optional(),
  }),

  ...patternEvents,
  'agent.dismissed': z.object({ id: z.string(), agent: z.string(), run: z.string() }),

  'task.clarify': clarifying,
  /** From here on, `text` stands for everything that is not among what is left; the originals stay. */
  'task.summary': z.object({
    turn: z.number().int().positive(),
    text: z.string(),
    /** The conversation as the turn finds it, each message with the step that made it; one for each result of a turn. */
    left: z.array(
      z.union([
        z.object({ is: z.enum(['request', 'summary']), message: message.optional() }),
        z.object({ message, step: z.string().optional(), run: z.string().optional() }),
      ]),
    ),
    /** How many of the last of them no request has carried yet. */
    unsent: z.number().int().nonnegative(),
    /** The turn must be the last, and that was known before: why, and how often the agent was told so. */
    ending: z.object({ why: z.string(), told: z.number().int().nonnegative() }).optional(),
    /** A run that is taken up again goes on from here; otherwise it is gone through from its start. */
    goesOn: z.boolean(),
    /** Of a root run that depends on nothing before this but what is written here: it is read from here on. */
    cut: z
      .object({
        /** What came from outside up to this position was taken in; the rest may lie before this event and has to be read. */
        heard: z.number().int(),
        /** How long the run has been worked on. */
        activeMs: z.number(),
        facts: sessionFacts,
        /** Sub-agents that can be asked again, each with the run that called it. */
        held: z.array(z.object({ run: z.string(), child: frozenChild })),
        /** The answers of sub-agents that the run rests on. */
        rests: z.array(z.object({ id: z.string(), agent: z.string(), verification })),
        /** Where these runs stand. */
        begun: z.array(z.object({ run: z.string(), parent: z.string().optional(), continues: z.string().optional() })),
        /** For whoever shows the run from here on; absent where others work on the runs below it. */
        done: treeDoings.optional(),
      })
      .optional(),
  }),
  'task.error': failure,
  'approval.asked': z.object({
    wait: z.string(),
    tool: z.string(),
    input: jsonValue,
    why: z.string(),
    /** What the call would come to as things were then, shown in place of the arguments. */
    preview: z.string().optional(),
    /** The SHA-256 of all of what is shown. */
    shown: z.string().optional(),
    /** It was approved before, and would come to something else now. */
    again: z.boolean().optional(),
    /** What "always" would allow: the tool, and behind a blank which of its calls; absent when that cannot be said. */
    rule: z.string().optional(),
  }),
  'approval.answered': z.object({
    wait: z.string(),
    answer: z.discriminatedUnion('kind', [...answer.options, expired]),
    ...answering.shape,
    /** The SHA-256 of all of the request that it answers, whether or not anybody was shown it. */
    request: z.string().optional(),
  }),
  /** What was said "always" to for the session is taken back. It stands in the run that the session began with. */
  'approval.withdrawn': z.object({
    /** Everything that was remembered until then, without one. */
    rule: z.string().optional(),
    by: z.string(),
    where: whereSaid,
  }),

  ...evidenceEvents,
  ...artifactEvents,
  'task.captured': taskCaptured,
  'evidence.checked': z.object({
    claims: z.array(z.object({ claim, backed: z.boolean(), by: position.optional(), why: z.string() })),
    verified: z.boolean(),
    /** What was demanded by `verify`, each with why it does not hold; absent where nothing was. */
    demanded: z.array(z.object({ command: z.string(), passed: z.boolean(), why: z.string().optional() })).optional(),
  }),

  'budget.reserved': z.object({ scopes: z.array(z.string()), amounts }),
  'budget.settled': z.object({
    scopes: z.array(z.string()),
    reserved: amounts,
    spent: amounts,
    /** Nobody knows what the attempt has cost (the process died, it timed out): the whole reservation is taken as spent. */
    inDoubt: z.boolean().optional(),
    /** There was an answer, but the provider did not count all of it: what it left out is taken at its reserved value. */
    assumed: z.boolean().optional(),
  }),

  'step.recorded': z.object({ value: jsonValue }),

  ...assistantEvents,
  ...organisationEvents,
  ...pushEvents,
  ...peerEvents,
  ...executorEvents,
  ...workspaceEvents,
  ...transcriptEvents,
} as const;

export type EventType = keyof typeof catalogue;
export type Payloads = { [Type in EventType]: z.infer<(typeof catalogue)[Type]> };

export const payloadSchemas: { readonly [Type in EventType]: z.ZodType<Payloads[Type]> } = catalogue;
export const eventTypes = Object.keys(catalogue) as readonly EventType[];

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(catalogue, text);
}

/** What only the runtime writes, as proof that something happened. No tool, agent or peer can append one of these. */
export const evidenceTypes = [
  'tool.result',
  'cli.run',
  'cli.stdout',
  'cli.stderr',
  'file.diff',
  'test.report',
  'artifact.stored',
  'artifact.part',
  'artifact.manifest',
  'environment.recorded',
  'task.captured',
  'evidence.checked',
] as const satisfies readonly EventType[];

/** What may be appended from outside a run, by somebody who does not hold its lease. */
export const inboundTypes = [
  'run.signalled',
  'approval.answered',
  'approval.withdrawn',
  'prompt.queued',
  'prompt.dropped',
  'message.sent',
  'message.read',
  'push.configured',
  'push.removed',
  'push.told',
  'artifact.pinned',
  'apply.made',
  'apply.undone',
] as const satisfies readonly EventType[];
