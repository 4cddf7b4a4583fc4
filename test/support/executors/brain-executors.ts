/**
 * Executors that play by a function, for tests of runs: what they were told, which sessions they had and what they did outlives
 * every crash, since it is no part of the system. Each life of a test has its own processes; sessions can be loaded.
 */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { Json } from '../../../src/base/json.ts';
import { present } from '../../../src/base/present.ts';
import { fail, ok } from '../../../src/base/result.ts';
import { type Message, type TextPart, textOf, toolCallsOf, type Usage, userText } from '../../../src/events/messages.ts';
import type {
  ExecutorAnswer,
  ExecutorCall,
  ExecutorFailure,
  ExecutorQuestion,
  ExecutorSession,
  Executors,
  OpenExecutor,
  PermissionDecision,
  PromptEnded,
  PromptHandlers,
} from '../../../src/executors/port.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';

/** What the outside has seen. */
export interface ExecutorMemory {
  /** Every prompt, in the order in which they came. */
  readonly prompts: { readonly session: string; readonly text: string }[];
  /** What each session has heard and said. */
  readonly sessions: Map<string, Message[]>;
  /** Commands that were run, however often. */
  readonly effects: string[];
  /** What was answered when it asked. */
  readonly decisions: PermissionDecision[];
  readonly opened: {
    readonly session: string;
    readonly restored: string;
    readonly cwd: string;
    readonly mode?: string | undefined;
  }[];
  ended: number;
}

export const newExecutorMemory = (): ExecutorMemory => ({
  ...{ prompts: [], sessions: new Map(), effects: [], decisions: [], opened: [], ended: 0 },
});

export interface ExecutorHabits {
  /** Sessions of earlier processes can be loaded; they can unless said. */
  readonly loads?: boolean;
  /** Why it cannot be opened, at this time. */
  readonly away?: (time: number) => ExecutorFailure | undefined;
  /** Why the prompt comes to nothing, at this time. */
  readonly falls?: (time: number) => ExecutorFailure | undefined;
  readonly usage?: Usage | undefined;
  readonly costUsd?: number | undefined;
  /** What it says that it cost so far, after each command. */
  readonly says?: readonly number[];
  /** `own`: each process has another one. */
  readonly pid?: number | 'own';
  /** What becomes of a prompt when something is refused. */
  readonly refusal?: 'goes-on' | 'cancels';
  /** What it is kept in. */
  readonly sandbox?: string;
  readonly offers?: readonly ('allow_once' | 'allow_always' | 'reject_once')[];
  /** What is done for it when it runs this. */
  readonly does?: (command: string, cwd: string) => void | Promise<void>;
}

/** An agent that an executor works for. */
export const executing = (name: string, changes: Partial<AgentDefinition> = {}): AgentDefinition => {
  const executor = changes.executor ?? { name: 'sample' };
  const models = [`executor:${executor.name}`];
  return { name, prompt: '', source: `agents/${name}.md`, ...changes, executor, models };
};

let pids = 1_000;

export type ExecutorBrain = (request: ModelRequest) => ModelOutcome | Promise<ModelOutcome>;

interface Live {
  readonly session: ExecutorSession;
  take(): void;
}

/**
 * The brain answers as a model would. A text ends the prompt. A call of `shell` is a command that it asks for and then runs
 * itself; one of `silent` is run without asking. The result is what it hears next.
 */
export function brainExecutors(memory: ExecutorMemory, brain: ExecutorBrain, habits: ExecutorHabits = {}): Executors {
  const living = new Map<string, Live>();
  let times = 0;
  let falls = 0;
  return {
    entries: async () => [],
    missing: async () => undefined,
    async open(asked) {
      const there = living.get(asked.key);
      if (there !== undefined) {
        there.take();
        memory.opened.push({ session: there.session.session, restored: 'live', cwd: asked.cwd, mode: asked.mode });
        return ok({ ...there.session, restored: 'live' as const });
      }
      times += 1;
      const away = habits.away?.(times);
      if (away !== undefined) return fail(away);
      const loaded = asked.session !== undefined && habits.loads !== false && memory.sessions.has(asked.session);
      const id = loaded ? (asked.session ?? '') : `session-${memory.sessions.size + 1}`;
      if (!loaded) memory.sessions.set(id, []);
      const restored = loaded ? ('loaded' as const) : ('new' as const);
      memory.opened.push({ session: id, restored, cwd: asked.cwd, mode: asked.mode });
      const live = createLive(
        memory,
        brain,
        habits,
        asked,
        id,
        restored,
        () => living.delete(asked.key),
        () => (falls += 1),
      );
      return ok(live(living));
    },
    async drop(key) {
      await living.get(key)?.session.end();
    },
    async close() {
      for (const { session } of [...living.values()]) await session.end();
    },
  };
}

/** Whoever follows it; while nobody does, what it asks and says is kept. */
interface Following {
  handlers?: PromptHandlers | undefined;
  readonly asked: Set<() => void>;
  kept: (() => void)[];
}

function createLive(
  memory: ExecutorMemory,
  brain: ExecutorBrain,
  habits: ExecutorHabits,
  asked: OpenExecutor,
  id: string,
  restored: 'new' | 'loaded',
  gone: () => void,
  falling: () => number,
): (living: Map<string, Live>) => ExecutorSession {
  const following: Following = { asked: new Set(), kept: [] };
  let underWay: Promise<PromptEnded> | undefined;
  const over = new AbortController();
  const said = (): Message[] => memory.sessions.get(id) ?? [];
  const begin = (handlers: PromptHandlers): Promise<PromptEnded> => {
    following.handlers = handlers;
    const fallen = habits.falls?.(falling());
    const going =
      fallen === undefined
        ? play({ memory, brain, habits, asked, id, said, following, over: over.signal })
        : Promise.resolve<PromptEnded>({ kind: 'failed', text: '', ...fallen });
    underWay = going.finally(() => (underWay = undefined));
    return underWay;
  };
  const session: ExecutorSession = {
    session: id,
    restored,
    about: {
      ...{ executor: asked.executor, version: '1', protocol: 1, modes: [], canLoad: habits.loads !== false, mcp: [] },
      ...{
        asks: true,
        without: [],
        ...present({ sandbox: habits.sandbox, model: asked.model, pid: habits.pid === 'own' ? pids++ : habits.pid }),
      },
    },
    resume(handlers) {
      if (underWay === undefined) return undefined;
      following.handlers = handlers;
      for (const tell of following.kept.splice(0)) tell();
      for (const ask of following.asked) ask();
      return underWay;
    },
    prompt(content, handlers) {
      const text = textOf(content as TextPart[]);
      memory.prompts.push({ session: id, text });
      memory.sessions.set(id, [...said(), userText(text)]);
      return begin(handlers);
    },
    leave() {
      following.handlers = undefined;
    },
    async end() {
      over.abort();
      gone();
      memory.ended += 1;
      return { exitCode: 0, stderr: '', survivors: [] };
    },
  };
  return (living) => {
    living.set(asked.key, { session, take: () => undefined });
    return session;
  };
}

interface Playing {
  readonly memory: ExecutorMemory;
  readonly brain: ExecutorBrain;
  readonly habits: ExecutorHabits;
  readonly asked: OpenExecutor;
  readonly id: string;
  said(): Message[];
  readonly following: Following;
  readonly over: AbortSignal;
}

async function play(playing: Playing): Promise<PromptEnded> {
  const { memory, brain, habits, asked, id, said, over } = playing;
  const usage = habits.usage;
  const ends = (stop: 'end_turn' | 'refusal' | 'cancelled', text: string): PromptEnded => ({
    ...{ kind: 'ended', stop, text, cut: false },
    ...present({ usage, costUsd: habits.costUsd }),
  });
  for (;;) {
    const request = { agent: asked.key, system: '', messages: said(), tools: [], settings: {}, idempotencyKey: id, timeoutMs: 0 };
    const outcome = await brain({ ...request, agent: asked.executor, signal: over } as unknown as ModelRequest);
    if (isCancelled(playing)) return ends('cancelled', '');
    if (outcome.kind === 'failed') return ends('refusal', outcome.error.message);
    const { message } = outcome.answer;
    memory.sessions.set(id, [...said(), message]);
    const [call] = toolCallsOf(message);
    if (call === undefined) {
      const text = textOf(message.content);
      tell(playing, (handlers) => handlers.onUpdate({ kind: 'text', text }));
      return ends('end_turn', text);
    }
    const result = await does(playing, `${call.id}-${said().length}`, call.name, call.input);
    // What it did it remembers, also when it is ended over it.
    if (result !== undefined) memory.sessions.set(id, [...said(), userText(result)]);
    if (isCancelled(playing) || result === undefined) return ends('cancelled', '');
  }
}

const isCancelled = ({ following, over }: Playing): boolean => over.aborted || following.handlers?.signal.aborted === true;

/** What nobody follows is kept until somebody does. */
function tell({ following }: Playing, what: (handlers: PromptHandlers) => void): void {
  const { handlers } = following;
  if (handlers !== undefined) what(handlers);
  else following.kept.push(() => following.handlers !== undefined && what(following.handlers));
}

/** `undefined`: the prompt ends because it was not allowed. */
async function does(playing: Playing, id: string, name: string, input: Json): Promise<string | undefined> {
  const { memory, habits, asked } = playing;
  if (name === 'ask') return JSON.stringify(await answeredTo(playing, input as never));
  const { command = name, path = '' } = input as { readonly command?: string; readonly path?: string };
  const kind = path === '' ? 'execute' : 'edit';
  const call: ExecutorCall = {
    ...{ id, title: command, kind, status: 'pending', locations: path === '' ? [] : [path], input },
    ...{ output: '', outputBytes: 0, diffs: [] },
  };
  if (name !== 'silent') {
    const decision = await decided(playing, call);
    memory.decisions.push(decision);
    if (decision === 'cancelled') return undefined;
    if (decision !== 'allow_once' && decision !== 'allow_always')
      return habits.refusal === 'cancels' ? undefined : `not allowed: ${command}`;
  }
  tell(playing, (handlers) => handlers.onUpdate({ kind: 'call', call: { ...call, status: 'in_progress' } }));
  memory.effects.push(command);
  await habits.does?.(command, asked.cwd);
  const output = `${command} done`;
  const ended: ExecutorCall = { ...call, status: 'completed', output, outputBytes: output.length };
  tell(playing, (handlers) => handlers.onUpdate({ kind: 'call', call: ended }));
  const costUsd = habits.says?.[memory.effects.length - 1];
  if (costUsd !== undefined) tell(playing, (handlers) => handlers.onUpdate({ kind: 'usage', costUsd }));
  return output;
}

function decided(playing: Playing, call: ExecutorCall): Promise<PermissionDecision> {
  const offers = playing.habits.offers ?? ['allow_once', 'allow_always', 'reject_once'];
  const options = offers.map((kind) => ({ name: kind, kind }));
  return openQuestion<PermissionDecision>(playing, 'cancelled', (handlers, signal) =>
    handlers.permission({ call, options, signal }),
  );
}

function answeredTo(playing: Playing, question: Pick<ExecutorQuestion, 'message' | 'schema'>): Promise<ExecutorAnswer> {
  return openQuestion<ExecutorAnswer>(playing, { action: 'cancel' }, async (handlers, signal) =>
    handlers.ask === undefined ? { action: 'decline' } : await handlers.ask({ ...question, signal }),
  );
}

/** Asked of whoever follows, and asked again of whoever follows next. */
function openQuestion<Value>(
  { following, over }: Playing,
  otherwise: Value,
  put: (handlers: PromptHandlers, signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve) => {
    const done = (decision: Value): void => {
      following.asked.delete(ask);
      resolve(decision);
    };
    const ask = (): void => {
      const { handlers } = following;
      if (handlers === undefined) return;
      const signal = AbortSignal.any([handlers.signal, over]);
      if (signal.aborted) {
        done(otherwise);
        return;
      }
      signal.addEventListener('abort', () => done(otherwise), { once: true });
      void put(handlers, signal).then(done);
    };
    following.asked.add(ask);
    ask();
  });
}

const heard = ({ messages }: ModelRequest): string =>
  messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : [])).join('\n');

/**
 * Runs these, one after the other, each with the tool that it names, and then says so. What it is told to be done, by what
 * came of it or in a list, it does not do again.
 */
export const diligent =
  (...commands: readonly (readonly [tool: string, command: string])[]): ExecutorBrain =>
  (request) => {
    const said = heard(request);
    const next = commands.find(([, command]) => !KNOWN.some((known) => said.includes(known(command))));
    return next === undefined ? say(`Done: ${commands.map(([, command]) => command).join(', ')}.`) : use(next);
  };

const KNOWN: readonly ((command: string) => string)[] = [
  (command) => `${command} done`,
  (command) => `not allowed: ${command}`,
  (command) => `\n- ${command}`,
];

const answer = (content: Extract<Message, { role: 'assistant' }>['content']): ModelOutcome => ({
  kind: 'answer',
  answer: { message: { role: 'assistant', content }, finish: 'stop', usage: {}, served: '' },
});
const say = (text: string): ModelOutcome => answer([{ type: 'text', text }]);
const use = ([name, command]: readonly [string, string]): ModelOutcome =>
  answer([{ type: 'tool-call', id: command, name, input: { command } }]);
