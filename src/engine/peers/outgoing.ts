/** What goes out to an agent that lives elsewhere: the message, and its intent before it. */
import type { RunId } from '../../base/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { type ImagePart, type Message, type TextPart, toolCallsOf } from '../../events/messages.ts';
import type { TurnOutcome } from '../../loop/port.ts';
import type { PeerFailure, PeerMessage, RemotePeer } from '../../peers/port.ts';
import { announceTurn, noBudget, TURN_CANCELLED } from '../calls/turn-records.ts';
import { waitForAnswer } from '../hearing/waits.ts';
import type { LedgerAccess } from '../options.ts';
import type { Writes } from '../record/writes.ts';
import { type PeerExchange, type PeerRecorder, peerModel } from './recorder.ts';

/** The message with everything that is new, to the task that waits for it or as the beginning of another. */
export async function outgoing({ tree, node, tasks }: PeerRecorder, { step, request }: PeerExchange): Promise<PeerMessage> {
  const waiting = tasks.waiting();
  const context = tasks.context() ?? (await contextBefore(tree, node.started.continues)) ?? node.run;
  const parts = tasks.isAnew()
    ? request.messages.flatMap(withQuestions)
    : request.messages.slice(request.newFrom).flatMap(partsOf);
  return {
    id: messageId(node.run, step, tasks.ended(step)),
    context,
    parts,
    ...(waiting === undefined
      ? {}
      : { task: waiting.task, unlessMoved: waiting.needs === 'auth', ...present({ confirms: waiting.confirms }) }),
  };
}

const messageId = (run: RunId, step: string, again: number): string =>
  `${run}-${step.replaceAll('/', '-')}${again === 0 ? '' : `-again-${again}`}`;

/** The conversation that this run goes on with, in the words of the peer. */
async function contextBefore(
  { ledger, session, writer }: LedgerAccess & Writes,
  run: string | undefined,
): Promise<string | undefined> {
  if (run === undefined) return undefined;
  // It may have happened in this very life: the ledger knows both.
  await writer.flushed();
  const types = ['peer.sent', 'peer.task', 'peer.state'] as const;
  const [latest] = await ledger.read({ session, run: run as RunId, types: [...types], newest: true, limit: 1 });
  return latest !== undefined && 'context' in latest.payload ? String(latest.payload.context) : undefined;
}

function partsOf(message: Message): readonly (TextPart | ImagePart)[] {
  if (message.role === 'user') return message.content;
  if (message.role === 'tool') return message.content.flatMap(({ content }) => content);
  return [];
}

/** For a task that knows nothing of the one before: the answers that there are, and to what. */
function withQuestions(message: Message): readonly (TextPart | ImagePart)[] {
  if (message.role !== 'assistant') return partsOf(message);
  return toolCallsOf(message).map(({ input }) => ({ type: 'text', text: `You asked: ${questionIn(input)}` }));
}

const questionIn = (input: unknown): string => (isJsonObject(input) ? String(input['question'] ?? '') : '');

/** The request and its reservation are committed, then the intent is on the disk: everything before it is, too. */
export async function intend(
  recorder: PeerRecorder,
  at: PeerExchange,
  peer: RemotePeer,
  { id, context, task }: PeerMessage,
): Promise<TurnOutcome | undefined> {
  const { tree, node, tasks } = recorder;
  const { step, request, attempts } = at;
  // What it costs is known when it says so; until then it is one call.
  const worst = { model: peerModel(recorder), inputTokens: 0, outputTokens: 0, amounts: { calls: 1, tokens: 0 } };
  const refused = await announceTurn(recorder, step, request, !at.announced, attempts, worst);
  at.announced = true;
  if (refused !== undefined) return refused.kind === 'refused' ? noBudget(refused) : TURN_CANCELLED;
  const again = tasks.of(step).kind === 'doubt' && !peer.idempotent ? ({ again: true } as const) : {};
  const payload = { message: id, context, ...present({ task }), address: tree.redact(peer.address), card: peer.card, ...again };
  await tree.writer.write([node.journal.event('peer.sent', payload, { step, actor: 'system' })], { sync: 'power' });
  tasks.sent(step, payload);
  return undefined;
}

/** It certainly did not arrive. */
export function unsent({ tree, node, tasks }: PeerRecorder, step: string, { message: why }: PeerFailure): void {
  const sent = tasks.of(step);
  if (sent.kind !== 'doubt') return;
  tree.writer.enqueue([node.journal.event('peer.unsent', { message: sent.message, why }, { step, actor: 'system' })]);
  tasks.unsent(step);
}

/** Whether a message that may have been taken is sent again: only when somebody, asked, says so. */
export async function mayRepeat(
  recorder: PeerRecorder,
  { step, trouble }: Pick<PeerExchange, 'step' | 'trouble'>,
): Promise<boolean> {
  const { tree, node, setup, tasks } = recorder;
  const failure = trouble ?? node.journal.recorded('model.failed', step)?.payload.error;
  const doubt = tree.redact(doubtOf(setup.definition.name, failure));
  const times = tasks.times(step);
  const answer = await waitForAnswer(tree, node, times < 2 ? `${step}/doubt` : `${step}/doubt/${times}`, {
    kind: 'question',
    payload: {
      question: `${doubt} Sent again, the work may be done twice. Send it again?`,
      choices: ['again', 'leave it'],
    },
  });
  return answer.kind === 'approved' || (answer.kind === 'text' && answer.text.trim() === 'again');
}

/** What came back is in it: whoever decides has to know whether sending it again can help. */
function doubtOf(name: string, failure: Pick<PeerFailure, 'kind' | 'message' | 'fix'> | undefined): string {
  if (failure === undefined || failure.kind === 'network') {
    const why = failure === undefined ? '' : ` (${bounded(failure.message)})`;
    return `The connection to ${name} was lost when a message had been sent, and nobody knows whether it was taken${why}.`;
  }
  const fix = failure.fix === undefined ? '' : ` ${failure.fix.slice(0, 1).toUpperCase()}${failure.fix.slice(1)}.`;
  const came = `${bounded(failure.message)}.${fix}`;
  return `A message was sent to ${name}, and what came of it does not say whether it was taken: ${came}`;
}

function bounded(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '');
  const most = limits.peerLastCharacters;
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
