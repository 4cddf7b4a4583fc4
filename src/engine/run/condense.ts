/**
 * Condensing as a recorded step. What is left of the conversation is written down with it, so that a run that is taken up again
 * goes on from there: its cost is that of what came since, not of everything it ever did.
 */

import type { RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { type Message, type ToolResultPart, type UserMessage, userText } from '../../events/messages.ts';
import type { Checkpoint, Condensing } from '../../loop/port.ts';
import { INPUT_STEP } from '../../projections/transcript.ts';
import type { AsksAgain } from '../calls/askable-agents.ts';
import type { RestsOnAnswers } from '../evidence/sub-agent-verdicts.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import type { ReplayAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Cut } from '../record/past.ts';
import type { Remembers } from '../record/remembers.ts';
import type { StepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import type { HasChildren } from '../spawning/child-run.ts';
import type { HasAssistants } from '../spawning/spawned.ts';

/** What condensing takes: whatever the past comes down to is asked for. */
type Condenses = ReplayAccess &
  Writes &
  Remembers &
  HearsOutside &
  HearsRuns &
  HasChildren &
  HasAssistants &
  AsksAgain &
  RestsOnAnswers;

type Left = Payloads['task.summary']['left'][number];

export async function condense(
  tree: Condenses,
  node: DrivenRun,
  stepIndex: StepIndex,
  request: UserMessage,
  { turn, text, leads, kept, unsent, ending }: Condensing,
): Promise<UserMessage> {
  const step = `turn/${turn}/summary`;
  const known = node.journal.recorded('task.summary', step);
  tree.replay?.again(node.run, 'task.summary', step, { turn, text });
  const summary = userText(known?.payload.text ?? text);
  stepIndex.place(summary, step);
  if (known !== undefined) return summary;
  const itemsOf = (message: Message): Left[] =>
    message === request ? [requestItem(stepIndex, request)] : items(stepIndex, message);
  const payload = {
    turn,
    text,
    left: [...leads.flatMap(itemsOf), { is: 'summary' as const }, ...kept.flatMap(itemsOf)],
    unsent: kept.slice(kept.length - unsent).flatMap(itemsOf).length,
    // Assistants are taken up by going through the calls that spawned them.
    goesOn: tree.spawned.of(node.run).length === 0,
    ...present({ ending }),
    ...(await cutOf(tree, node, kept.slice(kept.length - unsent), stepIndex)),
  };
  tree.writer.enqueue([node.journal.event('task.summary', payload, { step, actor: 'system' })]);
  return summary;
}

/** What the past comes down to for a root run that has nobody at work for it and nothing waiting to be heard or obeyed. */
async function cutOf(
  tree: Condenses,
  node: DrivenRun,
  unsent: readonly Message[],
  stepIndex: StepIndex,
): Promise<{ readonly cut?: Cut }> {
  const foreign = unsent.some((message) => stepIndex.placeOf(message).run !== undefined);
  const { run, parent } = node;
  if (parent !== undefined || foreign) return {};
  const done = await doneBy(tree, run);
  // What is looked at and how far was heard are of one moment: whatever comes after it is read again from there.
  const { askable, verdicts, outside, messages, spawned } = tree;
  if (spawned.of(run).length > 0 || messages.unheard(run).length > 0 || outside.pauseAsked(run) !== undefined) return {};
  const state = { facts: tree.facts(), rests: verdicts.state(run), ...askable.state(run), ...done };
  return { cut: { heard: outside.heard(), activeMs: tree.activeSoFar(run), ...state } };
}

/** What others do for it in other processes is not known here. */
async function doneBy({ writer, doings, elsewhere }: Writes & Remembers & HasChildren, run: RunId): Promise<Pick<Cut, 'done'>> {
  await writer.flushed();
  const done = doings.of(run);
  return done === undefined || elsewhere !== undefined ? {} : { done };
}

/** The run's own request is in its start; a pattern's words in its place are nowhere else. */
function requestItem(stepIndex: StepIndex, request: UserMessage): Left {
  return stepIndex.stepOf(request) === INPUT_STEP ? { is: 'request' } : { is: 'request', message: request };
}

/** Each result of a turn is a step of its own. */
function items(stepIndex: StepIndex, message: Message): Left[] {
  if (message.role !== 'tool') return [{ message, ...stepIndex.placeOf(message) }];
  return message.content.map((part) => ({ message: { role: 'tool', content: [part] }, ...stepIndex.placeOf(part) }));
}

/** Where the loop of a run goes on that was condensed in an earlier life. */
export function checkpointOf(node: DrivenRun, stepIndex: StepIndex, request: UserMessage): Checkpoint | undefined {
  const last = node.journal.past.findLast((event) => event.event_type === 'task.summary');
  if (last?.event_type !== 'task.summary' || !last.payload.goesOn) return undefined;
  const { turn, text, left, unsent, ending } = last.payload;
  const message = (item: Left): Message => {
    if ('is' in item) return item.is === 'request' ? request : placed(stepIndex, userText(text), `turn/${turn}/summary`);
    if (item.step !== undefined) {
      const [part] = item.message.content;
      const about = item.message.role === 'tool' ? (part as ToolResultPart) : item.message;
      stepIndex.place(about, item.step, item.run);
    }
    return item.message;
  };
  const carried = joined(left.slice(0, left.length - unsent).map(message));
  const fresh = joined(left.slice(left.length - unsent).map(message));
  return { turn, messages: [...carried, ...fresh], unsent: fresh.length, ending };
}

function placed(stepIndex: StepIndex, message: UserMessage, step: string): UserMessage {
  stepIndex.place(message, step);
  return message;
}

/** Results of one turn are one message. */
function joined(messages: readonly Message[]): Message[] {
  const together: Message[] = [];
  for (const message of messages) {
    const last = together.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') together[together.length - 1] = joinedResults(last, message);
    else together.push(message);
  }
  return together;
}

function joinedResults(first: Extract<Message, { role: 'tool' }>, second: Extract<Message, { role: 'tool' }>): Message {
  return { role: 'tool', content: [...first.content, ...second.content] };
}
