/**
 * Processes and their threads without an engine: a real ledger in which runs are started, asked and ended by hand, and the
 * message service on top of it.
 */
import assert from 'node:assert/strict';
import type { AssistantCallOptions, Caller } from '../../../src/assistants/port.ts';
import {
  createMessageService,
  type MessageService,
  type MessageServiceOptions,
} from '../../../src/assistants/threads/message-service.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { type EventId, type RunId, type SessionId, type ThreadId, threadOf } from '../../../src/base/ids.ts';
import type { Failure, Payloads, RunStatus } from '../../../src/events/catalogue.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { userText } from '../../../src/events/messages.ts';
import type { Fence, Ledger, NewEvent } from '../../../src/ledger/port.ts';
import { pollInput, receiveInput } from '../../../src/tools/assistants/schemas.ts';
import { openTestLedger, testIds } from '../ledger/sqlite-folder.ts';

export interface TestProcess {
  readonly run: RunId;
  readonly session: SessionId;
  readonly thread: ThreadId;
  readonly fence: Fence;
  readonly agent: string;
  readonly started: EventId;
  readonly caller: Caller;
}

export interface TestFamily {
  readonly ledger: Ledger;
  readonly service: MessageService;
  /** A root run: spawned by a client, or not spawned at all. */
  root(agent: string, by?: string): Promise<TestProcess>;
  child(parent: TestProcess, agent: string, spawned?: boolean): Promise<TestProcess>;
  end(process: TestProcess, status?: RunStatus): Promise<void>;
  /** The model is asked for the first time. */
  ask(process: TestProcess): Promise<void>;
  write(process: TestProcess, ...events: Draft[]): Promise<readonly LedgerEvent[]>;
}

type Draft = {
  [Type in keyof Payloads]: { readonly type: Type; readonly payload: Payloads[Type]; readonly step?: string };
}[keyof Payloads];

export const client = (name: string): Caller => ({ kind: 'client', name });
export const quietly: AssistantCallOptions = { signal: new AbortController().signal };
export const withKey = (idempotencyKey: string): AssistantCallOptions => ({ ...quietly, idempotencyKey });

export const polling = (process: { readonly run: string }, more: Partial<Parameters<MessageService['poll']>[1]> = {}) =>
  pollInput.parse({ process_id: process.run, ...more });
export const reading = (process: { readonly thread: string }, more: Partial<Parameters<MessageService['receive']>[1]> = {}) =>
  receiveInput.parse({ thread_id: process.thread, ...more });
export const writing = (process: { readonly thread: string }, to: string, message: string) => ({
  thread_id: process.thread,
  to_assistant_id: to,
  message,
});

/** The value, or a test that fails with the reason. */
export async function got<Value>(
  outcome: Promise<{ readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Failure }>,
): Promise<Value> {
  const settled = await outcome;
  if (!settled.ok) throw new Error(`${settled.error.code}: ${settled.error.message} ${settled.error.fix ?? ''}`);
  return settled.value;
}

export async function refusalOf(
  outcome: Promise<{ readonly ok: true } | { readonly ok: false; readonly error: Failure }>,
): Promise<string> {
  const settled = await outcome;
  return settled.ok ? 'not refused' : settled.error.code;
}

export function openFamily(options: Partial<MessageServiceOptions> & { readonly path?: string } = {}): TestFamily {
  const clock = options.clock ?? systemClock;
  const ledger = options.ledger ?? openTestLedger({ path: options.path ?? ':memory:', clock });
  const service = createMessageService({ ids: testIds, ...options, ledger, clock });

  const append = async (session: SessionId, fence: Fence, events: readonly NewEvent[]) => {
    const outcome = await ledger.append({ session, fence, events });
    assert.ok(outcome.kind === 'appended', `an append ended ${outcome.kind}`);
    return outcome.events;
  };
  const write: TestFamily['write'] = (process, ...drafts) => {
    const { run, session, fence, started: cause } = process;
    // The type of a draft's payload follows from its own type.
    const events = drafts.map((draft) => ({ ...draft, run, actor: 'system', cause, at: clock.now() }) as NewEvent);
    return append(session, fence, events);
  };
  const start = async (
    at: Pick<TestProcess, 'session' | 'run' | 'fence' | 'agent'>,
    about: Pick<Payloads['run.started'], 'origin' | 'depth'>,
    cause: EventId | null,
  ) => {
    const payload = { agent: at.agent, input: userText('Do it.'), ...about };
    const event: NewEvent = { type: 'run.started', run: at.run, actor: 'system', cause, at: clock.now(), payload };
    const [started] = await append(at.session, at.fence, [event]);
    assert.ok(started !== undefined);
    const caller = { kind: 'run', run: at.run } as const;
    return { ...at, thread: threadOf(at.run), started: started.event_id, caller };
  };

  return {
    ledger,
    service,
    write,
    async root(agent, by) {
      const session = testIds.session();
      const run = testIds.run();
      const lease = await ledger.acquire(session, run);
      assert.ok(lease.kind === 'acquired');
      const origin = by === undefined ? ({ kind: 'person' } as const) : ({ kind: 'client', by } as const);
      return await start({ session, run, fence: lease.fence, agent }, { origin, depth: 0 }, null);
    },
    async child(parent, agent, spawned = true) {
      const { session, fence } = parent;
      const origin = spawned
        ? ({ kind: 'assistant', parent: parent.run, by: parent.agent } as const)
        : ({ kind: 'call', parent: parent.run } as const);
      return await start({ session, run: testIds.run(), fence, agent }, { origin, depth: 1 }, parent.started);
    },
    async end(process, status = 'completed') {
      const report = { format: 'text', body: 'done' } as const;
      const payload = { status, report, finalAgent: process.agent, verification: { state: 'unchecked' } } as const;
      await write(process, { type: 'run.ended', payload });
    },
    async ask(process) {
      await write(process, { type: 'model.request', payload: { turn: 1, model: 'test/model', added: [] }, step: 'turn/1/model' });
    },
  };
}
