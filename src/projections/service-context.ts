/** What a run is told about the assistants it has spawned and the messages that wait for it. At most so many are named. */

import { limits } from '../base/limits.ts';
import { counted } from '../base/wording.ts';
import type { Verification } from '../events/catalogue.ts';
import type { Process } from './processes.ts';

export interface AssistantState {
  readonly assistant_id: string;
  readonly process_id: string;
  readonly thread_id: string;
  readonly status: Process['status'];
  readonly verification?: Verification['state'] | undefined;
  /** Messages in its thread that the reader has not read. */
  readonly unread: number;
}

export function orchestrationText(assistants: readonly AssistantState[], pendingMessages: number): string {
  const working = assistants.filter(isWorking);
  // Those at work first, and of the others the newest: they are what is left to deal with.
  const inOrder = [...working, ...assistants.filter((one) => !isWorking(one)).reverse()];
  const left = inOrder.length - limits.contextAssistants;
  return [
    '# Assistant Orchestration',
    `- Running: ${working.length}`,
    `- Pending Messages: ${pendingMessages}`,
    ...inOrder.slice(0, limits.contextAssistants).map(line),
    ...(left > 0 ? [`- and ${counted(left, 'more assistant')}`] : []),
  ].join('\n');
}

const isWorking = ({ status }: AssistantState): boolean => status === 'starting' || status === 'running';

function line({ assistant_id, process_id, thread_id, status, unread, verification }: AssistantState): string {
  const checked = status !== 'finished' || verification === undefined ? '' : `, ${verification}`;
  const waiting = unread === 0 ? '' : `, ${unread} unread`;
  return `- ${assistant_id}: ${status}${checked}${waiting} (process_id ${process_id}, thread_id ${thread_id})`;
}
