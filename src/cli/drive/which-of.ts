/** Which of several of one name it is that asks: its id, as commands take it, and the first words of its task. */
import { type RunId, type SessionId, shortId } from '../../base/ids.ts';
import type { OpenWait } from '../../engine/port.ts';
import { textOf } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { firstLine } from '../../projections/readable.ts';
import { questionIn, type RunTree, subtree } from '../../projections/run-tree.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { askerOf } from '../view/run-summary.ts';

const TASK_CHARACTERS = 80;

export interface AskedIn {
  readonly ledger: Pick<Ledger, 'read'>;
  readonly session: SessionId;
  readonly tree: RunTree;
  readonly root: RunId;
}

/** `undefined` where the name is enough. */
export async function whichOf({ ledger, session, tree, root }: AskedIn, wait: OpenWait): Promise<string | undefined> {
  if (subtree(tree, root).filter(({ agent }) => agent === wait.agent).length < 2) return undefined;
  const [begun] = await ledger.read({ session, run: wait.run, types: ['run.started'], limit: 1 });
  const input = begun?.event_type === 'run.started' ? begun.payload.input : undefined;
  const task = input?.role === 'user' ? firstLine(safeLine(questionIn(textOf(input.content))), TASK_CHARACTERS) : '';
  return `${askerOf(wait)} ${shortId(wait.run)}${task === '' ? '' : `: “${task}”`}`;
}
