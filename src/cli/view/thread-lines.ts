/**
 * The threads of a run's assistants, with the newest messages of each and what became of them: in which turn of its reader a
 * message was, when it was read, or since when it waits.
 */

import { threadOf } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import { hasEnded, type Process, type Processes } from '../../projections/processes.ts';
import { firstLine, readableDuration } from '../../projections/readable.ts';
import type { RunNode } from '../../projections/run-tree.ts';
import type { SessionThreads, ThreadMessage } from '../../projections/threads.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, textWidth } from '../terminal/text-width.ts';

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

const THREADS_SHOWN = 20;
const MESSAGES_SHOWN = 8;
const TEXT_CHARACTERS = 100;

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

export function saidLines(said: readonly SaidMessage[], paint: Screen['paint'], width: number): readonly string[] {
  if (said.length === 0) return [];
  const shown = said.slice(-MESSAGES_SHOWN);
  const earlier = said.length - shown.length;
  return [
    'said meanwhile:',
    ...(earlier > 0 ? [paint.dim(`  … ${earlier} earlier: --json`)] : []),
    ...shown.map((message) => messageLine(message, paint, width)),
  ];
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

export function threadLines(threads: readonly ShownThread[], paint: Screen['paint'], width: number): readonly string[] {
  const lines = threads.slice(0, THREADS_SHOWN).flatMap((one) => linesOf(one, paint, width));
  const left = threads.length - THREADS_SHOWN;
  return left > 0 ? [...lines, paint.dim(`… ${left} more threads: --json`)] : lines;
}

function linesOf(one: ShownThread, paint: Screen['paint'], width: number): readonly string[] {
  const shown = one.messages.slice(-MESSAGES_SHOWN);
  const earlier = one.total - shown.length;
  const host = one.pid === null ? '' : `, in process ${one.pid}`;
  const count = counted(one.total, 'message');
  return [
    cutToWidth(`thread ${one.thread} of ${safeLine(one.agent)}: ${one.status}${host}, ${count}`, width),
    ...(earlier > 0 ? [paint.dim(`  … ${earlier} earlier: --json`)] : []),
    ...shown.map((message) => messageLine(message, paint, width)),
  ];
}

/** `  lead → scout  “The second half.”  in turn 3 after 86ms`: what it says is cut first, its receipt never. */
function messageLine(message: ShownMessage, paint: Screen['paint'], width: number): string {
  const kind = message.kind === null ? '' : ` (${message.kind})`;
  const head = `  ${safeLine(message.from)} → ${safeLine(message.to)}${kind}  `;
  const receipt = receiptOf(message);
  const room = Math.min(TEXT_CHARACTERS, width - textWidth(head) - receipt.length - 4);
  const text = room < 4 ? '' : `“${cutToWidth(safeLine(firstLine(message.content, TEXT_CHARACTERS)), room)}”  `;
  return `${cutToWidth(head + text, Math.max(1, width - receipt.length))}${paint.dim(receipt)}`;
}

function receiptOf({ includedIn, readAt, lagMs }: ShownMessage): string {
  if (readAt === null) return lagMs === null ? 'never read' : `unread for ${readableDuration(lagMs)}`;
  const after = `after ${readableDuration(lagMs ?? 0)}`;
  return includedIn === null ? `read ${after}` : `in ${includedIn.replace(/^turn\/(\d+)\/model$/, 'turn $1')} ${after}`;
}
