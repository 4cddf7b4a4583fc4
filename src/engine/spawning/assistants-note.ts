/**
 * Tells a run how its assistants are and how many messages wait for it, before a turn and only when it has changed. The note is
 * recorded as it was said, so that a resumed run hears the same.
 */
import { threadOf } from '../../base/ids.ts';
import { type UserMessage, userText } from '../../events/messages.ts';
import { spawnerOf } from '../../events/run-origin.ts';
import { orchestrationText } from '../../projections/service-context.ts';
import type { HearsRuns } from '../hearing/hears.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { StepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import type { HasAssistants } from './spawned.ts';

export function assistantsNote(
  tree: Writes & HearsRuns & HasAssistants,
  node: DrivenRun,
  stepIndex: StepIndex,
  turn: number,
  begun: boolean,
): readonly UserMessage[] {
  const step = `turn/${turn}/context`;
  const known = node.journal.recorded('context.noted', step)?.payload.text;
  const text = known ?? (begun ? undefined : newText(tree, node, turn));
  if (text === undefined) return [];
  if (known === undefined)
    tree.writer.enqueue([node.journal.event('context.noted', { turn, text }, { step, actor: 'system', aside: true })]);
  const message = userText(text);
  stepIndex.place(message, step);
  return [message];
}

function newText(tree: HearsRuns & HasAssistants, node: DrivenRun, turn: number): string | undefined {
  const introduction = turn === 1 ? introduced(node) : undefined;
  const state = news(tree, node);
  if (state !== undefined) tree.spawned.told(node.run, state);
  return introduction === undefined || state === undefined ? (introduction ?? state) : `${introduction}\n\n${state}`;
}

/** Somebody who was spawned has to know by whom, and where to write. */
function introduced({ run, started }: DrivenRun): string | undefined {
  const spawned = spawnerOf(started);
  if (spawned === undefined) return undefined;
  return (
    `You were spawned by ${spawned.by} and work beside it. Your thread_id is ${threadOf(run)}: messages for you come before your ` +
    `turns, and send_message to ${JSON.stringify(spawned.by)} reaches it while you work. Your final answer reaches it by itself.`
  );
}

function news(tree: HearsRuns & HasAssistants, node: DrivenRun): string | undefined {
  const assistants = tree.spawned.of(node.run);
  const waiting = tree.messages.unheard(node.run);
  if (assistants.length === 0 && waiting.length === 0) return undefined;
  const text = orchestrationText(
    assistants.map(({ run, agent, status, result }) => {
      const thread = threadOf(run);
      const unread = waiting.filter(({ payload }) => payload.thread === thread).length;
      const verification = result()?.verification.state;
      return { assistant_id: agent, process_id: run, thread_id: thread, status: status(), verification, unread };
    }),
    waiting.length,
  );
  return text === tree.spawned.lastTold(node.run) ? undefined : text;
}
