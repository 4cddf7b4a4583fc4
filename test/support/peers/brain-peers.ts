/**
 * Agents elsewhere that answer by the same function as the models of a world. What they have taken is memory of the outside: it
 * survives every crash of ours, so that a test can see a message that was taken twice.
 */

import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { RemoteAgent } from '../../../src/agents/definition/remote.ts';
import { present } from '../../../src/base/present.ts';
import { fail, ok } from '../../../src/base/result.ts';
import { type Message, textOf, toolCallsOf, type Usage, userText } from '../../../src/events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { PeerCall, PeerEnded, PeerFailure, PeerFile, PeerOutcome, Peers, RemotePeer } from '../../../src/peers/port.ts';

interface RemoteTask {
  readonly id: string;
  readonly context: string;
  readonly taken: string[];
  /** How many questions it has asked. */
  asked: number;
  outcome: PeerOutcome | undefined;
}

/** What all peers of a world know. */
export interface PeerMemory {
  /** The ids of messages, in the order in which they were taken. */
  readonly taken: string[];
  readonly tasks: RemoteTask[];
  readonly cancelled: string[];
  /** What was said in each context. */
  readonly contexts: Map<string, Message[]>;
}

export const newPeerMemory = (): PeerMemory => ({ taken: [], tasks: [], cancelled: [], contexts: new Map() });

export interface PeerHabits {
  /** They take a message once, however often it is sent. */
  readonly idempotent?: boolean;
  /** They say which tasks there are. */
  readonly lists?: boolean;
  /** What they say that their work took, and what that cost, however it ended. */
  readonly usage?: Usage;
  readonly nanoUsd?: number;
  /** They do not end for us what they work on. */
  readonly endures?: boolean;
  /** Why they cannot be reached just now. */
  readonly away?: () => 'closed' | 'unsent' | 'perhaps' | 'lost' | undefined;
  /** Where their card says that they are, the best first. */
  readonly addresses?: () => readonly [string, ...string[]];
  /** They know nothing of what they were working on. */
  readonly forgets?: () => boolean;
  /** What comes of a message that they have taken, instead of an answer. */
  readonly garbled?: PeerFailure;
  /** Files that come with whatever they say; how their words name one stands in what they say. */
  readonly files?: readonly PeerFile[];
}

/** An agent that lives elsewhere; its address says its name. */
export const remote = (name: string, changes: Partial<AgentDefinition> = {}): AgentDefinition => ({
  name,
  models: [`a2a:${name}.test`],
  prompt: '',
  source: `agents/${name}.md`,
  remote: { card: `https://${name}.test/card` },
  ...changes,
});

type Brain = (request: ModelRequest) => ModelOutcome | Promise<ModelOutcome>;

export function brainPeers(memory: PeerMemory, brain: Brain, habits: PeerHabits = {}): Peers {
  return {
    async open(remoteAgent, _signal, at) {
      if (habits.away?.() === 'closed') return fail({ kind: 'network', message: 'there is no card' });
      const [first, ...others] = habits.addresses?.() ?? [remoteAgent.card];
      const address = others.find((one) => one === at) ?? first;
      return ok({ ...createPeer(memory, remoteAgent, brain, habits), address });
    },
  };
}

function createPeer(
  memory: PeerMemory,
  at: RemoteAgent,
  brain: Brain,
  { idempotent = false, lists = true, endures = false, away, usage = {}, nanoUsd, garbled, forgets, files = [] }: PeerHabits,
): RemotePeer {
  const took = { usage, files, ...present({ nanoUsd }) };
  const agent = new URL(at.card).hostname.replace(/\.test$/, '');
  const gone = (taken: 'no' | 'perhaps' | 'yes'): PeerOutcome => ({
    kind: 'failed',
    taken,
    failure: { kind: 'network', message: 'nobody is there' },
  });
  const stopped: PeerOutcome = { kind: 'stopped', last: `${agent} was at it` };
  const work = async (task: RemoteTask, call: PeerCall): Promise<PeerOutcome> => {
    await call.onTask({ task: task.id, context: task.context });
    if (away?.() === 'lost') return gone('yes');
    if (call.signal.aborted) return stopped;
    if (memory.cancelled.includes(task.id)) return { kind: 'ended', state: 'canceled', message: '', ...cameOf(task, took) };
    if (task.outcome !== undefined) return task.outcome;
    // Whoever is not told what was answered would take its old question for a new one.
    if (task.asked > 0 && call.answered?.mark !== markOf(task)) throw new Error(`${task.id} was answered, and nobody says so`);
    const said = memory.contexts.get(task.context) ?? [];
    const request = {
      agent,
      system: '',
      messages: said,
      tools: [],
      settings: {},
      idempotencyKey: task.id,
      timeoutMs: 0,
      signal: call.signal,
    };
    const outcome = outcomeOf(task, took, await brain(request as unknown as ModelRequest));
    if (call.signal.aborted) return stopped;
    task.outcome = outcome;
    if (outcome.kind === 'asks') task.asked += 1;
    const text = outcome.kind === 'answer' ? outcome.text : outcome.kind === 'asks' ? outcome.question : '';
    memory.contexts.set(task.context, [...said, { role: 'assistant', content: [{ type: 'text', text }] }]);
    return outcome;
  };
  const known = (task: string): RemoteTask | undefined => memory.tasks.find(({ id }) => id === task);
  return {
    address: at.card,
    card: 'f'.repeat(64),
    idempotent,
    async send(message, call) {
      const how = away?.();
      if (how === 'unsent') return gone('no');
      const before = idempotent ? memory.tasks.find(({ taken }) => taken.includes(message.id)) : undefined;
      if (before !== undefined) return await work(before, call);
      memory.taken.push(message.id);
      const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      memory.contexts.set(message.context, [...(memory.contexts.get(message.context) ?? []), userText(text)]);
      const spokenTo = message.task === undefined ? undefined : known(message.task);
      if (message.task !== undefined && spokenTo === undefined) throw new Error(`said to ${message.task}, which is no task`);
      const task = spokenTo ?? {
        id: `task-${memory.tasks.length + 1}`,
        context: message.context,
        taken: [],
        asked: 0,
        outcome: undefined,
      };
      if (spokenTo === undefined) memory.tasks.push(task);
      task.taken.push(message.id);
      task.outcome = undefined;
      if (how === 'perhaps') return gone('perhaps');
      if (garbled !== undefined) return { kind: 'failed', taken: 'perhaps', failure: garbled };
      return await work(task, call);
    },
    async follow({ task: id }, call) {
      if (away?.() !== undefined) return gone('yes');
      if (forgets?.() === true)
        return { kind: 'failed', taken: 'yes', failure: { kind: 'refused', message: 'there is no such task' } };
      const task = known(id);
      if (task === undefined) throw new Error(`no task ${id}`);
      return await work(task, call);
    },
    async find({ message }) {
      if (away?.() !== undefined) return fail({ kind: 'network', message: 'nobody is there' });
      const found = lists ? memory.tasks.find(({ taken }) => taken.includes(message)) : undefined;
      return ok(found === undefined ? undefined : { task: found.id, context: found.context });
    },
    async cancel({ task }) {
      if (away?.() !== undefined) return fail({ kind: 'network', message: 'nobody is there' });
      const cost = { usage, ...present({ nanoUsd }) };
      if (endures) return ok({ state: known(task)?.outcome?.kind === 'asks' ? 'input-required' : 'working', ...cost });
      memory.cancelled.push(task);
      return ok({ state: 'canceled', ...cost });
    },
  };
}

const markOf = ({ id, asked }: RemoteTask): string => `${id}-question-${asked}`;

type Took = Pick<PeerEnded, 'usage' | 'nanoUsd'> & { readonly files: readonly PeerFile[] };

const cameOf = ({ id, context }: RemoteTask, took: Took) => ({ task: id, context, artifacts: [], ...took });

function outcomeOf(task: RemoteTask, took: Took, outcome: ModelOutcome): PeerOutcome {
  const came = cameOf(task, took);
  if (outcome.kind === 'failed') return { kind: 'ended', state: 'failed', message: outcome.error.message, ...came };
  const { message } = outcome.answer;
  const [call] = toolCallsOf(message);
  if (call === undefined) {
    const text = textOf(message.content);
    const artifact = { id: 'result', name: 'result', bytes: text.length, content: text };
    return { kind: 'answer', text, cut: false, ...came, artifacts: [artifact] };
  }
  const { question, needs } = call.input as { readonly question?: string; readonly needs?: 'auth' };
  if (call.name !== 'ask') throw new Error(`${call.name} is not there`);
  return {
    kind: 'asks',
    question: question ?? '',
    needs: needs ?? 'input',
    mark: markOf({ ...task, asked: task.asked + 1 }),
    ...came,
  };
}
