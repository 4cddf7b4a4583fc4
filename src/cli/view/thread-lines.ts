/**
 * The threads of a run's assistants, with the newest messages of each and what became of them: in which turn of its reader a
 * message was, when it was read, or since when it waits.
 */

import { counted } from '../../base/wording.ts';
import type { SaidMessage, ShownMessage, ShownThread } from '../../front/shown-threads.ts';
import { firstLine, readableDuration } from '../../projections/readable.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, textWidth } from '../terminal/text-width.ts';

const THREADS_SHOWN = 20;
const MESSAGES_SHOWN = 8;
const TEXT_CHARACTERS = 100;

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
  const room = Math.min(TEXT_CHARACTERS, width - textWidth(head) - textWidth(receipt) - 4);
  const text = room < 4 ? '' : `“${cutToWidth(safeLine(firstLine(message.content, TEXT_CHARACTERS)), room)}”  `;
  return `${cutToWidth(head + text, Math.max(1, width - textWidth(receipt)))}${paint.dim(receipt)}`;
}

function receiptOf({ includedIn, readAt, lagMs }: ShownMessage): string {
  if (readAt === null) return lagMs === null ? 'never read' : `unread for ${readableDuration(lagMs)}`;
  const after = `after ${readableDuration(lagMs ?? 0)}`;
  return includedIn === null ? `read ${after}` : `in ${includedIn.replace(/^turn\/(\d+)\/model$/, 'turn $1')} ${after}`;
}
