/**
 * What a run hears before a turn: how its assistants are, what was broadcast to it, and the messages that came for it. The
 * request that carries a text is what delivers it, so a turn that was recorded hears again exactly what it heard then; any other
 * hears what is new.
 */
import { limits } from '../../base/limits.ts';
import { type UserMessage, userText } from '../../events/messages.ts';
import { type Listener, spawnerOf } from '../../events/run-origin.ts';
import type { Incoming } from '../../loop/port.ts';
import { messageText } from '../../projections/message-text.ts';
import { broadcastMessages } from '../hearing/broadcasts-before-turn.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import type { SentMessage } from '../hearing/unheard-messages.ts';
import type { TimeAndIds } from '../options.ts';
import { type DrivenRun, speakerOf } from '../record/driven-run.ts';
import { type BroadcastReference, foreign } from '../record/said-by-others.ts';
import type { StepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import { assistantsNote } from '../spawning/assistants-note.ts';
import type { HasChildren } from '../spawning/child-run.ts';
import type { HasAssistants } from '../spawning/spawned.ts';

export async function heardBeforeTurn(
  tree: TimeAndIds & Writes & HearsOutside & HearsRuns & HasChildren & HasAssistants,
  node: DrivenRun,
  stepIndex: StepIndex,
  listener: Listener | undefined,
  turn: number,
  roomTokens: number,
): Promise<Incoming> {
  const recorded = node.journal.recorded('model.request', `turn/${turn}/model`);
  // Where others work on the runs around this one, what they say is in the ledger only.
  if (recorded === undefined && tree.elsewhere !== undefined && (listener !== undefined || canBeWrittenTo(tree, node)))
    await tree.refresh();
  const heard = recorded === undefined ? undefined : foreign(recorded.payload);
  const note = assistantsNote(tree, node, stepIndex, turn, recorded !== undefined);
  const broadcasts =
    listener === undefined ? undefined : await broadcastMessages(tree, node, stepIndex, listener, roomTokens, heard);
  const sentMessages = heard === undefined ? freshMessages(tree, node) : messagesIn(tree, heard);
  const messages = [...note, ...(broadcasts?.messages ?? []), ...sentMessages.map((sent) => placed(stepIndex, sent))];
  return { messages, overflow: broadcasts?.overflow === true };
}

/** Whether messages came that no turn has carried. A turn that followed a first attempt to end shows that there were some. */
export async function hasUnheardMessages(
  tree: HearsOutside & HearsRuns & HasAssistants,
  node: DrivenRun,
  turn: number,
): Promise<boolean> {
  if (!canBeWrittenTo(tree, node)) return false;
  if (node.journal.recorded('model.request', `turn/${turn + 1}/model`) !== undefined) return true;
  await tree.refresh();
  return tree.messages.unheard(speakerOf(node).run).length > 0;
}

/** Only an assistant, and who has spawned one. */
function canBeWrittenTo(tree: HasAssistants, node: DrivenRun): boolean {
  return spawnerOf(speakerOf(node).started) !== undefined || tree.spawned.of(node.run).length > 0;
}

/** Not more at once than one message may hold, but always at least one. */
function freshMessages(tree: HearsRuns, node: DrivenRun): SentMessage[] {
  const taken: SentMessage[] = [];
  let bytes = 0;
  for (const sent of tree.messages.unheard(speakerOf(node).run)) {
    bytes += Buffer.byteLength(sent.payload.content);
    if (taken.length > 0 && (bytes > limits.messageBytes || taken.length >= limits.messagesPerTurn)) break;
    taken.push(sent);
  }
  return taken;
}

const messagesIn = (tree: HearsRuns, heard: readonly BroadcastReference[]): SentMessage[] =>
  heard.flatMap((reference) => tree.messages.find(reference) ?? []);

function placed(stepIndex: StepIndex, sent: SentMessage): UserMessage {
  const message = userText(messageText(sent.payload, sent.at));
  stepIndex.place(message, sent.step, sent.run);
  return message;
}
