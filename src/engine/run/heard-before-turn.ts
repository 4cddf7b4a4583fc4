/**
 * What a run hears before a turn: how its assistants are, what was broadcast to it, and the messages that came for it. The
 * request that carries a text is what delivers it, so a turn that was recorded hears again exactly what it heard then; any other
 * hears what is new.
 */
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { type UserMessage, userText } from '../../events/messages.ts';
import { patternEventTypes } from '../../events/pattern-events.ts';
import { type Listener, spawnerOf } from '../../events/run-origin.ts';
import type { Incoming } from '../../loop/port.ts';
import { messageText } from '../../projections/message-text.ts';
import { broadcastMessages } from '../hearing/broadcasts-before-turn.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import { unheardBy } from '../hearing/unheard-by.ts';
import type { SentMessage } from '../hearing/unheard-messages.ts';
import type { AgentAccess, TimeAndIds } from '../options.ts';
import { type DrivenRun, speakerOf } from '../record/driven-run.ts';
import { type BroadcastReference, foreign } from '../record/said-by-others.ts';
import type { StepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import { assistantsNote } from '../spawning/assistants-note.ts';
import type { HasChildren } from '../spawning/child-run.ts';
import type { HasAssistants } from '../spawning/spawned.ts';

export async function heardBeforeTurn(
  tree: TimeAndIds & Writes & HearsOutside & HearsRuns & HasChildren & HasAssistants & Pick<AgentAccess, 'patterns'>,
  node: DrivenRun,
  stepIndex: StepIndex,
  listener: Listener | undefined,
  turn: number,
  roomTokens: number,
): Promise<Incoming> {
  const recorded = node.journal.recorded('model.request', `turn/${turn}/model`);
  const others = listener !== undefined || hasFamily(tree, node);
  // Where others work on the runs around this one, what they say is in the ledger only.
  if (recorded === undefined) await (tree.elsewhere !== undefined && others ? tree.refresh() : tree.caughtUp());
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
  tree: HearsOutside & HearsRuns & HasAssistants & Pick<AgentAccess, 'patterns'>,
  node: DrivenRun,
  turn: number,
): Promise<boolean> {
  if (node.journal.recorded('model.request', `turn/${turn + 1}/model`) !== undefined) return true;
  if (wentOnFrom(node, turn)) return false;
  // To most runs nobody ever writes: for them what the bell has told of is enough. The end is refused if something came since.
  await (hasFamily(tree, node) ? tree.refresh() : tree.caughtUp());
  return unheardBy(tree, node).length > 0;
}

/** Whether somebody went on from the end of this turn in an earlier life: it has been passed on, or the others have heard it. */
function wentOnFrom({ journal }: DrivenRun, turn: number): boolean {
  const answered = journal.recorded('model.response', `turn/${turn}/model`);
  return answered !== undefined && journal.past.some((event) => event.position > answered.position && isPatterns(event));
}

const isPatterns = ({ event_type }: LedgerEvent): boolean => patternEventTypes.some((type) => type === event_type);

/** Whether agents and clients can write to it: it is an assistant, or has spawned one. A person can write to anybody. */
function hasFamily(tree: HasAssistants, node: DrivenRun): boolean {
  return spawnerOf(speakerOf(node).started) !== undefined || tree.spawned.of(node.run).length > 0;
}

/** Not more at once than one message may hold, but always at least one. */
function freshMessages(tree: HearsRuns & Pick<AgentAccess, 'patterns'>, node: DrivenRun): SentMessage[] {
  const taken: SentMessage[] = [];
  let bytes = 0;
  for (const sent of unheardBy(tree, node)) {
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
