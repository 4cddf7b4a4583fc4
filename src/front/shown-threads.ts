/** The threads of a run's assistants and what people said to runs, with what became of each message. */
import { threadOf } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { hasEnded, type Process, type Processes } from '../projections/processes.ts';
import type { RunNode } from '../projections/run-tree.ts';
import type { SessionThreads, ThreadMessage } from '../projections/threads.ts';

/** Fields may be added, never changed. */
export interface ShownThread {
  readonly thread: string;
  readonly process: string;
  readonly agent: string;
  readonly status: Process['status'];
  readonly pid: number | null;
  /** How many messages it holds; the newest of them are in `messages`. */
  readonly total: number;
  readonly messages: readonly ShownMessage[];
}

export interface ShownMessage {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: 'report' | 'question' | null;
  readonly content: string;
  readonly sentAt: number;
  /** The step of its reader's model request that carried it. */
  readonly includedIn: string | null;
  readonly readAt: number | null;
  /** How long it lay there before it was read, or lies there unread; `null` when nobody will read it any more. */
  readonly lagMs: number | null;
}

/** What a person said to a run, or was told by it. */
export interface SaidMessage extends ShownMessage {
  readonly run: string;
}

export interface Threads {
  readonly sessionThreads: SessionThreads;
  readonly processes: Processes;
}

/** Of the spawned runs among these. */
export function threadsOf({ sessionThreads, processes }: Threads, runs: readonly RunNode[], now: number): readonly ShownThread[] {
  return runs.flatMap(({ run, endedAt }) => {
    const process = processes.find(run);
    if (process === undefined || process.spawnedBy === null) return [];
    const thread = threadOf(run);
    const messages = sessionThreads.messages(thread);
    const shown = messages.slice(-limits.messagesPerRead).map((message) => asShown(message, processes, now));
    const { agent, status } = process;
    const pid = endedAt === null ? process.pid : null;
    return [{ thread, process: run, agent, status, pid, total: messages.length, messages: shown }];
  });
}

/** What was said to those of these runs that have no thread: by a person, since nobody else can write to them. */
export function saidTo({ sessionThreads, processes }: Threads, runs: readonly RunNode[], now: number): readonly SaidMessage[] {
  const all = runs.flatMap(({ run }) => {
    if (processes.find(run)?.spawnedBy != null) return [];
    return sessionThreads.messages(threadOf(run)).map((message) => ({ run, ...asShown(message, processes, now) }));
  });
  return all.toSorted((left, right) => left.sentAt - right.sentAt).slice(-limits.messagesPerRead);
}

function asShown(message: ThreadMessage, processes: Processes, now: number): ShownMessage {
  const { id, from, to, kind = null, content, createdAt, includedIn, readAt } = message;
  const reader = to.run === undefined ? undefined : processes.find(to.run);
  const inVain = readAt === null && reader !== undefined && hasEnded(reader);
  return {
    id,
    from: from.assistant,
    to: to.assistant,
    kind,
    content,
    sentAt: createdAt,
    includedIn,
    readAt,
    lagMs: inVain ? null : Math.max(0, (readAt ?? now) - createdAt),
  };
}
