/**
 * The steps of one trajectory, event by event. An answer of a model is a step, which is told when all that it called has come to
 * its result; whatever happened meanwhile follows it. Holds one answer, and nothing of those that were told.
 */
import type { EventId } from '../../base/ids.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { EventType, Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { textOf, toolCallsOf } from '../../events/messages.ts';
import { spendingTypes } from '../../projections/costs.ts';
import { reopenedText, termsText } from '../../projections/lines/fork-lines.ts';
import { atifContent, metricsOf, spokenIn, toolCallsIn, withExtra } from './content.ts';
import type { AtifContent, AtifResult, AtifStep, AtifToolCall, TrajectoryRef } from './shapes.ts';

/** All other events make no step and cost nothing. */
export const stepTypes = [
  ...(['run.started', 'run.reopened', 'run.ended', 'session.config', 'context.noted', 'task.summary'] as const),
  ...(['model.request', 'tool.call', 'tool.result', 'approval.answered', 'executor.call', 'executor.result'] as const),
  ...spendingTypes,
] as const satisfies readonly EventType[];

/** Words of another run that a request has taken in, as its reader saw them. */
export interface HeardThere {
  readonly text: string;
  readonly byPerson: boolean;
}

export interface StepsOf {
  readonly copiedTo: number;
  readonly undone: ReadonlySet<number>;
}

/** A run that began below this one. */
export interface BegunBelow extends Pick<LedgerEvent, 'event_id' | 'position' | 'timestamp'> {
  readonly cause: EventId | null;
  readonly text: string;
  readonly ref: TrajectoryRef;
}

type Draft = Omit<AtifStep, 'step_id'>;

interface Open {
  readonly draft: Draft;
  /** What was asked, each with the id that the model gave it. */
  readonly calls: { readonly id: string; call: AtifToolCall; isDone: boolean }[];
  readonly results: AtifResult[];
  /** Runs that a call began, until it has its result. */
  readonly refs: Map<string, TrajectoryRef[]>;
}

export class TrajectorySteps {
  readonly #of: StepsOf;
  #count = 0;
  #ready: AtifStep[] = [];
  #open: Open | undefined;
  readonly #behind: Draft[] = [];
  /** Calls of the open answer, by the event with which they were made. */
  readonly #made = new Map<EventId, string>();
  /** Answers of people to what a step asked. */
  readonly #allowed = new Map<string, JsonObject>();
  readonly #executing = new Map<string, EventOf<'executor.call'>>();
  #input: AtifContent = '';
  #system = '';
  #hasAnswered = false;
  /** Whoever works here makes calls of its own, and nobody knows how many. */
  #isElsewhere = false;

  constructor(of: StepsOf) {
    this.#of = of;
  }

  /** How many were told. */
  get count(): number {
    return this.#count;
  }

  /** The steps that are whole with this event. `heard`: by run and step, what its request refers to. */
  apply(event: LedgerEvent, heard: ReadonlyMap<string, HeardThere>): readonly AtifStep[] {
    this.#take(event, heard);
    return this.#told();
  }

  /** A run below this one begins here. */
  began(begun: BegunBelow): readonly AtifStep[] {
    const { cause, timestamp, text, ref } = begun;
    const call = cause === null ? undefined : this.#made.get(cause);
    if (call === undefined || this.#open === undefined) {
      const observation = { results: [{ subagent_trajectory_ref: [ref] }] };
      this.#say({ timestamp, source: 'agent', message: text, llm_call_count: 0, observation, ...this.#placed(begun) });
    } else this.#open.refs.set(call, [...(this.#open.refs.get(call) ?? []), ref]);
    return this.#told();
  }

  end(): readonly AtifStep[] {
    this.#close();
    return this.#told();
  }

  #told(): readonly AtifStep[] {
    const told = this.#ready;
    this.#ready = [];
    return told;
  }

  #take(event: LedgerEvent, heard: ReadonlyMap<string, HeardThere>): void {
    switch (event.event_type) {
      case 'run.started':
        this.#start(event);
        break;
      case 'session.config':
        if (event.payload.system !== this.#system) this.#tell(event, 'system', event.payload.system);
        this.#system = event.payload.system;
        break;
      case 'context.noted':
        this.#tell(event, 'system', event.payload.text);
        break;
      case 'run.reopened':
        this.#tell(event, 'system', `The run ${reopenedText(event.payload)}${termsText(event.payload)}.`);
        break;
      case 'model.request':
        this.#request(event, heard);
        break;
      case 'model.response':
        this.#answer(event);
        break;
      case 'model.failed':
        this.#fail(event);
        break;
      case 'tool.call':
        this.#call(event);
        break;
      case 'tool.result':
        this.#result(event.payload.id, resultOf(event, this.#allowed.get(event.step ?? '')), event);
        break;
      case 'approval.answered':
        this.#allowed.set((event.step ?? '').replace(/\/approval(\/\d+)?$/, ''), permissionIn(event.payload));
        break;
      case 'task.summary':
        this.#condense(event);
        break;
      case 'executor.call':
        this.#executing.set(event.payload.id, event);
        break;
      case 'executor.result':
        this.#executed(event);
        break;
      case 'peer.sent':
        this.#isElsewhere = true;
        break;
      case 'run.ended':
        this.#ended(event);
        break;
      default:
    }
  }

  #start(event: EventOf<'run.started'>): void {
    this.#close();
    const { input } = event.payload;
    this.#input = spokenIn(input);
    this.#hasAnswered = false;
    this.#tell(event, 'user', this.#input);
  }

  #request(event: EventOf<'model.request'>, heard: ReadonlyMap<string, HeardThere>): void {
    const { added } = event.payload;
    // Of calls that could not be made, the result stands here alone.
    for (const item of added)
      if ('message' in item && item.message.role === 'tool')
        for (const { id, content, isError } of item.message.content)
          this.#result(id, { content: atifContent(content), ...withExtra(present({ is_error: isError })) }, event);
    this.#close();
    for (const item of added) {
      if ('message' in item) {
        if (item.message.role !== 'tool') this.#tell(event, 'system', spokenIn(item.message));
      } else if (item.run !== undefined) {
        const words = heard.get(`${item.run} ${item.step}`);
        if (words !== undefined) this.#tell(event, words.byPerson ? 'user' : 'system', words.text);
      }
    }
  }

  #answer(event: EventOf<'model.response'>): void {
    this.#leaveExecuting();
    this.#close();
    this.#hasAnswered = true;
    const { message, usage, cost, served, requested, finish, attempts, durationMs } = event.payload;
    const parts = toolCallsOf(message);
    const calls = toolCallsIn(parts);
    const reasoning = message.content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('\n');
    const isCopied = event.position <= this.#of.copiedTo;
    const extra = present({
      ...{ duration_ms: durationMs, finish: finish === 'stop' || finish === 'tool-calls' ? undefined : finish },
      ...{ requested_model: requested === served ? undefined : requested, attempts: attempts === 1 ? undefined : attempts },
      ...{ prices: cost?.prices, cost_estimated: cost?.estimated },
    });
    const draft: Draft = {
      ...{ timestamp: event.timestamp, source: 'agent', message: textOf(message.content), model_name: served },
      ...present({ reasoning_content: reasoning === '' ? undefined : reasoning }),
      // What it cost is counted where it happened.
      ...present({ metrics: isCopied ? undefined : metricsOf(usage, cost) }),
      ...present({ llm_call_count: this.#isElsewhere ? undefined : 1 }),
      ...this.#placed(event, extra),
    };
    const open = calls.map((call, index) => ({ id: parts[index]?.id ?? call.tool_call_id, call, isDone: false }));
    this.#open = { draft, calls: open, results: [], refs: new Map() };
  }

  /** One that is tried again is no step: its cost is in the sums, and how often it was tried in the answer. */
  #fail(event: EventOf<'model.failed'>): void {
    const { final, error, model } = event.payload;
    if (!final) return;
    const extra = { model, failure: { kind: error.kind, message: error.message } };
    this.#tell(event, 'system', `The model gave no answer (${error.kind}): ${error.message}`, extra);
  }

  #call(event: EventOf<'tool.call'>): void {
    const { id, input } = event.payload;
    const asked = this.#open?.calls.find((one) => one.id === id && !one.isDone);
    if (asked === undefined) return;
    this.#made.set(event.event_id, asked.call.tool_call_id);
    // Whoever approved it has changed it.
    if (input !== undefined) asked.call = { ...asked.call, extra: { ...asked.call.extra, called_with: input } };
  }

  #result(id: string, result: AtifResult, event: LedgerEvent): void {
    const open = this.#open;
    const asked = open?.calls.find((one) => one.id === id && !one.isDone);
    if (open === undefined || asked === undefined) {
      const observation = { results: [result] };
      const message = 'A result of a call that stands further above.';
      this.#say({ timestamp: event.timestamp, source: 'system', message, observation, ...this.#placed(event) });
      return;
    }
    asked.isDone = true;
    const { tool_call_id: call } = asked.call;
    const refs = open.refs.get(call);
    open.refs.delete(call);
    open.results.push({ source_call_id: call, ...result, ...present({ subagent_trajectory_ref: refs }) });
  }

  /** Afterwards the agent knows of what was before only what stands here. */
  #condense(event: EventOf<'task.summary'>): void {
    this.#close();
    const results = event.payload.left.map((item): AtifResult => {
      if (!('is' in item)) return { content: spokenIn(item.message) };
      if (item.is === 'summary') return { content: event.payload.text };
      return { content: item.message === undefined ? this.#input : spokenIn(item.message) };
    });
    const context = { context_management: { type: 'compaction', boundary: 'replace' } };
    const message = 'The conversation was condensed.';
    const { timestamp } = event;
    this.#say({ timestamp, source: 'system', message, observation: { results }, ...this.#placed(event, context) });
  }

  #executed(event: EventOf<'executor.result'>): void {
    const { id, status, output, wholeBytes } = event.payload;
    const call = this.#executing.get(id);
    if (call === undefined) return;
    this.#executing.delete(id);
    const extra = present({ is_error: status === 'failed' ? true : undefined, whole_bytes: wholeBytes });
    this.#say(this.#executorStep(call, [{ source_call_id: id, content: output, ...withExtra(extra) }]));
  }

  #leaveExecuting(): void {
    for (const call of this.#executing.values()) this.#say(this.#executorStep(call, undefined));
    this.#executing.clear();
  }

  /** What an executor says that it does. Its calls of models are its own, and nobody here has counted them. */
  #executorStep(event: EventOf<'executor.call'>, results: readonly AtifResult[] | undefined): Draft {
    this.#isElsewhere = true;
    const { id, title, kind = 'other', locations, input } = event.payload;
    const extra = present({ title, locations: locations === undefined ? undefined : [...locations] });
    const call = { tool_call_id: id, function_name: kind, arguments: isJsonObject(input) ? input : {}, extra };
    return {
      ...{ timestamp: event.timestamp, source: 'agent', message: '', tool_calls: [call] },
      ...present({ observation: results === undefined ? undefined : { results } }),
      ...this.#placed(event),
    };
  }

  /** Where nobody in this run has said what it came to: the answer of a run below it, or the words of the runtime. */
  #ended(event: EventOf<'run.ended'>): void {
    this.#leaveExecuting();
    const { report, finalRun, status, finalAgent } = event.payload;
    if (this.#hasAnswered && finalRun === undefined && report.synthetic !== true) return;
    const extra = { status, final_agent: finalAgent };
    if (report.synthetic === true) this.#tell(event, 'system', report.body, extra);
    else {
      const { timestamp } = event;
      this.#say({ timestamp, source: 'agent', message: report.body, llm_call_count: 0, ...this.#placed(event, extra) });
    }
  }

  #tell(event: LedgerEvent, source: AtifStep['source'], message: AtifContent, extra: JsonObject = {}): void {
    this.#say({ timestamp: event.timestamp, source, message, ...this.#placed(event, extra) });
  }

  /** Where it stands in the ledger, and whether it counts here. */
  #placed(
    { event_id, position }: Pick<LedgerEvent, 'event_id' | 'position'>,
    extra: JsonObject = {},
  ): Pick<Draft, 'extra' | 'is_copied_context'> {
    const isUndone = this.#of.undone.has(position);
    return {
      ...present({ is_copied_context: position <= this.#of.copiedTo ? (true as const) : undefined }),
      extra: { event: event_id, ...extra, ...present({ undone: isUndone ? true : undefined }) },
    };
  }

  #say(draft: Draft): void {
    if (this.#open === undefined) this.#number(draft);
    else this.#behind.push(draft);
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    this.#made.clear();
    this.#allowed.clear();
    if (open !== undefined) this.#number(whole(open));
    for (const draft of this.#behind.splice(0)) this.#number(draft);
  }

  #number(draft: Draft): void {
    this.#count += 1;
    this.#ready.push({ step_id: this.#count, ...draft });
  }
}

function whole({ draft, calls, results, refs }: Open): Draft {
  // Of a call that was cut off there is only whom it had begun.
  const left = [...refs].map(([call, of]) => ({ source_call_id: call, subagent_trajectory_ref: of }));
  const all = [...results, ...left];
  const { extra, ...rest } = draft;
  return {
    ...rest,
    ...present({ tool_calls: calls.length === 0 ? undefined : calls.map(({ call }) => call) }),
    ...present({ observation: all.length === 0 ? undefined : { results: all } }),
    extra,
  };
}

function resultOf({ event_id, payload }: EventOf<'tool.result'>, permission: JsonObject | undefined): AtifResult {
  const { content, isError, inDoubt, wholeBytes, durationMs } = payload;
  const more = present({ is_error: isError, in_doubt: inDoubt, whole_bytes: wholeBytes, permission });
  return { content: atifContent(content), extra: { event: event_id, duration_ms: durationMs, ...more } };
}

/** What a person said before the call was made. */
function permissionIn({ answer, by }: Payloads['approval.answered']): JsonObject {
  const note = answer.kind === 'denied' ? answer.note : undefined;
  return { answer: answer.kind, ...present({ by, note }) };
}
