/** What came of an exchange with an agent that lives elsewhere, as the turn's answer or its failure. */
import { present } from '../../base/present.ts';
import type { AssistantMessage } from '../../events/messages.ts';
import type { NewEvent } from '../../ledger/port.ts';
import type { TurnOutcome, TurnRequest } from '../../loop/port.ts';
import type { PeerFailure, PeerOutcome } from '../../peers/port.ts';
import { TURN_CANCELLED } from '../calls/turn-records.ts';
import type { Attempts } from '../spending/attempts.ts';
import { keepPeerFiles } from './kept-files.ts';
import { PASSING, type PeerExchange, type PeerRecorder, peerModel, saidCost, settledBy } from './recorder.ts';

/** The tool that a question of a peer is recorded as a call of. */
const ASK = 'ask';

/** Nobody knows whether it was taken, and nobody wants it sent again. */
export async function leftOpen(recorder: PeerRecorder, { step, request, attempts }: PeerExchange): Promise<TurnOutcome> {
  const message = 'It is not known whether the message was taken, and it was not sent again.';
  return await failed(recorder, step, request, { kind: 'refused', message }, 1, attempts);
}

export async function failed(
  recorder: PeerRecorder,
  step: string,
  { turn }: TurnRequest,
  failure: PeerFailure,
  attempt: number,
  attempts?: Attempts,
  { before = [], took }: { readonly before?: readonly NewEvent[]; readonly took?: Came } = {},
): Promise<TurnOutcome> {
  const { tree, node, setup } = recorder;
  if (node.abort.signal.aborted) return TURN_CANCELLED;
  const error = { ...failure, message: tree.redact(`${setup.definition.name}: ${failure.message}`), peer: true };
  const doubt = isUnknown(recorder, step, failure) ? { inDoubt: true as const } : {};
  const payload = { turn, model: peerModel(recorder), attempt, error, final: true, ...doubt };
  const event = node.journal.event('model.failed', payload, { step });
  const isSaid = took !== undefined && Object.keys(saidCost(took)).length > 0;
  const settled = isSaid ? attempts?.cost(settledBy(took)) : attempts?.failed(error);
  await tree.writer.write([...before, event, ...(settled?.events ?? [])], settled?.options);
  return { kind: 'failed', error };
}

/** Whether it took a message that nobody goes on with: it may have been paid for, and nobody says what. */
function isUnknown({ node, tasks }: PeerRecorder, step: string, { kind }: PeerFailure): boolean {
  if (tasks.of(step).kind === 'unsent') return false;
  const standsStill = node.parent === undefined && node.started.origin.kind === 'person' && PASSING.has(kind);
  // However often it is told, it is one call.
  return !standsStill && node.journal.recorded('model.failed', step)?.payload.inDoubt !== true;
}

type Came = Exclude<PeerOutcome, { readonly kind: 'failed' | 'stopped' }>;

/** Its files are stored; then what came, what it made and how it stands: all of it in one append. */
export async function cameBack(recorder: PeerRecorder, at: PeerExchange, came: Came, attempt: number): Promise<TurnOutcome> {
  const { tree, node, tasks, stepIndex } = recorder;
  const { step, request, attempts } = at;
  const { files, told } = await keepPeerFiles(recorder, came.task, came.files);
  const made = came.artifacts.map(({ content, ...artifact }) =>
    node.journal.event(
      'peer.artifact',
      { ...artifact, encoding: 'text' },
      { step, actor: 'system', attachment: tree.redact(content) },
    ),
  );
  const artifacts = came.artifacts.map(({ content: _content, ...artifact }) => present(artifact));
  const state = stateOf(came);
  const stood = {
    state,
    context: came.context,
    ...present({ task: came.task, artifacts: artifacts.length > 0 ? artifacts : undefined, leftOut: came.leftOut }),
    ...(files.length === 0 ? {} : { files: [...files] }),
    ...(came.kind === 'asks' ? present({ asked: came.mark, confirms: came.confirms && [...came.confirms] }) : {}),
    ...(came.kind === 'ended' ? saidCost(came) : {}),
  };
  const events = [...made, node.journal.event('peer.state', stood, { step, actor: 'system' })];
  tasks.stood(step, stood);
  if (came.kind === 'ended') {
    const why = came.message === '' ? 'It does not say why.' : told(came.message);
    const failure = { kind: 'refused' as const, message: `${ENDED[came.state]}: ${why}` };
    return await failed(recorder, step, request, failure, attempt, attempts, { before: events, took: came });
  }
  const model = peerModel(recorder);
  const { message, finish } = said(came, request.turn, (text) => tree.redact(told(text)));
  const durationMs = Math.round(tree.clock.elapsed() - at.startedAt);
  const payload = {
    turn: request.turn,
    message,
    finish,
    usage: came.usage,
    requested: model,
    served: model,
    attempts: attempt,
    durationMs,
    ...present({ cost: saidCost(came).cost }),
  };
  const event = node.journal.event('model.response', payload, { step });
  const settled = attempts.cost(settledBy(came));
  tree.writer.enqueue([...events, event, ...settled.events], settled.options);
  stepIndex.place(message, step);
  return { kind: 'answer', answer: { message, finish, usage: came.usage, served: model } };
}

const ENDED = { failed: 'it failed', rejected: 'it refused', canceled: 'it was cancelled there' } as const;

function stateOf(came: Came): 'completed' | 'failed' | 'rejected' | 'canceled' | 'input-required' | 'auth-required' {
  if (came.kind === 'answer') return 'completed';
  if (came.kind === 'ended') return came.state;
  return came.needs === 'input' ? 'input-required' : 'auth-required';
}

/** Its question is asked as an agent of our own asks one: the run waits, and the answer is the next message. */
function said(
  came: Exclude<Came, { readonly kind: 'ended' }>,
  turn: number,
  redact: (text: string) => string,
): { readonly message: AssistantMessage; readonly finish: 'stop' | 'length' | 'tool-calls' } {
  if (came.kind === 'answer') {
    const content = [{ type: 'text' as const, text: redact(came.text) }];
    return { message: { role: 'assistant', content }, finish: came.cut ? 'length' : 'stop' };
  }
  const asked = redact(came.question);
  const question = came.needs === 'input' ? asked : `It must be let in before it goes on: ${asked}`;
  const call = {
    type: 'tool-call' as const,
    id: `call_${turn}_0`,
    name: ASK,
    input: { question, ...present({ choices: came.choices && [...came.choices] }) },
  };
  return { message: { role: 'assistant', content: [call] }, finish: 'tool-calls' };
}
