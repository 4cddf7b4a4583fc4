/**
 * What is recorded of peers. Of those that want to be told how a task stands: whom to tell, and how far they were told. Of agents
 * that live elsewhere: what was sent, which task it became there, and what came of it.
 */
import { z } from 'zod';
import { inSource } from './going-on.ts';
import { callCost, usage } from './message-schemas.ts';

export const pushEvents = {
  /** From here on this address is told; an earlier one of the same name is not any more. */
  'push.configured': z.object({
    config: z.string(),
    url: z.string(),
    /** What the address wants to hear, in a form that is redacted wherever it is read. */
    token: z.string().optional(),
    scheme: z.string().optional(),
    credentials: z.string().optional(),
    /** The version of A2A in which it is told. */
    version: z.string(),
    /** Of which task of the run it is told, where the run went on after its end. */
    task: z.string().optional(),
  }),
  'push.removed': z.object({ config: z.string(), task: z.string().optional() }),
  /** It was told everything up to this position; or nobody tries any more, and why. */
  'push.told': z.object({
    config: z.string(),
    /** The `push.configured` that it is about. One that has replaced it was not told. */
    target: z.string().optional(),
    position: z.number().int().nonnegative(),
    failed: z.string().optional(),
    /** Of one that is told of all sessions: the place in the order of all up to which it was. */
    place: z.string().optional(),
    /** How many spans it was sent until now, and how many of them it refused. */
    spans: z.number().int().nonnegative().optional(),
    refused: z.number().int().nonnegative().optional(),
  }),
} as const;

const artifact = z.object({
  id: z.string(),
  name: z.string().optional(),
  mediaType: z.string().optional(),
  /** Of its content, as it came. */
  bytes: z.number().int().nonnegative(),
  /** The content is longer than is kept. */
  cut: z.boolean().optional(),
});

/** A file that came whole, and the artifact of ours that it is; or why it is none. */
const file = z.object({
  artifact: z.string().optional(),
  name: z.string().optional(),
  mediaType: z.string().optional(),
  bytes: z.number().int().nonnegative(),
  ref: z.string().optional(),
  why: z.string().optional(),
});

export const peerEvents = {
  /** The intent: on the disk before the message goes out. The same message has the same id, however often it is sent. */
  'peer.sent': z.object({
    message: z.string(),
    context: z.string(),
    /** The task that it is said to. */
    task: z.string().optional(),
    address: z.string(),
    /** The SHA-256 of the card that named the address. */
    card: z.string(),
    /** The same was sent before and may have been taken: it may be done twice, and paid for twice. */
    again: z.literal(true).optional(),
  }),
  /** It certainly was not taken, so it may be sent again. */
  'peer.unsent': z.object({ message: z.string(), why: z.string() }),
  /** What it became there: from here on the task is followed, and never begun again. */
  'peer.task': z.object({ task: z.string(), context: z.string() }),
  /** How the exchange ended. */
  'peer.state': z.object({
    state: z.enum(['completed', 'failed', 'rejected', 'canceled', 'input-required', 'auth-required']),
    task: z.string().optional(),
    context: z.string(),
    asked: z.string().optional(),
    /** The calls that it wants leave for, by its own ids: the answer is a yes or a no to all of them. */
    confirms: z.array(z.string()).optional(),
    artifacts: z.array(artifact).optional(),
    files: z.array(file).optional(),
    /** It made more than are kept. */
    leftOut: z.boolean().optional(),
    /** Of one that ended without an answer: what it says that it took. An answer says it itself. */
    usage: usage.optional(),
    cost: callCost.optional(),
    ...inSource,
  }),
  /** What the task made, in words, as the event's attachment. Earlier releases put a file there, in base64. */
  'peer.artifact': artifact.extend({ encoding: z.enum(['text', 'base64']) }),
  /** The end of the run reached the task, or why it did not. */
  'peer.cancelled': z.object({
    task: z.string(),
    reached: z.boolean(),
    /** It was at work: what was asked of it has no answer, and what that cost is not known. */
    unanswered: z.boolean().optional(),
    /** What it says that this took until then. */
    usage: usage.optional(),
    cost: callCost.optional(),
    state: z.string().optional(),
    why: z.string().optional(),
    ...inSource,
  }),
} as const;
