/**
 * Events of what a transcript holds, in the order in which it holds it: the same events for the same items, at the same
 * positions, so that an import that was cut off goes on where it stopped. A prompt begins a run, and the next prompt, or the end
 * of the transcript, ends it. Nothing of it is evidence: what a result is worth stays unchecked.
 */

import { TroupeError } from '../base/errors.ts';
import { eventId, forkedRunId, type RunId, type SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { EventType, Payloads } from '../events/catalogue.ts';
import type { Actor } from '../events/envelope.ts';
import { type ImportSource, programNames } from '../events/going-on.ts';
import { textOf, toolCallsOf } from '../events/messages.ts';
import type { NewEvent } from '../ledger/port.ts';
import type { Prices } from '../models/port.ts';
import { boundResult } from '../tools/bounded.ts';
import { costOfAnswer } from './cost.ts';
import { textParts } from './fields.ts';
import type { Item, ItemOf, TranscriptHead } from './items.ts';

export interface RecorderOptions {
  readonly session: SessionId;
  readonly source: ImportSource;
  readonly head: TranscriptHead;
  /** Where the transcript does not name its folder. */
  readonly workspace: string;
  readonly prices: Pick<Prices, 'cost' | 'version'>;
  /** Whether another session counts this answer already. */
  readonly isCounted: (key: string, step: string) => boolean;
}

/** With the root run that it belongs to. */
export interface RecordedEvent {
  readonly event: NewEvent;
  readonly root: RunId;
  readonly position: number;
}

export interface Recorder {
  take(item: Item): readonly RecordedEvent[];
  /** The ends of what has not ended, and what was taken over in all. */
  end(now: number): readonly RecordedEvent[];
  readonly counts: Readonly<Counts>;
}

type Counts = Payloads['transcript.imported'];

interface Run {
  readonly run: RunId;
  readonly key: string;
  readonly name: string;
  /** The event that it began because of. */
  readonly begunBy: number;
  /** The last event of it. */
  last: number;
  turn: number;
  model: string | undefined;
  /** Calls of the latest answer, by their ids. */
  calls: Map<string, { readonly step: string; readonly name: string; readonly position: number }>;
  /** What the next request adds. */
  added: Payloads['model.request']['added'][number][];
  isSetUp: boolean;
  said: string;
  isOpen: boolean;
  stopped: ItemOf<'stopped'> | undefined;
  failed: string | undefined;
}

export function createRecorder(options: RecorderOptions): Recorder {
  return new TranscriptRecorder(options);
}

class TranscriptRecorder implements Recorder {
  readonly counts: Counts = { runs: 0, answers: 0, results: 0, records: 0 };
  readonly #options: RecorderOptions;
  /** By the names of their agents; the one that was talked with has none. */
  readonly #runs = new Map<string | undefined, Run>();
  readonly #before: ItemOf<'record'>[] = [];
  readonly #heardBefore: Run['added'] = [];
  #out: RecordedEvent[] = [];
  #position = 0;
  #at: number;
  #root: RunId | undefined;
  #system = '';
  #model: string | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#at = options.head.at;
  }

  take(item: Item): readonly RecordedEvent[] {
    this.#at = item.at ?? this.#at;
    this.#apply(item);
    return this.#taken();
  }

  end(now: number): readonly RecordedEvent[] {
    const root = this.#runs.get(undefined);
    if (root === undefined) throw nothingIn(this.#options.source.path);
    this.#closeAll();
    this.#at = now;
    this.#add(root, 'transcript.imported', present(this.counts) as Counts);
    return this.#taken();
  }

  #taken(): readonly RecordedEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #apply(item: Item): void {
    switch (item.is) {
      case 'about':
        this.#model = item.model ?? this.#model;
        if (item.agent === undefined && item.system !== undefined) this.#system = item.system;
        break;
      case 'prompt':
        if (item.under === undefined) this.#prompt(item);
        else this.#begin(item);
        break;
      case 'heard':
        this.#heard(item);
        break;
      case 'answer':
        this.#answer(item);
        break;
      case 'failed':
        this.#failed(item);
        break;
      case 'result':
        this.#result(item);
        break;
      case 'summary':
        this.#summary(item);
        break;
      case 'stopped': {
        const run = this.#runs.get(item.agent);
        if (run?.isOpen === true) run.stopped = item;
        break;
      }
      default:
        this.#record(item);
    }
  }

  /** What was said before the first prompt is heard with it. */
  #heard({ agent, content }: ItemOf<'heard'>): void {
    const message = { role: 'user' as const, content: [...content] };
    if (agent !== undefined || this.#position > 0) this.#runOf({ agent }).added.push({ message });
    else if (this.#heardBefore.length < limits.transcriptRecordsBefore) this.#heardBefore.push({ message });
  }

  /** A prompt to the agent that was talked with: the run before it is over. */
  #prompt(item: ItemOf<'prompt'>): void {
    const before = this.#runs.get(undefined);
    this.#closeAll();
    const { head, source, workspace, session } = this.#options;
    const key = `${this.counts.runs} ${item.key}`;
    const run = forkedRunId(session, key);
    this.#root = run;
    if (this.#position === 0) {
      const started = { workspace: head.folder ?? workspace, ...present({ title: head.title }), imported: source };
      this.#emit(run, 'session.started', started, 'system', { cause: null });
    }
    const name = head.program;
    const origin = { kind: 'person', client: programNames[name] } as const;
    const payload = { agent: name, input: { role: 'user' as const, content: [...item.content] }, origin, depth: 0 };
    this.#open(undefined, { run, key, name }, { ...payload, ...present({ continues: before?.run }) }, 1);
    for (const one of this.#before.splice(0)) this.#record(one);
  }

  #begin(item: ItemOf<'prompt'>): void {
    const under = item.under ?? { name: 'sub-agent' };
    const parent = this.#runs.get(under.agent) ?? this.#runOf({});
    const call = parent.calls.get(under.call ?? '');
    const run = forkedRunId(this.#options.session, `agent ${item.key}`);
    const origin = { kind: 'call', parent: parent.run } as const;
    const depth = Math.min(limits.transcriptDepth, parent === this.#runs.get(undefined) ? 1 : 2);
    const payload = { agent: under.name, input: { role: 'user' as const, content: [...item.content] }, origin, depth };
    const cause = call?.position ?? parent.last;
    this.#open(item.agent, { run, key: `agent ${item.key}`, name: under.name }, payload, cause);
  }

  #open(agent: string | undefined, of: Pick<Run, 'run' | 'key' | 'name'>, payload: Payloads['run.started'], cause: number): void {
    this.counts.runs += 1;
    const last = this.#emit(of.run, 'run.started', payload, 'user', { cause, step: 'input' });
    const state = {
      begunBy: cause,
      turn: 0,
      model: this.#model,
      calls: new Map(),
      added: [...this.#heardBefore.splice(0), { step: 'input' }],
      isSetUp: false,
      said: '',
    };
    this.#runs.set(agent, { ...of, last, ...state, isOpen: true, stopped: undefined, failed: undefined });
  }

  /** What goes on without a prompt has one that says so. */
  #runOf({ agent }: Pick<Item, 'agent'>): Run {
    const run = this.#runs.get(agent);
    if (run?.isOpen === true) return run;
    const content = textParts('(What was asked does not stand in the transcript.)');
    if (agent === undefined) this.#prompt({ is: 'prompt', key: 'unknown', content });
    else this.#begin({ is: 'prompt', key: `${agent} ${this.counts.runs}`, agent, content, under: { name: 'sub-agent' } });
    return this.#runs.get(agent) as Run;
  }

  #request(run: Run, model: string): number {
    if (!run.isSetUp) {
      const system = run === this.#runs.get(undefined) ? this.#system : '';
      const setup = { agent: run.name, definition: { name: run.name, models: [model] }, system, tools: [] };
      this.#add(run, 'session.config', setup, { step: 'setup' });
      run.isSetUp = true;
    }
    run.turn += 1;
    const added = run.added.splice(0);
    return this.#add(run, 'model.request', { turn: run.turn, model, added }, { step: `turn/${run.turn}/model`, own: true });
  }

  #answer(item: ItemOf<'answer'>): void {
    const run = this.#runOf(item);
    const { head, prices, isCounted } = this.#options;
    const model = item.model ?? run.model ?? this.#model ?? 'unknown';
    run.model = model;
    this.#request(run, model);
    const step = `turn/${run.turn}/model`;
    const cost = costOfAnswer(item, model, prices, head);
    const payload: Payloads['model.response'] = {
      ...{ turn: run.turn, message: item.message, finish: item.finish, usage: item.usage, requested: model },
      ...{ served: item.served ?? model, attempts: 1, durationMs: item.durationMs ?? 0 },
      ...present({ cost }),
      ...(isCounted(run.key, step) ? { forked: true as const } : {}),
    };
    this.#add(run, 'model.response', payload, { step, own: true });
    this.counts.answers += 1;
    run.added.push({ step });
    run.failed = undefined;
    run.stopped = undefined;
    run.said = textOf(item.message.content.filter((part) => part.type === 'text')) || run.said;
    run.calls = new Map();
    for (const [index, { id, name }] of toolCallsOf(item.message).entries()) {
      const called = { turn: run.turn, id, name, replay: 'never' as const };
      const place = `turn/${run.turn}/tool/${index}`;
      const position = this.#add(run, 'tool.call', called, { step: place, own: true, tool: name });
      run.calls.set(id, { step: place, name, position });
    }
  }

  #failed(item: ItemOf<'failed'>): void {
    const run = this.#runOf(item);
    const model = run.model ?? this.#model ?? 'unknown';
    this.#request(run, model);
    const error = { kind: 'bad_response' as const, message: item.message, ...present({ status: item.status }) };
    this.#add(run, 'model.failed', { turn: run.turn, model, attempt: 1, error, final: true }, { step: `turn/${run.turn}/model` });
    run.failed = item.message;
  }

  #result(item: ItemOf<'result'>): void {
    const run = this.#runOf(item);
    const call = run.calls.get(item.call);
    const name = call?.name ?? item.name ?? 'unknown';
    // A result of no call that is known: behind those that are.
    const step = call?.step ?? `turn/${Math.max(1, run.turn)}/tool/${run.calls.size + 1_000}`;
    this.#closeBelow(item.call, run);
    const place = { step, tool: name, ...present({ cause: call?.position }) };
    for (const change of item.changes ?? []) this.#add(run, 'file.diff', this.#changeHere(change), place);
    const { content, whole, wholeBytes } = boundedContent(item.content);
    const payload = {
      ...{ id: item.call, name, content, durationMs: item.durationMs ?? 0 },
      ...(item.isError === true ? { isError: true } : {}),
      ...present({ wholeBytes }),
    };
    this.#add(run, 'tool.result', payload, { ...place, ...present({ attachment: whole }) });
    this.counts.results += 1;
    run.added.push({ step });
  }

  /** As in every session: by its path from the folder that was worked in, where it lies in there. */
  #changeHere({ path, diff, ...change }: Payloads['file.diff']): Payloads['file.diff'] {
    const { head, workspace } = this.#options;
    const below = `${head.folder ?? workspace}/`;
    const here = path.startsWith(below) ? path.slice(below.length) : path;
    return { path: here, ...change, diff: boundResult(diff.replaceAll(path, here), limits.toolResponseMaxBytes).text };
  }

  /** The sub-agent that the call began has given what it gives. */
  #closeBelow(call: string, parent: Run): void {
    const begun = parent.calls.get(call)?.position;
    for (const run of this.#runs.values()) if (run.isOpen && begun !== undefined && run.begunBy === begun) this.#close(run);
  }

  #summary(item: ItemOf<'summary'>): void {
    const run = this.#runOf(item);
    const turn = run.turn + 1;
    const left = [{ is: 'summary' as const }];
    this.#add(run, 'task.summary', { turn, text: item.text, left, unsent: 0, goesOn: true }, { step: `turn/${turn}/summary` });
    run.added = [];
  }

  #record(item: ItemOf<'record'>): void {
    const run = this.#runs.get(item.agent) ?? this.#runs.get(undefined);
    if (run === undefined) {
      if (this.#before.length < limits.transcriptRecordsBefore) this.#before.push(item);
      else this.counts.left = (this.counts.left ?? 0) + 1;
      return;
    }
    const { kind, raw, bytes } = item;
    this.#add(run, 'transcript.record', { kind, raw, bytes });
    this.counts.records += 1;
  }

  #closeAll(): void {
    for (const agent of [...this.#runs.keys()].reverse()) {
      const run = this.#runs.get(agent);
      if (run?.isOpen === true) this.#close(run);
      if (agent !== undefined) this.#runs.delete(agent);
    }
  }

  #close(run: Run): void {
    const { status, body, error } = endOf(run);
    const report = { format: 'markdown' as const, body, ...(body === '' ? { synthetic: true } : {}) };
    const ended = {
      ...{ status, report, finalAgent: run.name, verification: { state: 'unchecked' as const } },
      ...present({ turns: run.turn === 0 ? undefined : run.turn, error }),
    };
    this.#add(run, 'run.ended', ended, { step: 'end', own: true });
    run.isOpen = false;
  }

  #add<Type extends EventType>(run: Run, type: Type, payload: Payloads[Type], place: Place = {}): number {
    const actor: Actor = place.own === true ? `agent:${run.name}` : 'system';
    const position = this.#emit(run.run, type, payload, actor, { ...place, cause: place.cause ?? run.last });
    run.last = position;
    return position;
  }

  #emit<Type extends EventType>(
    run: RunId,
    type: Type,
    payload: Payloads[Type],
    actor: Actor,
    { cause, step, tool, attachment }: Omit<Place, 'cause'> & { readonly cause: number | null },
  ): number {
    this.#position += 1;
    const event = {
      ...{ type, run, actor, payload, at: this.#at, cause: cause === null ? null : eventId(this.#options.session, cause) },
      ...present({ step, tool: tool?.slice(0, limits.transcriptNameCharacters), attachment }),
    } as NewEvent;
    this.#out.push({ event, root: this.#root ?? run, position: this.#position });
    return this.#position;
  }
}

interface Place {
  readonly cause?: number | undefined;
  readonly step?: string | undefined;
  readonly tool?: string | undefined;
  readonly attachment?: string | undefined;
  /** The agent itself did it. */
  readonly own?: boolean | undefined;
}

type End = Pick<Payloads['run.ended'], 'status' | 'error'> & { readonly body: string };

function endOf({ stopped, failed, said, calls, turn }: Run): End {
  const body = stopped?.body ?? said;
  if (stopped?.status === 'completed') return { status: 'completed', body };
  if (stopped?.status === 'cancelled') return { status: 'cancelled', body };
  const message = failed ?? (stopped === undefined ? undefined : 'It failed.');
  if (message !== undefined) return { status: 'failed', body, error: { code: 'in_transcript', message } };
  if (turn > 0 && calls.size === 0) return { status: 'completed', body };
  const cut = 'The transcript ends, or goes on with another prompt, before there is an answer.';
  return { status: 'cancelled', body, error: { code: 'transcript_ends', message: cut } };
}

function boundedContent(content: Payloads['tool.result']['content']) {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const whole = texts.join('\n');
  const cut = boundResult(whole, limits.toolResponseMaxBytes);
  if (cut.wholeBytes === undefined) return { content: [...content] };
  const others = content.filter((part) => part.type !== 'text');
  return { content: [...textParts(cut.text), ...others], whole, wholeBytes: cut.wholeBytes };
}

const nothingIn = (path: string): TroupeError =>
  new TroupeError('transcript_empty', `Nothing was asked or answered in ${path}.`, {
    fix: 'Take a transcript of a conversation that has begun.',
  });
