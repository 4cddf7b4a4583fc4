/**
 * What is recorded of assistants: agents that somebody spawned and talks with while they work. Messages lie in the thread of
 * the run they concern; a receipt says in which model request a message reached its reader.
 */
import { z } from 'zod';
import { peerParts } from './message-schemas.ts';
import { verification } from './verification.ts';

/** Somebody who takes part in a thread: a run, or a client outside of Troupe that has only a name. */
export const party = z.object({
  /** The name of the agent, or of the client. */
  assistant: z.string(),
  run: z.string().optional(),
});
export type Party = z.infer<typeof party>;

/** What may be done in the name of a client that is not the owner of the project. It holds for everything below its runs, too. */
export const clientRights = z.object({
  /** The agents that it may spawn, and that agents below may spawn for it; all without it. */
  spawn: z.array(z.string()).optional(),
  /** The agents that may run commands for it. */
  commands: z.union([z.literal('all'), z.array(z.string())]),
  /** It may answer questions of its runs. */
  answers: z.boolean(),
  /** It may give permissions to its runs; otherwise they are the owner's to give. */
  approves: z.boolean(),
});
export type ClientRights = z.infer<typeof clientRights>;

/** Where a person answered, or wrote to a run. */
export const whereSaid = z.enum([
  'terminal',
  'inbox',
  'command',
  'flag',
  'library',
  'mcp',
  'a2a',
  'acp',
  'api',
  'openai',
  'agui',
]);

export const answering = z.object({
  /** A person at a machine, or the name of a caller. */
  by: z.string().optional(),
  where: whereSaid.optional(),
  /** The id that whoever answers gave to their message: sent again, it is the same answer. */
  message: z.string().optional(),
  /** The SHA-256 of that message: another one of the same id is another one. */
  digest: z.string().optional(),
  /** What that message was made of, where that was more than words. */
  parts: peerParts.optional(),
  /** The SHA-256 of what was shown to whoever answers. */
  shown: z.string().optional(),
});
/** Who answers, where, and what they were shown. */
export type Answering = z.infer<typeof answering>;

/** Begins the name of the message that tells somebody that theirs was not read: the run has ended. */
export const unreadPrefix = 'unread_';

/** Whether somebody outside is told so: an agent that wrote has a run. */
export const isToldUnread = ({ message, to }: { readonly message: string; readonly to: Party }): boolean =>
  message.startsWith(unreadPrefix) && to.run === undefined;

export const assistantEvents = {
  /** The run that the event belongs to is the owner of the thread. */
  'message.sent': z.object({
    message: z.string(),
    thread: z.string(),
    from: party,
    to: party,
    content: z.string(),
    /** A word that the author could not know: marks where the text begins and ends in the reader's prompt. */
    fence: z.string(),
    /** The SHA-256 of what a client sent under its own id: other words under it are told apart. */
    digest: z.string().optional(),
    /** What that client calls it: its own id of the message. */
    clientMessage: z.string().optional(),
    /** What that client sent, where it was more than words. */
    parts: peerParts.optional(),
    /** More than words of the sender: its final report, or a question that somebody has to answer. */
    kind: z.enum(['report', 'question']).optional(),
    /** A person has written it to a run at work, and it counts as the word of the user: who, and where. */
    person: z.object({ by: z.string(), where: whereSaid }).optional(),
    /** Of a report: what it was found to be worth. Of one that did not succeed there is nothing to say. */
    verification: verification.optional(),
  }),
  /** The message is part of a model request: from then on its reader knows it. */
  'message.included': z.object({ message: z.string(), thread: z.string(), reader: z.string(), request: z.string() }),
  /** The message was fetched by its reader and marked as read. */
  'message.read': z.object({ message: z.string(), thread: z.string(), reader: party }),

  /** What a run was told about its assistants and messages before a turn. */
  'context.noted': z.object({ turn: z.number().int().positive(), text: z.string() }),

  /** A child process hosts the run's loop from here on. */
  'process.started': z.object({ pid: z.number().int(), attempt: z.number().int().positive() }),
  'process.ended': z.object({
    pid: z.number().int(),
    exitCode: z.number().int().nullable(),
    signal: z.string().nullable(),
    /** `done`: its work was over. `stopped`: it was told to stop. Anything else ended it too early. */
    why: z.enum(['done', 'stopped', 'crashed', 'too_old']),
  }),
} as const;
