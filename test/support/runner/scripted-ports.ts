/**
 * Loops for tests of runners: ports that play a script and keep, word for word, what they were asked. Everything that a port
 * gives has a label, known by identity: a request that carries a copy instead of the very object shows in the protocol.
 */
import { readFileSync } from 'node:fs';
import type { Json } from '../../../src/base/json.ts';
import { present } from '../../../src/base/present.ts';
import type { AssistantMessage, Message, ToolCallPart, ToolResultPart } from '../../../src/events/messages.ts';
import { userText } from '../../../src/events/messages.ts';
import { finalReportExit, type OutputContract, plainReport } from '../../../src/loop/final-report.ts';
import type { LoopInput, LoopLimits, LoopPorts, TurnOutcome } from '../../../src/loop/port.ts';
import type { ToolSpec } from '../../../src/models/port.ts';
import type { Hosted, ProcessNews } from '../../../src/runner/port.ts';

export const testLimits: LoopLimits = {
  maxTurns: 6,
  maxToolCallsPerTurn: 3,
  contextWindow: 100_000,
  maxOutputTokens: 1_000,
  turnsBefore: 0,
  loopNudgeAt: 3,
  loopStopAt: 5,
};

export const contract = (output: OutputContract): Pick<LoopInput, 'exits' | 'plain'> => ({
  exits: [finalReportExit(output)],
  plain: plainReport(output),
});

/** A text is a plain answer, a list is one of calls. */
export type ScriptedReply = string | readonly Partial<ToolCallPart>[] | Exclude<TurnOutcome, { kind: 'answer' }>;

export interface PortScript {
  readonly replies: (turn: number) => ScriptedReply;
  readonly input?: Partial<LoopInput>;
  readonly result?: (call: ToolCallPart, turn: number) => string;
  readonly inputTokens?: number;
  readonly incoming?: (turn: number, roomTokens: number) => readonly string[];
  readonly unheard?: (turn: number) => boolean;
  readonly begun?: number;
  readonly signal?: AbortSignal;
  /** Waited for with every call, before it is answered. */
  readonly during?: (key: string) => void | Promise<void>;
}

export interface ScriptedPorts {
  readonly input: LoopInput;
  readonly ports: LoopPorts;
  /** What was asked, in order, with the labels of what was named. */
  readonly protocol: string[];
  /** The lists of tools that models were offered. */
  readonly lists: Set<readonly ToolSpec[]>;
}

export const report = (given: Json, more: { readonly [key: string]: Json } = {}): readonly Partial<ToolCallPart>[] => [
  { name: 'final_report', input: { report: given, ...more } },
];

export function scriptedPorts(script: PortScript): ScriptedPorts {
  const protocol: string[] = [];
  const lists = new Set<readonly ToolSpec[]>();
  const labels = new WeakMap<Message | ToolResultPart, string>();
  const label = <Item extends Message | ToolResultPart>(item: Item, name: string): Item => {
    labels.set(item, name);
    return item;
  };
  const describe = (message: Message): unknown =>
    labels.get(message) ?? (message.role === 'tool' ? message.content.map((part) => labels.get(part) ?? part) : message);
  const asked = async (key: string, what: unknown): Promise<void> => {
    protocol.push(`${key} ${JSON.stringify(what)}`);
    await script.during?.(key);
  };
  const input: LoopInput = {
    agent: 'a',
    system: 'S',
    history: [],
    request: userText('Do it.'),
    ...contract({ format: 'text' }),
    limits: testLimits,
    ...script.input,
  };
  label(input.request, 'request');
  for (const [index, message] of input.history.entries()) label(message, `history/${index}`);
  const ports: LoopPorts = {
    model: {
      ...(script.begun === undefined ? {} : { begun: (turn) => turn <= (script.begun ?? 0) }),
      async ask({ turn, messages, newFrom, tools, toolChoice }) {
        lists.add(tools);
        const names = tools.map((tool) => tool.name);
        await asked(`model/${turn}`, { messages: messages.map(describe), newFrom, names, toolChoice });
        const reply = script.replies(turn);
        if (typeof reply === 'object' && 'kind' in reply) return reply;
        const usage = present({ inputTokens: script.inputTokens });
        const message = label(assistant(reply, turn), `answer/${turn}`);
        return { kind: 'answer', answer: { message, finish: 'stop', usage, served: 'x' } };
      },
    },
    tools: {
      specs: ['look', 'act'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
      async call(turn, index, call, beside) {
        await asked(`tool/${turn}/${index}`, { ...call, beside });
        const text = script.result?.(call, turn) ?? `${call.name} ok`;
        return label(
          { type: 'tool-result', id: call.id, name: call.name, content: [{ type: 'text', text }] },
          `result/${turn}/${index}`,
        );
      },
    },
    async condense({ turn, text, leads, kept, unsent, ending }) {
      await asked(`condense/${turn}`, { text, leads: leads.map(describe), kept: kept.map(describe), unsent, ending });
      return label(userText(text), `summary/${turn}`);
    },
    ...(script.incoming === undefined
      ? {}
      : {
          incoming: async (turn: number, roomTokens: number) => {
            await asked(`incoming/${turn}`, roomTokens);
            const texts = script.incoming?.(turn, roomTokens) ?? [];
            return { messages: texts.map((text, index) => label(userText(text), `incoming/${turn}/${index}`)), overflow: false };
          },
        }),
    ...(script.unheard === undefined
      ? {}
      : {
          unheard: async (turn: number) => {
            await asked(`unheard/${turn}`, null);
            return script.unheard?.(turn) === true;
          },
        }),
    reference: (item) => ('role' in item && item.role === 'tool' ? undefined : (labels.get(item) ?? 'somewhere')),
    signal: script.signal ?? new AbortController().signal,
  };
  return { input, ports, protocol, lists };
}

function assistant(reply: string | readonly Partial<ToolCallPart>[], turn: number): AssistantMessage {
  if (typeof reply === 'string') return { role: 'assistant', content: [{ type: 'text', text: reply }] };
  return {
    role: 'assistant',
    content: reply.map((call, index) => ({ type: 'tool-call', id: `c${turn}-${index}`, name: 'look', input: {}, ...call })),
  };
}

/** Keeps the news of a loop's processes, and checks that each that starts ends once. */
export function watchProcesses(onStarted: (pid: number, attempt: number) => void = () => {}) {
  const news: ProcessNews[] = [];
  const turns: number[] = [];
  const hosted: Hosted = {
    thread: 'thr_test',
    onProcess: (one) => {
      news.push(one);
      if (one.kind === 'started') onStarted(one.pid, one.attempt);
    },
    onProgress: ({ turn }) => turns.push(turn),
  };
  const pids = (kind: ProcessNews['kind']): number[] => news.filter((one) => one.kind === kind).map((one) => one.pid);
  return {
    hosted,
    news,
    turns,
    isPaired: (): boolean => pids('started').join() === pids('ended').join(),
    why: (): string[] => news.flatMap((one) => (one.kind === 'ended' ? [one.why] : [])),
    pid: (): number => pids('started').at(-1) ?? 0,
  };
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Direct children of a process, on Linux. */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
