/**
 * A model that answers from a past session. A request is matched by who asks, how far the conversation is, and what the
 * newest messages say. When nothing was recorded for it, the run has drifted from the recording, and the failure says how.
 * The recording itself counts as the model that served, because nobody is paid for it.
 */
import { resolve } from 'node:path';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { startOf } from '../../base/whole-words.ts';
import { isEventType, type Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { type Message, textOf } from '../../events/messages.ts';
import { cancelledFailure } from '../failures.ts';
import type { Model, ModelOutcome, ModelRequest } from '../port.ts';
import { plausibleUsage } from '../usage.ts';
import { readBounded } from './script-file.ts';

interface Recorded {
  readonly agent: string;
  readonly response: Payloads['model.response'];
  /** What was new to the model when it gave this answer. */
  readonly heard: string;
  /** How often the model had spoken before, where the recording says so. */
  readonly spoken: number | undefined;
}

export function replayingModel(events: readonly LedgerEvent[], options: { readonly id: string }): Model {
  const recordings = readRecordings(events);
  const ask = async (request: ModelRequest): Promise<ModelOutcome> => {
    if (request.signal.aborted) return { kind: 'failed', error: cancelledFailure };
    const spoken = request.messages.filter((message) => message.role === 'assistant').length;
    const heard = newestWords(request.messages);
    const own = recordings.filter((one) => request.agent === undefined || one.agent === request.agent);
    const here = own.filter((one) => one.spoken === undefined || one.spoken === spoken);
    const match = here.find((one) => one.heard === heard);
    if (match === undefined)
      return { kind: 'failed', error: { kind: 'script_ended', message: explain(request, spoken, heard, own, here) } };
    const { message, finish, usage } = match.response;
    for (const part of message.content) if (part.type === 'text') request.onDelta?.({ type: 'text', text: part.text });
    // A recording may be older than the rule of what can be true.
    return { kind: 'answer', answer: { message, finish, usage: plausibleUsage(usage, false), served: options.id } };
  };
  return { id: options.id, account: options.id, ask };
}

/** The step under which a run's own request is referred to. */
const INPUT_STEP = 'input';

function readRecordings(events: readonly LedgerEvent[]): readonly Recorded[] {
  const words = new Map<string, readonly string[]>();
  const requests = new Map<string, Payloads['model.request']>();
  const continuing = new Set<string>();
  const recordings: Recorded[] = [];
  for (const event of events) {
    const run = event.run_id;
    if (event.event_type === 'run.started') {
      words.set(`${run} ${INPUT_STEP}`, messageWords(event.payload.input));
      if (event.payload.continues !== undefined) continuing.add(run);
    } else if (event.event_type === 'tool.result') words.set(`${run} ${event.step}`, [textOf(event.payload.content)]);
    else if (event.event_type === 'model.request') requests.set(`${run} ${event.payload.turn}`, event.payload);
    else if (event.event_type === 'model.response') {
      const request = requests.get(`${run} ${event.payload.turn}`);
      recordings.push({
        agent: agentOf(event),
        response: event.payload,
        heard: joinWords(request === undefined ? [] : addedWords(request, run, words)),
        spoken: continuing.has(run) ? undefined : event.payload.turn - 1,
      });
    }
  }
  return recordings;
}

function agentOf(event: EventOf<'model.response'>): string {
  return event.actor.startsWith('agent:') ? event.actor.slice('agent:'.length) : event.actor;
}

function addedWords(
  request: Payloads['model.request'],
  run: string,
  words: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  return request.added.flatMap((entry) => {
    if ('step' in entry) return words.get(`${entry.run ?? run} ${entry.step}`) ?? [];
    return entry.message.role === 'assistant' ? [] : messageWords(entry.message);
  });
}

function newestWords(messages: readonly Message[]): string {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  return joinWords(messages.slice(last + 1).flatMap(messageWords));
}

function messageWords(message: Message): readonly string[] {
  return message.role === 'tool' ? message.content.map((part) => textOf(part.content)) : [textOf(message.content)];
}

/** Results of parallel calls are recorded in the order in which they came: order does not count. */
function joinWords(words: readonly string[]): string {
  return [...words].sort().join('\n');
}

function explain(
  request: ModelRequest,
  spoken: number,
  heard: string,
  own: readonly Recorded[],
  here: readonly Recorded[],
): string {
  const who = request.agent ?? 'the agent';
  if (own.length === 0) return `The recording has no answer of ${who}.`;
  const expected = here[0];
  if (expected === undefined) return `The recording has no answer of ${who} for turn ${spoken + 1}.`;
  const told = `in turn ${spoken + 1} ${who} was told "${cut(heard)}", recorded is "${cut(expected.heard)}"`;
  return `The run has drifted from the recording: ${told}.`;
}

function cut(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > 80 ? `${startOf(flat, 80)}…` : flat;
}

/** Events from a file with one JSON object per line. Lines that are no events are left out. */
export async function readRecording(path: string, folder: string): Promise<readonly LedgerEvent[] | undefined> {
  const text = await readBounded(resolve(folder, path), 'payloadBytes');
  if (!text.ok) return undefined;
  const events: LedgerEvent[] = [];
  for (const line of text.value.split('\n')) {
    const parsed = parseJson(line);
    if (parsed.ok && isEvent(parsed.value)) events.push(parsed.value);
  }
  return events;
}

function isEvent(value: unknown): value is LedgerEvent {
  return (
    isJsonObject(value) &&
    typeof value['event_type'] === 'string' &&
    isEventType(value['event_type']) &&
    isJsonObject(value['payload'])
  );
}
