/** Events for tests of folds: a hand-written session, and random ones that keep the ledger's rules (positions, causes). */
import fc from 'fast-check';
import type { EventId, PayloadRef, RunId, SessionId } from '../../src/base/ids.ts';
import type { EventType, Payloads } from '../../src/events/catalogue.ts';
import type { Actor, LedgerEvent } from '../../src/events/envelope.ts';
import { userText } from '../../src/events/messages.ts';

export const SESSION = 'ses_test' as SessionId;
export const ROOT = 'run_root01' as RunId;
const START = Date.UTC(2026, 0, 2, 3, 4, 5);

/** `at` is seconds after the session's start; `cause` the position of the event that led to this one. */
interface Place {
  readonly run?: RunId;
  readonly at?: number;
  readonly cause?: number;
  readonly actor?: Actor;
  readonly step?: string;
}

export interface EventList {
  readonly events: LedgerEvent[];
  add<Type extends EventType>(type: Type, payload: Payloads[Type], place?: Place): LedgerEvent;
}

export function eventList(): EventList {
  const events: LedgerEvent[] = [];
  return {
    events,
    add: (type, payload, place = {}) => {
      const position = events.length + 1;
      const cause = place.cause ?? position - 1;
      const event = {
        event_id: `${SESSION}.${position}` as EventId,
        parent_event_id: cause === 0 ? null : (`${SESSION}.${cause}` as EventId),
        session_id: SESSION,
        run_id: place.run ?? ROOT,
        timestamp: new Date(START + (place.at ?? position) * 1_000).toISOString(),
        actor: place.actor ?? 'system',
        tool: null,
        event_type: type,
        payload_ref: '00' as PayloadRef,
        attachment_ref: null,
        step: place.step ?? null,
        schema_version: 1,
        position,
        payload,
      } as LedgerEvent;
      events.push(event);
      return event;
    },
  };
}

export const startedAt = (seconds: number): number => START + seconds * 1_000;

export function started(
  list: EventList,
  agent: string,
  more: Partial<Payloads['run.started']> = {},
  place: Place = {},
): LedgerEvent {
  return list.add(
    'run.started',
    { agent, input: userText(`do it, ${agent}`), origin: { kind: 'person' }, depth: 0, ...more },
    place,
  );
}

export function answered(
  list: EventList,
  turn: number,
  more: { readonly tokens?: readonly [number, number]; readonly nanoUsd?: number; readonly text?: string } = {},
  place: Place = {},
): LedgerEvent {
  const [inputTokens, outputTokens] = more.tokens ?? [100, 10];
  return list.add(
    'model.response',
    {
      turn,
      message: { role: 'assistant', content: [{ type: 'text', text: more.text ?? 'Done.' }] },
      finish: 'stop',
      usage: { inputTokens, outputTokens },
      requested: 'test/model',
      served: 'test/model',
      attempts: 1,
      ...(more.nanoUsd === undefined ? {} : { cost: { nanoUsd: more.nanoUsd, prices: 'test' } }),
      durationMs: 1_200,
    },
    place,
  );
}

/** Random sessions: any mix of the events that folds look at, over a few runs, most of them started first. */
export const anyEvents: fc.Arbitrary<readonly LedgerEvent[]> = fc
  .array(fc.record({ run: fc.integer({ min: 0, max: 4 }), kind: fc.nat(15), amount: fc.nat(5_000), gap: fc.nat(90) }), {
    maxLength: 60,
  })
  .map((choices) => {
    const list = eventList();
    let at = 0;
    for (const { run, kind, amount, gap } of choices) {
      at += gap;
      addChoice(list, kind, amount, { run: `run_any${run}` as RunId, at, cause: amount % (list.events.length + 1) }, run);
    }
    return list.events;
  });

function addChoice(list: EventList, kind: number, amount: number, place: Place, run: number): LedgerEvent {
  const amounts = { calls: 1, tokens: amount, ...(amount % 3 === 0 ? {} : { nanoUsd: amount }) };
  const wait = `wait/${amount % 3}`;
  const id = `call_${amount % 4}`;
  switch (kind) {
    case 0:
    case 1:
      return started(list, `agent-${run}`, run === 0 ? {} : { origin: workerOf(`run_any${amount % run}`) }, place);
    case 2:
      return list.add('model.request', { turn: 1 + (amount % 9), model: 'test/model', added: [] }, place);
    case 3:
      return answered(list, 1 + (amount % 9), { tokens: [amount, run], ...(amount % 2 === 0 ? {} : { nanoUsd: amount }) }, place);
    case 4:
      return list.add('tool.call', { turn: 1, id, name: 'shell', replay: 'never' }, place);
    case 5:
      return list.add('tool.result', { id, name: 'shell', content: [], durationMs: amount, isError: amount % 2 === 0 }, place);
    case 6:
      return list.add('approval.asked', { wait, tool: 'shell', input: { command: 'ls' }, why: 'to look' }, place);
    case 7:
      return list.add('task.clarify', { wait, question: 'Which one?' }, place);
    case 8:
      return list.add('approval.answered', { wait, answer: { kind: 'approved' } }, place);
    case 9:
      return list.add('budget.reserved', { scopes: [place.run ?? ROOT, 'project'], amounts }, place);
    case 10: {
      const inDoubt = amount % 5 === 0;
      return list.add(
        'budget.settled',
        { scopes: [place.run ?? ROOT, 'project'], reserved: amounts, spent: amounts, inDoubt },
        place,
      );
    }
    case 11:
      return list.add('run.resumed', { owner: 'me', takenOver: amount % 2 === 0 }, place);
    case 12:
      return list.add('run.paused', { reason: 'asked to' }, place);
    case 13:
      return list.add('run.reopened', { undone: [], budget: { calls: amount } }, place);
    case 14:
      return list.add('run.parked', { reason: 'key', error: { code: 'model_auth', message: 'no' } }, place);
    default:
      return list.add(
        'run.ended',
        {
          status: 'completed',
          report: { format: 'text', body: 'Done.' },
          finalAgent: `agent-${run}`,
          verification: { state: 'unchecked' },
        },
        place,
      );
  }
}

const workerOf = (parent: string) => ({ kind: 'pattern', parent, role: 'worker' }) as const;
