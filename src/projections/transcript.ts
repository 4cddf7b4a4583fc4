/**
 * The messages of each run, folded from events. Order is stored, never recomputed: every `model.request` lists what it
 * added, so the transcript of a run is what its requests carried, followed by what has come since.
 */
import type { Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { LeftOutPart } from '../events/going-on.ts';
import { type Message, type ToolCallPart, type ToolResultPart, textOf, toolCallsOf, userText } from '../events/messages.ts';
import { withoutParts } from './context/context-parts.ts';
import { messageText } from './message-text.ts';
import { broadcastText, isBroadcast } from './patterns/broadcast-text.ts';

/** The step that holds a run's own request. */
export const INPUT_STEP = 'input';

/** Where what was said is in the ledger, by identity: whoever goes on with a conversation can still refer to it. */
const origins = new WeakMap<Message | ToolResultPart, string>();

/** Its run and step, if it came from a transcript. */
export const originOfSaid = (item: Message | ToolResultPart): string | undefined => origins.get(item);

export interface Transcripts {
  apply(event: LedgerEvent): void;
  /** What was said up to the end of a run whose events are not applied. */
  seed(run: string, messages: readonly Message[]): void;
  /** The conversation of a run so far, earlier runs that it continues included. */
  of(run: string): Message[];
  /** The same in a form that can be continued: every call has a result. */
  closed(run: string): Message[];
}

interface RunTranscript {
  readonly continues: string | undefined;
  readonly input: Message;
  /** What has its place in the conversation. */
  placed: Placed[];
  /** Outcomes of steps that no request has carried yet. */
  pending: Map<string, Message>;
  /** How it was before the latest request. */
  before?: { readonly position: number; readonly placed: number; readonly pending: ReadonlyMap<string, Message> };
  /** What others said and this run had taken in when it was condensed, as it read it: nobody else's reading of the same. */
  readonly takenIn: Map<string, string>;
  condensed: boolean;
  /** What its models are not shown. */
  without: readonly LeftOutPart[];
}

interface Placed {
  readonly step: string | undefined;
  readonly message: Message;
}

type Added = Payloads['model.request']['added'][number];

/** What others said, by run and step, as the reader sees it: the requests of those who heard it refer to it. */
type Said = Map<string, (reader: string) => string>;

export function createTranscripts(): Transcripts {
  const runs = new Map<string, RunTranscript>();
  const said: Said = new Map();
  const seeds = new Map<string, readonly Message[]>();
  const of = (id: string): Message[] => {
    const run = runs.get(id);
    if (run === undefined) return [...(seeds.get(id) ?? [])];
    const before = run.continues === undefined || run.condensed ? [] : closeOpenCalls(of(run.continues));
    const own = merged([...run.pending].map(([step, message]) => ({ step, message })));
    return shownOf([...before, ...merged(run.placed), ...own], run.without);
  };
  return {
    apply(event) {
      if (event.event_type === 'run.started') {
        const { input } = event.payload;
        // None goes on with itself, whatever a ledger says.
        const continues = event.payload.continues === event.run_id ? undefined : event.payload.continues;
        origins.set(input, `${event.run_id} ${INPUT_STEP}`);
        runs.set(event.run_id, { continues, input, placed: [], pending: new Map([[INPUT_STEP, input]]), ...fresh() });
        return;
      }
      noteSaid(said, event);
      const run = runs.get(event.run_id);
      if (run !== undefined) applyTo(run, event, said);
    },
    seed: (run, messages) => void seeds.set(run, messages),
    of,
    closed: (run) => closeOpenCalls(of(run)),
  };
}

const fresh = (): Pick<RunTranscript, 'takenIn' | 'condensed' | 'without'> => ({
  ...{ takenIn: new Map(), condensed: false, without: [] },
});

/** What stands in the place of something came from where that came from. */
function shownOf(messages: Message[], without: readonly LeftOutPart[]): Message[] {
  const shown = withoutParts(messages, without, originOfSaid);
  for (const [index, message] of shown.entries()) {
    const before = messages[index];
    if (before === undefined || before === message) continue;
    sameOrigin(before, message);
    if (before.role === 'tool' && message.role === 'tool')
      for (const [at, part] of message.content.entries()) sameOrigin(before.content[at], part);
  }
  return [...shown];
}

function sameOrigin(before: Message | ToolResultPart | undefined, after: Message | ToolResultPart): void {
  const origin = before && origins.get(before);
  if (origin !== undefined) origins.set(after, origin);
}

function noteSaid(said: Said, event: LedgerEvent): void {
  const key = `${event.run_id} ${event.step}`;
  const { timestamp } = event;
  if (isBroadcast(event)) said.set(key, (reader) => broadcastText(event.payload, reader));
  else if (event.event_type === 'message.sent') said.set(key, () => messageText(event.payload, timestamp));
}

function applyTo(run: RunTranscript, event: LedgerEvent, said: Said): void {
  switch (event.event_type) {
    case 'context.noted':
      run.pending.set(event.step ?? '', userText(event.payload.text));
      break;
    case 'model.response':
      origins.set(event.payload.message, `${event.run_id} ${event.step}`);
      run.pending.set(event.step ?? '', event.payload.message);
      break;
    case 'tool.result':
      run.pending.set(event.step ?? '', { role: 'tool', content: [resultFrom(event)] });
      break;
    case 'task.summary':
      condense(run, event.step ?? '', event.payload);
      break;
    case 'model.request':
      run.before = { position: event.position, placed: run.placed.length, pending: new Map(run.pending) };
      for (const item of event.payload.added) place(run, item, event.run_id, said);
      // A pattern may have put its own words in the place of the request.
      run.pending.delete(INPUT_STEP);
      break;
    case 'run.reopened':
      takeBack(run, event.payload.undone);
      run.without = [...run.without, ...(event.payload.without ?? [])];
      break;
    default:
  }
}

function resultFrom({ run_id, step, payload }: Extract<LedgerEvent, { event_type: 'tool.result' }>): ToolResultPart {
  const part = resultPart(payload);
  origins.set(part, `${run_id} ${step}`);
  return part;
}

/** A request that nobody answered is put anew when its run goes on, and not always in the same words. */
function takeBack(run: RunTranscript, undone: readonly number[]): void {
  const { before } = run;
  if (before === undefined || !undone.includes(before.position)) return;
  run.placed.length = before.placed;
  run.pending = new Map([...before.pending, ...run.pending]);
}

function place(run: RunTranscript, item: Added, reader: string, said: Said): void {
  if ('message' in item) {
    run.placed.push({ step: undefined, message: item.message });
    return;
  }
  if (item.run !== undefined) {
    const key = `${item.run} ${item.step}`;
    const text = run.takenIn.get(key) ?? said.get(key)?.(reader);
    if (text !== undefined) run.placed.push({ step: undefined, message: userText(text) });
    return;
  }
  const message = run.pending.get(item.step);
  run.pending.delete(item.step);
  if (message !== undefined) run.placed.push({ step: item.step, message });
}

/** Afterwards the run holds what was left, whether what came before was seen or not. */
function condense(run: RunTranscript, step: string, { text, left, unsent }: Payloads['task.summary']): void {
  const carried = left.slice(0, left.length - unsent);
  run.placed = carried.map((item): Placed => {
    if (!('is' in item)) return { step: item.step, message: item.message };
    return item.is === 'summary' ? { step, message: userText(text) } : { step: INPUT_STEP, message: item.message ?? run.input };
  });
  for (const item of left.slice(left.length - unsent)) {
    if ('is' in item || item.step === undefined) continue;
    const { message } = item;
    if (item.run === undefined) run.pending.set(item.step, message);
    else if (message.role === 'user') run.takenIn.set(`${item.run} ${item.step}`, textOf(message.content));
  }
  run.condensed = true;
}

/** Results of one turn are one message, as the model saw them. */
function merged(items: readonly Placed[]): Message[] {
  const messages: Message[] = [];
  for (const { message } of items) {
    const last = messages.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') {
      messages[messages.length - 1] = { role: 'tool', content: [...last.content, ...message.content] };
    } else messages.push(message);
  }
  return messages;
}

/** Providers refuse a call without a result. A report that ended its run, or a call that a crash cut off, gets one here. */
function closeOpenCalls(messages: readonly Message[]): Message[] {
  const closed: Message[] = [];
  for (const [index, message] of messages.entries()) {
    closed.push(message);
    if (message.role !== 'assistant') continue;
    // A call's result stands right behind it: ids alone would not do, since some providers use them again in a later turn.
    const next = messages[index + 1];
    const results = next?.role === 'tool' ? next.content : [];
    const open = toolCallsOf(message).filter((call) => !results.some((result) => result.id === call.id));
    if (open.length > 0) closed.push({ role: 'tool', content: open.map(done) });
  }
  return merged(closed.map((message) => ({ step: undefined, message })));
}

const done = ({ id, name }: ToolCallPart): ToolResultPart => ({
  type: 'tool-result',
  id,
  name,
  content: [{ type: 'text', text: 'Done.' }],
});

export function resultPart(payload: Extract<LedgerEvent, { event_type: 'tool.result' }>['payload']): ToolResultPart {
  const { id, name, content, isError } = payload;
  return { type: 'tool-result', id, name, content, ...(isError === true ? { isError } : {}) };
}
