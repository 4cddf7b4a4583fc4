/**
 * The steps port by hand: no ledger, no engine, nothing durable. Everything is in memory and happens in order; children run
 * through the real patterns and the real loop. What comes out here is what a pattern means; an engine must agree.
 */

import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { TroupeError } from '../../../src/base/errors.ts';
import { childRunId, type RunId } from '../../../src/base/ids.ts';
import { present } from '../../../src/base/present.ts';
import { timeUp, WallTimeOver } from '../../../src/engine/hearing/stop-reason.ts';
import { loopLimits, outputContract } from '../../../src/engine/record/agent-setup.ts';
import { nobodyWorked, wallTimeText } from '../../../src/engine/run/drive-run.ts';
import { originOf } from '../../../src/engine/run/start-child.ts';
import type { EventType, Payloads } from '../../../src/events/catalogue.ts';
import { type Message, type UserMessage, userText } from '../../../src/events/messages.ts';
import { loopOnlyAs, memberOfGroup, type Seat, taskTermsOf, teamSeat, turnsAllowed } from '../../../src/events/run-origin.ts';
import { succeeded } from '../../../src/events/succeeded.ts';
import { finalReportExit, plainReport } from '../../../src/loop/final-report.ts';
import { runLoop } from '../../../src/loop/loop.ts';
import type { Incoming } from '../../../src/loop/port.ts';
import type { ModelRequest } from '../../../src/models/port.ts';
import { textTokens } from '../../../src/models/tokens.ts';
import { type CheckedResult, type LoopRequest, wantedBy } from '../../../src/patterns/agent-run.ts';
import { runAgent } from '../../../src/patterns/run-agent.ts';
import type { Handle, RunResult, StartOptions, Steps } from '../../../src/patterns/steps.ts';
import { withVerification } from '../../../src/patterns/verification.ts';
import { broadcastText } from '../../../src/projections/patterns/broadcast-text.ts';
import type { Tool } from '../../../src/tools/port.ts';
import { type CallBudget, createCallBudget, upwards } from '../call-budget.ts';
import type { Brain } from '../world.ts';
import type { ScenarioEvent } from './scenarios.ts';
import { endOfTask, handTasks } from './task-twin.ts';
import { handTools } from './tools-by-hand.ts';
import { checked, closed, handSupport, systemOf, voiceOf } from './twin-check.ts';

export interface Twin {
  readonly events: readonly ScenarioEvent[];
  run(agent: string, input: UserMessage): Promise<RunResult>;
  cancel(): void;
}

export interface TwinOptions {
  readonly agents: readonly AgentDefinition[];
  readonly tools: readonly Tool[];
  readonly brain: Brain;
  readonly clock?: Clock | undefined;
  /** What the user says when asked. */
  readonly answer?: ((question: string) => string) | undefined;
}

interface Node {
  readonly run: RunId;
  readonly parent: Node | undefined;
  readonly started: Payloads['run.started'];
  readonly abort: AbortController;
  readonly timeLimit?: StartOptions['timeLimit'];
}

interface Said {
  readonly run: string;
  readonly step: string;
  readonly payload: Payloads['team.broadcast'];
}

/** What all runs of one scenario share. */
interface Shared {
  readonly options: TwinOptions;
  readonly events: ScenarioEvent[];
  readonly said: Said[];
  readonly heard: Map<string, Set<Said>>;
  /** Conversations of ended runs, for those that go on with them. */
  readonly conversations: Map<string, readonly Message[]>;
  /** The latest run of each member of a group that has ended, by its place. */
  readonly members: Map<string, RunId>;
  /** Where a message came from, if another run said it. */
  readonly origins: WeakMap<Message, Said>;
  readonly budget: CallBudget;
}

const ROOT = 'run_0000000000000000twin' as RunId;

export function createTwin(options: TwinOptions): Twin {
  const shared: Shared = {
    options,
    events: [],
    said: [],
    heard: new Map(),
    conversations: new Map(),
    members: new Map(),
    origins: new WeakMap(),
    budget: createCallBudget(options.agents),
  };
  const abort = new AbortController();
  let prompts = 0;
  return {
    events: shared.events,
    run(agent, input) {
      prompts += 1;
      const run = prompts === 1 ? ROOT : childRunId(ROOT, `prompt/${prompts}`);
      return runNode(shared, { run, parent: undefined, started: { agent, input, origin: { kind: 'person' }, depth: 0 }, abort });
    },
    cancel: () => abort.abort(),
  };
}

function record<Type extends EventType>(shared: Shared, node: Node, type: Type, payload: Payloads[Type], step = ''): void {
  // The mapped union ties payload to type; the compiler cannot see that through a generic function.
  shared.events.push({ type, run: node.run, agent: node.started.agent, step, payload } as unknown as ScenarioEvent);
}

async function runNode(shared: Shared, node: Node): Promise<RunResult> {
  const { started } = node;
  const { agent: name, input } = started;
  record(shared, node, 'run.started', started);
  const agent = shared.options.agents.find((one) => one.name === name);
  if (agent === undefined) throw new TroupeError('no_agent', `There is no agent named ${name}.`);
  const own = agent.budget?.wall ?? Number.POSITIVE_INFINITY;
  const given = node.timeLimit?.milliseconds ?? Number.POSITIVE_INFINITY;
  const wall = Number.isFinite(Math.min(own, given)) ? Math.min(own, given) : undefined;
  const setting = given < own ? node.timeLimit?.setting : undefined;
  const over = new WallTimeOver(node.run, given < own ? 'patience' : 'budget', wall ?? 0, wallTimeText(wall ?? 0, setting));
  const timeIsUp = (): void => node.abort.abort(over);
  const forget = wall === undefined ? () => undefined : (shared.options.clock ?? systemClock).after(wall, timeIsUp);
  const nobody = taskTermsOf(started)?.onlyVerify === true;
  const worked = nobody ? nobodyWorked(node) : await playAgent(shared, node, agent);
  const done = endOfTask(started, worked, (type, payload, step) => record(shared, node, type, payload, step));
  forget();
  const last: RunResult = node.abort.signal.reason === over ? { ...done, ...timeUp(over) } : done;
  const result = withVerification(last, last.verification);
  const { status, report, finalAgent, finalRun, spoke, exhausted, verification } = result;
  record(shared, node, 'run.ended', { status, report, finalAgent, finalRun, spoke, exhausted, verification }, 'end');
  // Somebody whose patterns spoke for it has still been asked.
  if (!shared.conversations.has(node.run)) shared.conversations.set(node.run, [...earlier(shared, node), input]);
  if (memberOfGroup(started) !== undefined) shared.members.set(placeOf(node), node.run);
  return result;
}

function playAgent(shared: Shared, node: Node, agent: AgentDefinition): Promise<RunResult> {
  return runAgent({
    agent,
    run: node.run,
    ...wantedBy(node.started),
    scopes: new Set(upwards(node).map(({ run }) => run)),
    ...handSupport(shared.options.agents, shared.events),
    steps: handSteps(shared, node),
    tasks: handTasks(shared.events, node.run),
    loop: (request) => ownLoop(shared, node, agent, request),
  });
}

/** The names on the way down to a run: the same member of the same group has the same, in every prompt. */
function placeOf({ parent, started }: Node): string {
  return parent === undefined ? '' : `${placeOf(parent)}/${JSON.stringify(memberOfGroup(started) ?? started.agent)}`;
}

const earlier = (shared: Shared, node: Node): readonly Message[] => shared.conversations.get(node.started.continues ?? '') ?? [];

function startChild(
  shared: Shared,
  parent: Node,
  key: string,
  asked: { readonly agent: string; readonly input: UserMessage },
  options: StartOptions,
): Node {
  const { timeLimit, model } = options;
  const abort = new AbortController();
  const place = { origin: originOf(parent.run, options), depth: parent.started.depth + 1 };
  const started = { ...asked, ...place, ...present({ model }) };
  const fresh: Node = { run: childRunId(parent.run, key), parent, started, abort, timeLimit };
  const continues = options.continues ?? (memberOfGroup(started) === undefined ? undefined : shared.members.get(placeOf(fresh)));
  const node = continues === undefined ? fresh : { ...fresh, started: { ...started, continues } };
  if (parent.abort.signal.aborted) abort.abort();
  else parent.abort.signal.addEventListener('abort', () => abort.abort(), { once: true });
  return node;
}

function handSteps(shared: Shared, node: Node): Steps {
  const children = new Map<string, { readonly node: Node; readonly result: Promise<RunResult> }>();
  const used = new Set<string>();
  const asked = new Map<string, string>();
  const claim = (key: string): void => {
    if (used.has(key)) throw new TroupeError('bug', `The step key ${key} is used twice in one run.`);
    used.add(key);
  };
  const child = (handle: Handle) => {
    const found = children.get(handle.key);
    if (found === undefined) throw new TroupeError('bug', `No child was started under the key ${handle.key}.`);
    return found;
  };
  const settled = (handles: readonly Handle[]) => Promise.all(handles.map((handle) => child(handle).result));
  return {
    async step(key, effect) {
      claim(key);
      return await effect({ signal: node.abort.signal, idempotencyKey: `${node.run}/${key}` });
    },
    async start(key, agent, input, options) {
      claim(key);
      const started = startChild(shared, node, key, { agent, input }, options);
      children.set(key, { node: started, result: runNode(shared, started) });
      return { key };
    },
    settled,
    async collect(key, handles, timeoutMs) {
      claim(key);
      const ended = new Map<number, RunResult>();
      const results = handles.map((handle, index) => child(handle).result.then((result) => ended.set(index, result)));
      let forget = (): void => undefined;
      const over = new Promise<void>((resolve) => {
        forget = (shared.options.clock ?? systemClock).after(timeoutMs, resolve);
      });
      await Promise.race([Promise.all(results), over]);
      forget();
      return handles.map((_handle, index) => ended.get(index));
    },
    async all(handles) {
      const results = await settled(handles);
      const failed = results.find((result) => !succeeded(result));
      if (failed !== undefined) throw new TroupeError('child_failed', failed.error?.message ?? failed.status);
      return results;
    },
    async next(key, handles, { waits = [], until } = {}) {
      claim(key);
      const answered = waits.flatMap((wait, index) => {
        const text = shared.options.answer?.(asked.get(wait) ?? '');
        return text === undefined ? [] : [{ index, answer: { kind: 'text' as const, text } }];
      });
      // No time passes here: what is waited for until then is due.
      if (answered.length > 0 || handles.length === 0 || until !== undefined) return { ended: [], answered };
      const ended = new Map<number, RunResult>();
      for (const [index, handle] of handles.entries()) void child(handle).result.then((result) => ended.set(index, result));
      await Promise.race(handles.map((handle) => child(handle).result));
      const inOrder = [...ended].map(([index, result]) => ({ index, result })).sort((left, right) => left.index - right.index);
      return { ended: inOrder, answered };
    },
    worked: async () => used.size,
    async ask(key, { question }) {
      claim(key);
      record(shared, node, 'task.clarify', { wait: key, question }, key);
      asked.set(key, question);
    },
    async race(key, handles) {
      claim(key);
      const index = await Promise.race(handles.map((handle, position) => child(handle).result.then(() => position)));
      for (const [position, handle] of handles.entries()) if (position !== index) child(handle).node.abort.abort();
      const results = await settled(handles);
      return { index, result: results[index] as RunResult };
    },
    async stop(handle, reason) {
      child(handle).node.abort.abort(new TroupeError('cancelled', reason));
    },
    // Where nobody is there to answer, no time passes.
    async wait(key, { question, choices, round }) {
      claim(key);
      record(shared, node, 'task.clarify', { wait: key, question, ...present({ choices: choices && [...choices], round }) }, key);
      const text = shared.options.answer?.(question);
      return text === undefined ? undefined : { kind: 'text', text };
    },
    async sleep(key, delayMs) {
      claim(key);
      record(shared, node, 'step.recorded', { value: delayMs }, key);
    },
    async now(key) {
      claim(key);
      return used.size;
    },
    async nonce(key) {
      claim(key);
      return `nonce${used.size}`;
    },
    async emit(key, event) {
      claim(key);
      record(shared, node, event.type, event.payload, key);
    },
    async broadcast(key, broadcast) {
      claim(key);
      const payload = { ...broadcast, timestamp: new Date(shared.said.length).toISOString() };
      record(shared, node, 'team.broadcast', payload, key);
      shared.said.push({ run: node.run, step: key, payload });
    },
  };
}

async function ownLoop(shared: Shared, node: Node, agent: AgentDefinition, request: LoopRequest): Promise<CheckedResult> {
  const output = outputContract(agent);
  const as = loopOnlyAs(node.started);
  const onlyTalks = as !== undefined && as !== 'self' && as !== 'architect';
  const tools = shared.options.tools.filter((tool) => !onlyTalks && agent.tools?.includes(tool.name) === true);
  const exits = [...(request.exits ?? [])];
  const offers = tools.length > 0 || exits.length > 0 || output.schema !== undefined || request.hears === true;
  if (request.reports && offers) exits.push(finalReportExit(output));
  const own = loopLimits(agent);
  const seat = request.hears === true ? teamSeat(node.started) : undefined;
  let said: readonly Message[] = [];
  const seen = new Set<string>();
  const ended = await runLoop(
    {
      agent: agent.name,
      system: systemOf(node.started, agent),
      history: earlier(shared, node),
      request: request.input,
      exits,
      plain: request.plain ?? plainReport(output),
      limits: {
        ...own,
        maxTurns: Math.min(own.maxTurns, turnsAllowed(node.started) ?? own.maxTurns),
        turnsBefore: request.turnsBefore ?? 0,
      },
    },
    {
      model: {
        ask: (turn) => {
          said = turn.messages;
          return ask(shared, node, agent, { ...turn, outputSchema: request.answerSchema });
        },
      },
      tools: handTools(node, tools, seen),
      ...(seat === undefined
        ? {}
        : { incoming: async (_turn, room) => hear(shared, node, seat, (text) => textTokens(text) <= room) }),
      condense: async ({ text }) => userText(text),
      reference: () => undefined,
      signal: node.abort.signal,
    },
  );
  shared.conversations.set(node.run, closed(said));
  return { ...ended, verification: checked(ended.claims, seen) };
}

type Turn = Parameters<Parameters<typeof runLoop>[1]['model']['ask']>[0];

async function ask(shared: Shared, node: Node, agent: AgentDefinition, turn: Turn) {
  const added = turn.messages.slice(turn.newFrom).map((message) => {
    const said = shared.origins.get(message);
    return said === undefined ? { message } : { run: said.run, step: said.step };
  });
  const step = `turn/${turn.turn}/model`;
  const out = shared.budget.spend(node);
  if (out !== undefined) return { kind: 'no_budget' as const, scope: out, message: `The budget of ${out} has no calls left.` };
  const model = node.started.model ?? agent.models?.[0] ?? 'by hand';
  record(shared, node, 'model.request', { turn: turn.turn, model, added }, step);
  const request: ModelRequest = {
    agent: agent.name,
    system: systemOf(node.started, agent),
    messages: turn.messages,
    tools: turn.tools,
    toolChoice: turn.toolChoice,
    outputSchema: turn.outputSchema,
    settings: voiceOf(node.started, agent) ?? {},
    idempotencyKey: `${node.run}/${step}`,
    timeoutMs: 0,
    signal: node.abort.signal,
  };
  return await shared.options.brain(request, 0);
}

/** Everything said in the team that this seat did not say and has not heard; a notice where it does not fit. */
function hear(shared: Shared, node: Node, seat: Seat, fits: (text: string) => boolean): Incoming {
  const place = `${seat.team} ${seat.member}`;
  const heard = shared.heard.get(place) ?? new Set();
  shared.heard.set(place, heard);
  const news = shared.said.filter(
    (said) =>
      said.payload.team === seat.team &&
      !heard.has(said) &&
      said.payload.replaces === undefined &&
      !(said.payload.memberId === seat.member && said.payload.type === 'update'),
  );
  let overflow = false;
  let text = '';
  const messages = news.map((said, index): UserMessage => {
    heard.add(said);
    const next = text + broadcastText(said.payload, node.run);
    const told = fits(next) ? said : notice(shared, node, seat, said, index);
    if (told === said) text = next;
    else overflow = true;
    const message = userText(broadcastText(told.payload, node.run));
    shared.origins.set(message, told);
    return message;
  });
  return { messages, overflow: overflow && seat.role === 'supervisor' };
}

function notice(shared: Shared, node: Node, seat: Seat, { run, step, payload }: Said, index: number): Said {
  const bytes = Buffer.byteLength(payload.message);
  const message = `A broadcast of ${payload.memberId} (${bytes} bytes) does not fit into your context.`;
  const replaces = { run, step, reader: seat.member };
  const told: Said = { run: node.run, step: `overflow/${index}`, payload: { ...payload, type: 'failure', message, replaces } };
  record(shared, node, 'team.broadcast', told.payload, told.step);
  shared.said.push(told);
  return told;
}
