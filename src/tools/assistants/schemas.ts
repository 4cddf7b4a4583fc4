/** The assistants' tools as they are on the wire: inputs with their defaults, and outputs. These names are a contract. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { verification } from '../../events/verification.ts';

const processId = z.string().min(1).max(100).describe('The process_id that spawn_assistant returned');
const threadId = z.string().min(1).max(100).describe('The thread_id that spawn_assistant returned');
const waitMs = z
  .number()
  .int()
  .min(0)
  .max(limits.assistantWaitMs)
  .default(0)
  .describe('Waits up to this long and returns at once when something happens; 0 returns immediately');

export const assistant = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
});

/** Of one that has finished: what its answer was found to be worth. */
const checked = verification
  .optional()
  .describe('Once finished: verified, unverified with reasons, or unchecked (nothing was claimed and nothing demanded)');

export const processStatus = z.enum(['starting', 'running', 'finished', 'failed']);

export const listInput = z.strictObject({
  page: z.number().int().min(1).default(1),
  pageSize: z.number().int().min(1).max(limits.searchResults).default(20),
});
export const listOutput = z.object({ items: z.array(assistant), totalItems: z.number().int() });

export const searchInput = z.strictObject({
  query: z.string().max(limits.searchQueryCharacters).describe('What the assistant should be able to do, in plain words'),
  limit: z.number().int().min(1).max(limits.searchResults).default(10),
});
export const searchOutput = z.array(assistant);

export const spawnInput = z.strictObject({
  assistant_id: z.string().min(1).max(200).describe('The id of an assistant from list_assistant or search_assistant'),
  query: z.string().min(1).max(limits.promptBytes).describe('The task, with everything the assistant needs to know'),
  run_mode: z.enum(['async', 'sync']).default('async').describe('sync waits for the end; async returns at once'),
});
export const spawnOutput = z.object({
  process_id: z.string(),
  thread_id: z.string(),
  status: processStatus,
  verification: checked,
  answer: z.string().optional().describe('What it answered, when it was waited for'),
});

export const pollInput = z.strictObject({
  process_id: processId,
  include_summary: z
    .boolean()
    .default(true)
    .describe('Includes how many messages its thread has and how many of them wait for you'),
  wait_ms: waitMs,
});
export const pollOutput = z.object({
  process: z.object({
    process_id: z.string(),
    assistant_id: z.string(),
    thread_id: z.string(),
    status: processStatus,
    started_at: z.number(),
    finished_at: z.number().optional(),
    exit_code: z.number().int().optional(),
    verification: checked,
  }),
  message_summary: z
    .object({
      total_messages: z.number().int(),
      unread_messages: z.number().int(),
      last_message_at: z.number().nullable(),
    })
    .optional(),
});

export const sendInput = z.strictObject({
  to_assistant_id: z.string().min(1).max(200).describe('The assistant that is to read it'),
  thread_id: threadId,
  message: z.string().min(1).max(limits.messageBytes),
});
export const successOutput = z.object({ success: z.boolean() });

export const receiveInput = z.strictObject({
  thread_id: threadId,
  unread_only: z.boolean().default(false).describe('Only messages to you that you have not read'),
  last_n: z.number().int().min(1).max(limits.messagesPerRead).default(20).describe('The most recent ones'),
  since: z.number().optional().describe('Only messages after this time, in milliseconds since 1970'),
  mark_as_read: z.boolean().default(false).describe('Marks the messages to you among them as read'),
  wait_ms: waitMs,
});
export const receiveOutput = z.object({
  thread_id: z.string(),
  messages: z.array(
    z.object({
      id: z.string(),
      from_assistant_id: z.string(),
      to_assistant_id: z.string(),
      content: z.string(),
      created_at: z.number(),
      read_at: z.number().nullable(),
      verification: checked,
    }),
  ),
  summary: z.object({ total_fetched: z.number().int(), marked_as_read: z.number().int() }),
});

export const cancelInput = z.strictObject({ process_id: processId, reason: z.string().max(1_000).optional() });

export const answerInput = z.strictObject({
  process_id: processId,
  answer: z.string().min(1).max(limits.messageBytes).describe('The answer; yes or no where a permission is asked for'),
  question_id: z.string().max(500).optional().describe('Which question, when there are several'),
  input: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('With yes to a permission: the call is made with these arguments instead. Needs question_id'),
});

export type ListInput = z.infer<typeof listInput>;
export type ListOutput = z.infer<typeof listOutput>;
export type SearchInput = z.infer<typeof searchInput>;
export type SearchOutput = z.infer<typeof searchOutput>;
export type SpawnInput = z.infer<typeof spawnInput>;
export type SpawnOutput = z.infer<typeof spawnOutput>;
export type PollInput = z.infer<typeof pollInput>;
export type PollOutput = z.infer<typeof pollOutput>;
export type SendInput = z.infer<typeof sendInput>;
export type SuccessOutput = z.infer<typeof successOutput>;
export type ReceiveInput = z.infer<typeof receiveInput>;
export type ReceiveOutput = z.infer<typeof receiveOutput>;
export type CancelInput = z.infer<typeof cancelInput>;
export type AnswerInput = z.infer<typeof answerInput>;
