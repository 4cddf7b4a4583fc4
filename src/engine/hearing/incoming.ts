/**
 * What a run hears before a turn: how its assistants are, what was broadcast to its seat in a team, and the messages that came
 * for it. The request that carries a text is what delivers it, so a turn that was recorded hears again exactly what it heard
 * then; any other hears what is new.
 */
import { limits } from '../../base/limits.ts';
import { type UserMessage, userText } from '../../events/messages.ts';
import type { Incoming } from '../../loop/port.ts';
import type { Seat } from '../../patterns/steps.ts';
import { messageText } from '../../projections/message-text.ts';
import type { StepIndex } from '../record/step-index.ts';
import { orchestrationNote } from '../spawning/orchestration-note.ts';
import { type RunNode, speakerOf, type Tree } from '../tree.ts';
import { foreign, type Reference } from './channel.ts';
import type { Letter } from './mailbox.ts';
import { broadcastMessages } from './team-news.ts';

export async function incoming(
  tree: Tree,
  node: RunNode,
  steps: StepIndex,
  seat: Seat | undefined,
  turn: number,
  roomTokens: number,
): Promise<Incoming> {
  const recorded = node.journal.recorded('model.request', `turn/${turn}/model`);
  // Where others work on the runs around this one, what they say is in the ledger only.
  if (recorded === undefined && tree.elsewhere !== undefined && (seat !== undefined || canBeWrittenTo(tree, node)))
    await tree.refresh();
  const heard = recorded === undefined ? undefined : foreign(recorded.payload);
  const note = orchestrationNote(tree, node, steps, turn, recorded !== undefined);
  const team = seat === undefined ? undefined : await broadcastMessages(tree, node, steps, seat, roomTokens, heard);
  const letters = heard === undefined ? freshLetters(tree, node) : lettersOf(tree, heard);
  const messages = [...note, ...(team?.messages ?? []), ...letters.map((letter) => placed(steps, letter))];
  return { messages, overflow: team?.overflow === true };
}

/** Whether messages came that no turn has carried. A turn that followed a first attempt to end shows that there were some. */
export async function unheard(tree: Tree, node: RunNode, turn: number): Promise<boolean> {
  if (!canBeWrittenTo(tree, node)) return false;
  if (node.journal.recorded('model.request', `turn/${turn + 1}/model`) !== undefined) return true;
  await tree.refresh();
  return tree.mailbox.unheard(speakerOf(node).run).length > 0;
}

/** Only an assistant, and who has spawned one. */
function canBeWrittenTo(tree: Tree, node: RunNode): boolean {
  return speakerOf(node).started.spawned !== undefined || tree.spawned.of(node.run).length > 0;
}

/** Not more at once than one message may hold, but always at least one. */
function freshLetters(tree: Tree, node: RunNode): Letter[] {
  const taken: Letter[] = [];
  let bytes = 0;
  for (const letter of tree.mailbox.unheard(speakerOf(node).run)) {
    bytes += Buffer.byteLength(letter.payload.content);
    if (taken.length > 0 && (bytes > limits.messageBytes || taken.length >= limits.messagesPerTurn)) break;
    taken.push(letter);
  }
  return taken;
}

const lettersOf = (tree: Tree, heard: readonly Reference[]): Letter[] =>
  heard.flatMap((reference) => tree.mailbox.find(reference) ?? []);

function placed(steps: StepIndex, letter: Letter): UserMessage {
  const message = userText(messageText(letter.payload, letter.at));
  steps.place(message, letter.step, letter.run);
  return message;
}
