/** What is recorded of a turn whoever answers it: the request with its reservation, what it carried, and what came of it. */
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { listenerOf } from '../../events/run-origin.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { CANCELLED, type TurnOutcome, type TurnRequest } from '../../loop/port.ts';
import type { HearsRuns } from '../hearing/hears.ts';
import type { ReplayAccess } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { foreign, references } from '../record/said-by-others.ts';
import type { StepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import type { Attempts, GivenUp, Refused } from '../spending/attempts.ts';
import type { Exhausted } from '../spending/spending.ts';
import type { WorstCase } from '../spending/worst-case.ts';

export interface TurnRecorder {
  readonly tree: Writes & HearsRuns & ReplayAccess;
  readonly node: DrivenRun;
  readonly setup: AgentSetup;
  readonly stepIndex: StepIndex;
}

export const TURN_CANCELLED: TurnOutcome = { kind: 'failed', error: { kind: 'cancelled', message: CANCELLED } };
export const noBudget = ({ scope, message }: Exhausted): TurnOutcome => ({ kind: 'no_budget', scope, message });

/** What came of the turn before. Where a run is played again, it is said what would be asked now. */
export async function recordedOutcome(
  recorder: TurnRecorder,
  step: string,
  request: TurnRequest,
): Promise<TurnOutcome | undefined> {
  const { replay } = recorder.tree;
  if (replay === undefined) return knownOutcome(recorder, step);
  const { node } = recorder;
  replay.again(node.run, 'model.request', step, requestOf(recorder, request));
  const known = knownOutcome(recorder, step);
  if (known?.kind !== 'answer') node.lastKnown = replay.end(node.run)?.error?.last;
  const outcome = await replay.outcome(node.run, step, known, node.abort.signal);
  await replay.due(node.run, node.abort.signal);
  return outcome;
}

function knownOutcome({ node, stepIndex }: TurnRecorder, step: string): TurnOutcome | undefined {
  const response = node.journal.recorded('model.response', step);
  if (response !== undefined) {
    const { message, finish, usage, served } = response.payload;
    stepIndex.place(message, step);
    return { kind: 'answer', answer: { message, finish, usage, served } };
  }
  const failed = node.journal.recorded('model.failed', step);
  return failed?.payload.final === true ? { kind: 'failed', error: failed.payload.error } : undefined;
}

/** Writes the intent, if it is not there yet, and the reservation of one attempt, and waits until they are durable. */
export async function announceTurn(
  recorder: TurnRecorder,
  step: string,
  request: TurnRequest,
  first: boolean,
  attempts: Attempts,
  worst: WorstCase,
): Promise<Refused | GivenUp | undefined> {
  const { tree, node, setup } = recorder;
  const events = [];
  const undo = node.journal.mark();
  if (first && node.journal.recorded('model.request', step) === undefined) {
    const offered = request.tools.length >= setup.tools.length + 1 ? {} : { tools: request.tools.map((tool) => tool.name) };
    const asked = requestOf(recorder, request);
    events.push(
      node.journal.event('model.request', { ...asked, ...offered }, { step }),
      ...receipts(tree, node, step, asked.added),
    );
  }
  const written = await attempts.reserve(worst, events);
  if ('kind' in written) {
    undo();
    return written;
  }
  for (const event of written) noteHeard(tree, node, event);
  return undefined;
}

/** All of it but the tools: which can be named just now is known only when it is asked for the first time. */
function requestOf({ setup, stepIndex }: TurnRecorder, { turn, messages, newFrom }: TurnRequest): Payloads['model.request'] {
  return { turn, model: setup.models[0] ?? '', added: stepIndex.added(messages.slice(newFrom)) };
}

/** Says of each message that this request carries that it has reached its reader. */
function receipts(tree: HearsRuns, node: DrivenRun, request: string, added: Payloads['model.request']['added']): NewEvent[] {
  return references(added).flatMap((reference) => {
    const sent = tree.messages.find(reference);
    if (sent === undefined) return [];
    const { message, thread } = sent.payload;
    const payload = { message, thread, reader: node.run, request };
    return [node.journal.event('message.included', payload, { step: sent.step, actor: 'system', aside: true })];
  });
}

function noteHeard(tree: HearsRuns, { started }: DrivenRun, event: LedgerEvent): void {
  const listener = listenerOf(started);
  if (event.event_type === 'message.included') tree.messages.heard(event.payload.message);
  if (event.event_type === 'model.request' && listener !== undefined) tree.broadcasts.heard(listener, foreign(event.payload));
}

/** The reservation of a call that a crash cut off: the provider may have charged for it, so it counts as spent. */
export function settleDoubt({ tree, node }: TurnRecorder, step: string): void {
  const reserved = node.journal.recorded('budget.reserved', step);
  if (reserved === undefined) return;
  const settled = node.journal.recorded('budget.settled', step);
  if (settled !== undefined && settled.position > reserved.position) return;
  const { scopes, amounts } = reserved.payload;
  const payload = { scopes, reserved: amounts, spent: amounts, inDoubt: true };
  tree.writer.enqueue([node.journal.event('budget.settled', payload, { step, actor: 'system' })]);
}
