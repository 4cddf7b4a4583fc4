/** What has a run stand still for something outside of it, what has it go on, and what it has with it wherever it goes on. */
import { z } from 'zod';
import { jsonValue } from './message-schemas.ts';
import { outsideReason } from './outside-reason.ts';

export const budget = z.object({
  usd: z.number().nonnegative().optional(),
  tokens: z.number().int().nonnegative().optional(),
  calls: z.number().int().nonnegative().optional(),
  depth: z.number().int().nonnegative().optional(),
  wallMs: z.number().int().nonnegative().optional(),
});
/** What a run and all below it may use: dollars, tokens, model calls, levels of sub-agents, milliseconds. */
export type Budget = z.infer<typeof budget>;

export const broughtRepository = z.object({
  top: z.string(),
  /** The run's folder, from the top. */
  below: z.string(),
  head: z.string(),
  /** How the files were when the run started, committed or not: what its tasks begin from. */
  base: z.string(),
});

/** The session and the run that were forked, and the last of its events that this one begins with. */
export const forkSource = z.object({
  ...{ session: z.string(), run: z.string(), event: z.string() },
  /** Parts of the context that its models are not shown: by origin, or by the step that they came from. */
  without: z.array(z.string()).optional(),
});
export type ForkSource = z.infer<typeof forkSource>;

/**
 * Of a run in a session that was forked: the id that the run has, or would have, where it all began, and the session that its
 * own id is made with. The ids of the runs below it follow from both, so that those of before are found again.
 */
export const forkedRun = z.object({ of: z.string(), in: z.string() });

/** A part of the context of a run that its models are not shown. */
const leftOut = z.object({
  origin: z.string(),
  /** Of an answer or a result: the run and the step that it came from. */
  from: z.string().optional(),
  /** Of words in a message: these. */
  text: z.string().optional(),
});
export type LeftOutPart = z.infer<typeof leftOut>;

/** It happened, and is counted, in the session that this one was forked from. */
export const inSource = { forked: z.literal(true).optional() };

/** Programs whose transcripts can be taken over. */
export const transcriptPrograms = ['claude-code', 'codex', 'opencode'] as const;
export type TranscriptProgram = (typeof transcriptPrograms)[number];
/** As people call them. */
export const programNames: Readonly<Record<TranscriptProgram, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
};

/** The transcript that a session was made of. */
export const importSource = z.object({
  program: z.enum(transcriptPrograms),
  /** The program's own id of the conversation. */
  id: z.string(),
  version: z.string().optional(),
  path: z.string(),
  bytes: z.number().int().nonnegative(),
  sha256: z.string(),
  /** The session that was made of it when it was shorter: what it has in common with this one is counted there. */
  earlier: z.string().optional(),
});
export type ImportSource = z.infer<typeof importSource>;

export const transcriptEvents = {
  /** Stood in the transcript, and nothing else was made of it. */
  'transcript.record': z.object({ kind: z.string(), raw: z.string(), bytes: z.number().int().nonnegative() }),
  /** All of the transcript was taken over: so much of each. */
  'transcript.imported': z.object({
    runs: z.number().int(),
    answers: z.number().int(),
    results: z.number().int(),
    records: z.number().int(),
    /** Records that were left out because too many stood before the first prompt. */
    left: z.number().int().optional(),
  }),
} as const;

export const sessionEvents = {
  'session.started': z.object({
    title: z.string().optional(),
    workspace: z.string(),
    /** It begins with the past of another: everything up to the `run.reopened` that says the same was taken over from there. */
    forked: forkSource.optional(),
    /** It was made of the transcript of another program: it can be read, and nothing in it goes on. */
    imported: importSource.optional(),
  }),
  /**
   * The session came in a bundle from another ledger. It is the last of its events: the session can be read, and stays as it is.
   */
  'session.imported': z.object({
    /** How many of the events came, the hash of the last of them, and that hash where they came from. */
    events: z.number().int().positive(),
    chain: z.string(),
    source: z.string(),
    /** Events whose exact payload was left out, because a secret is sealed in it. */
    sealed: z.number().int().nonnegative(),
    /** What the file was called, and its SHA-256, unpacked. */
    file: z.string(),
    bundle: z.string(),
    /** The version that made it. */
    troupe: z.string(),
    /** The name of the key that it was signed with, and whether whoever imported it had said that it must be this key. */
    signedBy: z.string().optional(),
    known: z.boolean().optional(),
  }),
} as const;

/** What holds for every agent of a tree, whatever their files say. */
export const termsOfTree = z.object({
  model: z.string().optional(),
  maxTurns: z.number().int().positive().optional(),
  vars: z.record(z.string(), z.string()).optional(),
});
export type TreeTerms = z.infer<typeof termsOfTree>;

export const goingOnEvents = {
  'run.resumed': z.object({
    owner: z.string(),
    takenOver: z.boolean(),
    /** How far what came from outside was known: a pause asked for after this position still counts. */
    heard: z.number().int().nonnegative().optional(),
  }),
  'run.paused': z.object({ reason: z.string() }),
  /** What goes with a run to machines that have nothing of its project but the ledger. */
  'session.brought': z.object({
    /** Every agent that the run can come to, as it was when the run started, with what the command changed about it. */
    agents: z.array(jsonValue),
    /** Texts of files that these agents name, by their paths. */
    files: z.record(z.string(), z.string()).optional(),
    vars: z.record(z.string(), z.string()).optional(),
    /** Models for agents that name none. */
    models: z.array(z.string()).optional(),
    /** What the settings allow, ask for and deny; whoever works on the run is not less strict. */
    permissions: z.array(jsonValue).optional(),
    /** What the settings demand of every root run. */
    verify: jsonValue.optional(),
    /** Where the run hands out tasks: the repository of its folder, whose files follow in `workspace.packed`. */
    repository: broughtRepository.optional(),
  }),
  /** A root run stands still: what it needs cannot be had just now, and everything that it could try was tried. */
  'run.parked': z.object({
    reason: outsideReason,
    error: z.object({ code: z.string(), message: z.string(), fix: z.string().optional() }),
  }),
  /** A run goes on that had ended, or goes on under other terms. What it did before counts, but for what is undone. */
  'run.reopened': z.object({
    /** Positions of events that made it end, or followed from that: they stay, and the run goes on as if they were not there. */
    undone: z.array(z.number().int().positive()),
    /** Limits in the place of those that the run had, limit by limit. */
    budget: budget.optional(),
    /** Of a root run: in the place of the models, and of the turns, of every agent in its tree from now on. */
    model: z.string().optional(),
    maxTurns: z.number().int().positive().optional(),
    /** Of a root run: everything before this was taken over from there. It cost nothing here, in money or in time. */
    forked: forkSource.optional(),
    /** Requests of this run go out without these from here on. What was said stays as it is recorded. */
    without: z.array(leftOut).optional(),
  }),
  /** A person takes back what they said: later runs go on with what was there before this one. What it did stays done. */
  'run.withdrawn': z.object({}),
} as const;
