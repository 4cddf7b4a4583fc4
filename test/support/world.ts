/**
 * A small world for engine tests: a real ledger, the real engine, a model that answers by a function, and tools that count
 * what they did outside of it all, so that a test can see an effect happening twice.
 */
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { createIds } from '../../src/base/ids.ts';
import type { Json } from '../../src/base/json.ts';
import { present } from '../../src/base/present.ts';
import { seededRandom } from '../../src/base/random.ts';
import { ok } from '../../src/base/result.ts';
import { createEmbeddedEngine } from '../../src/engine/local/engine.ts';
import type { EngineOptions } from '../../src/engine/options.ts';
import type { Engine } from '../../src/engine/port.ts';
import type { AssistantMessage } from '../../src/events/messages.ts';
import type { Executors } from '../../src/executors/port.ts';
import type { LeaseOwner, Ledger } from '../../src/ledger/port.ts';
import type { Protection } from '../../src/ledger/seals/protection.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import type { Model, ModelOutcome, ModelRequest, Prices } from '../../src/models/port.ts';
import { createQuota } from '../../src/quota/quota.ts';
import { decide } from '../../src/tools/permissions.ts';
import { type OrdinaryTool, type Tool, type ToolOutcome, textResult } from '../../src/tools/port.ts';
import type { WorkspaceWatch } from '../../src/tools/watch/workspace-watch.ts';
import { brainExecutors, type ExecutorMemory, newExecutorMemory } from './executors/brain-executors.ts';
import { namedPlaces } from './patterns/task-twin.ts';
import { brainPeers, newPeerMemory, type PeerMemory } from './peers/brain-peers.ts';

/** What the outside world has seen: survives every crash, since it is not part of the system. */
export interface Outside {
  modelCalls: string[];
  effects: string[];
  /** What agents elsewhere have taken, where a play has some. */
  peers?: PeerMemory;
  /** What executors have heard and done. */
  executors?: ExecutorMemory;
}

export type Brain = (request: ModelRequest, call: number) => ModelOutcome | Promise<ModelOutcome>;

export interface WorldOptions {
  readonly path?: string;
  /** What redacts and seals; the engine's own redaction follows it. */
  readonly protection?: Protection;
  readonly seed?: number;
  readonly brain: Brain;
  readonly agents?: readonly AgentDefinition[];
  readonly tools?: readonly Tool[];
  readonly outside?: Outside;
  readonly engineOptions?: Partial<EngineOptions>;
  readonly prices?: Prices;
  readonly owner?: Partial<LeaseOwner>;
  readonly clock?: Clock;
  /** An open ledger to work on; it stays open when the world is closed. */
  readonly ledger?: Ledger;
  wrapLedger?(ledger: Ledger): Ledger;
  /** Another engine than the embedded one, made of the same parts. */
  createEngine?(engineOptions: EngineOptions): Engine;
}

export interface World {
  readonly ledger: Ledger;
  readonly engine: Engine;
  readonly outside: Outside;
  /** Those that play by the brain. They end with the process that started them. */
  readonly executors: Executors;
  close(): Promise<void>;
}

export const PENNY_PRICES: Prices = {
  version: 'test',
  cost: (_model, usage) => 1_000 * (usage.inputTokens ?? 0) + 2_000 * (usage.outputTokens ?? 0),
  worstCase: (_model, inputTokens, maxOutputTokens) => 1_000 * inputTokens + 2_000 * maxOutputTokens,
};

export function createWorld(options: WorldOptions): World {
  const random = seededRandom(options.seed ?? 1);
  const clock = options.clock ?? systemClock;
  const ids = createIds(clock, random);
  const outside = options.outside ?? { modelCalls: [], effects: [] };
  outside.peers ??= newPeerMemory();
  outside.executors ??= newExecutorMemory();
  const raw =
    options.ledger ??
    openSqliteLedger({
      path: options.path ?? ':memory:',
      clock,
      ids,
      validate: true,
      owner: options.owner ?? {},
      ...present({ protection: options.protection }),
    });
  const ledger = options.wrapLedger?.(raw) ?? raw;
  const agents = new Map((options.agents ?? [agent()]).map((one) => [one.name, one]));
  const tools = options.tools ?? worldTools(outside);
  const model: Model = {
    id: 'test/model',
    account: 'test',
    async ask(request) {
      outside.modelCalls.push(request.idempotencyKey);
      return await options.brain(request, outside.modelCalls.length);
    },
  };
  const executors = brainExecutors(outside.executors, (request) => options.brain(request, outside.modelCalls.length));
  const engine = (options.createEngine ?? createEmbeddedEngine)({
    ledger,
    clock,
    random,
    ids,
    owner: 'test',
    models: { open: async () => ok(model) },
    prices: options.prices ?? PENNY_PRICES,
    quota: createQuota({ clock, random }),
    agent: async (name) => agents.get(name),
    tools: async (definition) => ok(tools.filter((tool) => definition.tools?.includes(tool.name) === true)),
    permission: (definition, tool, call) => decide(tool, definition.permissions, [], call),
    redact: options.protection?.redactor.text ?? ((text) => text),
    defaultModels: async () => ok(['test/model']),
    prompt: (definition) => definition.prompt,
    workspaces: stillWorkspaces,
    ...namedPlaces,
    peers: brainPeers(outside.peers, (request) => options.brain(request, outside.modelCalls.length)),
    executors,
    ...options.engineOptions,
  });
  return {
    ledger,
    engine,
    outside,
    executors: options.engineOptions?.executors ?? executors,
    async close() {
      await engine.close();
      if (options.ledger === undefined) await ledger.close();
    },
  };
}

export function agent(changes: Partial<AgentDefinition> = {}): AgentDefinition {
  return {
    name: 'worker',
    models: ['test/model'],
    prompt: 'You work.',
    source: 'agents/worker.md',
    tools: ['look', 'act'],
    permissions: { act: 'allow' },
    ...changes,
  };
}

/** `look` may be repeated, `act` must not be; `prove` is a command that the runtime saw succeed. */
export function worldTools(outside: Outside): Tool[] {
  const inputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const tool = (name: string, replay: 'safe' | 'never'): OrdinaryTool => ({
    name,
    description: name,
    inputSchema,
    replay,
    ...(replay === 'safe' ? { readOnly: true } : {}),
    async run(input) {
      const what = `${name} ${(input as { name: string }).name}`;
      outside.effects.push(what);
      return textResult(`${what} done`);
    },
  });
  return [tool('look', 'safe'), tool('act', 'never'), { ...tool('prove', 'safe'), run: async (input) => proved(input) }];
}

const STILL = 'nothing changes here';

/** The files of this world stay as they are. */
const stillWorkspaces: WorkspaceWatch = {
  look: async () => ({ state: { kind: 'known', digest: STILL }, changes: [] }),
  noted: async () => undefined,
  enter: () => () => ({ alone: true }),
};

function proved(input: Json): ToolOutcome {
  const { name: command } = input as { name: string };
  const workspace = { before: STILL, after: STILL };
  const payload = { command, cwd: process.cwd(), exitCode: 0, signal: null, durationMs: 1, proves: [{ command }], workspace };
  return { kind: 'ok', content: [{ type: 'text', text: `${command} ended with 0` }], evidence: [{ type: 'cli.run', payload }] };
}

export const says = (text: string): ModelOutcome => answered({ role: 'assistant', content: [{ type: 'text', text }] });

export function calls(...asked: readonly { readonly name: string; readonly input?: Json; readonly id?: string }[]): ModelOutcome {
  const content = asked.map((one, index) => ({
    type: 'tool-call' as const,
    id: one.id ?? `c${index}-${one.name}`,
    name: one.name,
    input: one.input ?? { name: String(index) },
  }));
  return answered({ role: 'assistant', content });
}

export const reports = (report: string, more: { readonly [key: string]: Json } = {}): ModelOutcome =>
  calls({ name: 'final_report', input: { report, ...more }, id: 'report' });

function answered(message: AssistantMessage): ModelOutcome {
  const usage = { inputTokens: 100, outputTokens: 10 };
  return { kind: 'answer', answer: { message, finish: 'stop', usage, served: 'test/model' } };
}

/** How many turns the model has taken in this conversation: where a scripted conversation stands. */
export const turnOf = (request: ModelRequest): number =>
  request.messages.filter((message) => message.role === 'assistant').length + 1;
