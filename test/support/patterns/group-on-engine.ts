/**
 * A group on the real engine, with a model that plays every part by a function of what it is asked: the same answer to the
 * same request, also in another life. Time passes while nothing else happens, so that back-offs and timeouts cost nothing, and
 * nobody is too slow for a limit.
 */

import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { RunId, SessionId } from '../../../src/base/ids.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { EventType, Payloads } from '../../../src/events/catalogue.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { textOf, userText } from '../../../src/events/messages.ts';
import { memberOfGroup } from '../../../src/events/run-origin.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import type { Tool } from '../../../src/tools/port.ts';
import { createQuietClock } from '../quiet-clock.ts';
import { agent, calls, createWorld, says, type World, type WorldOptions } from '../world.ts';

export type Group = NonNullable<AgentDefinition['group']>;

/** What takes longer is a net for whoever hangs: it must not catch somebody who is only slow. */
const NET_MS = 60_000;

/** Pauses are two hundred times as short as on a wall clock; limits of a minute and more are as long as they are. */
export const fastClock: Clock = {
  ...systemClock,
  after: (delayMs, callback, hold) => systemClock.after(delayMs < NET_MS ? delayMs / 200 : delayMs, callback, hold),
};

/** What somebody is asked to be in one call. */
export type Part = 'plan' | 'replan' | 'nudge' | 'synthesis' | 'verdict' | 'evaluate' | 'work' | 'other';

const BEGINNINGS: readonly (readonly [RegExp, Part])[] = [
  [/^You are the dispatcher of a group/, 'plan'],
  [/^The goal is not reached yet/, 'replan'],
  [/Answer with one block per worker you want to use, not in a code block/, 'nudge'],
  [/^The workers have answered/, 'synthesis'],
  [/^Judge your last answer/, 'verdict'],
  [/^You judge the work of a group/, 'evaluate'],
  [/## Your Assigned Task/, 'work'],
];

export const partOf = (text: string): Part => BEGINNINGS.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';

const texts = (request: ModelRequest): string[] =>
  request.messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []));

export interface Asked {
  readonly agent: string;
  readonly part: Part;
  /** What was asked last. */
  readonly text: string;
  /** How many plans, tasks or judgements it has been asked for so far: the iteration, unless something was tried again. */
  readonly round: number;
  readonly request: ModelRequest;
}

export function askedIn(request: ModelRequest): Asked {
  const all = texts(request);
  const text = all.at(-1) ?? '';
  const part = partOf(text);
  const count = (...engineOptions: Part[]): number => all.filter((one) => engineOptions.includes(partOf(one))).length;
  const judged = Number(/iteration (\d+)\./.exec(text)?.[1] ?? 0);
  const round = part === 'evaluate' ? judged : part === 'work' ? count('work') : Math.max(1, count('plan', 'replan'));
  return { agent: request.agent ?? '', part, text, round, request };
}

export type Player = (asked: Asked) => ModelOutcome | string | undefined | Promise<ModelOutcome | string | undefined>;

export const judges = (score: number, rationale = `worth ${score}`): ModelOutcome =>
  calls({ name: 'evaluate', input: { score, rationale } });

export const breaks = (message = 'no key'): ModelOutcome => ({ kind: 'failed', error: { kind: 'refused', message } });

/** A call that ends only when it is stopped. */
export const hangs = ({ request }: Asked): Promise<ModelOutcome> =>
  new Promise((resolve) => {
    const stop = (): void => resolve({ kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } });
    if (request.signal.aborted) stop();
    else request.signal.addEventListener('abort', stop, { once: true });
  });

/** Everybody does what is expected; the player changes what it wants to. */
export function acting(player: Player, workers: readonly string[] = ['coder', 'tester']) {
  return async (request: ModelRequest): Promise<ModelOutcome> => {
    const asked = askedIn(request);
    const said = (await player(asked)) ?? expected(asked, workers);
    return typeof said === 'string' ? says(said) : said;
  };
}

function expected({ agent: name, part, round, text }: Asked, workers: readonly string[]): ModelOutcome | string {
  const task = text.split('## Your Assigned Task')[1]?.trim();
  if (part === 'work') return `${name} has done in round ${round}: ${task}. ${'It was a long piece of work. '.repeat(5)}`;
  if (part === 'evaluate') return judges(0.5);
  if (part === 'synthesis')
    return `Synthesis ${round}: ${'word'.repeat(round)} ${round * 7} ${round * 11}.\n[[NEEDS_ITERATION]]\nMore.`;
  return workers.map((worker) => `@worker:${worker}\nDo part ${round} of ${worker}.\n@end`).join('\n');
}

export function groupAgents(
  group: Group,
  others: readonly string[] = ['coder', 'tester', 'judge'],
  lead: Partial<AgentDefinition> = {},
): AgentDefinition[] {
  return [agent({ name: 'lead', tools: [], group, ...lead }), ...others.map((name) => agent({ name, tools: [] }))];
}

export interface GroupRun {
  readonly world: World;
  readonly session: SessionId;
  readonly result: RunResult;
  readonly events: readonly LedgerEvent[];
  /** Everything that was asked, in order. */
  readonly asked: readonly Asked[];
}

export interface GroupRunOptions extends Omit<WorldOptions, 'brain' | 'agents'> {
  readonly group: Group;
  readonly others?: readonly string[];
  readonly lead?: Partial<AgentDefinition>;
  readonly agents?: readonly AgentDefinition[];
  readonly player?: Player;
  readonly prompt?: string;
}

/** Runs the group to its end. The caller closes the world. */
export async function runGroup(options: GroupRunOptions): Promise<GroupRun> {
  const asked: Asked[] = [];
  const names = (options.group.workers ?? []).map((one) => (typeof one === 'string' ? one : (one.name ?? one.agent)));
  const brain = acting((one) => {
    asked.push({ ...one, request: { ...one.request, messages: [...one.request.messages] } });
    return options.player?.(one);
  }, names);
  const agents = options.agents ?? groupAgents(options.group, options.others, options.lead);
  const world = createWorld({ clock: createQuietClock(), ...options, agents, brain });
  return { ...(await sendTo(world, options.prompt ?? 'Build it.')), asked };
}

export async function sendTo(world: World, prompt: string, session?: SessionId): Promise<Omit<GroupRun, 'asked'>> {
  const started = await world.engine.start({ agent: 'lead', input: userText(prompt), workspace: '.', session });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  const events = await readAll(world.ledger, started.handle.session);
  return { world, result: end.result, events, session: started.handle.session };
}

type OfType<Type extends EventType> = Extract<LedgerEvent, { event_type: Type }>;

export const only = <Type extends EventType>(events: readonly LedgerEvent[], type: Type): OfType<Type>[] =>
  events.filter((event): event is OfType<Type> => event.event_type === type);

export const payloads = <Type extends EventType>(events: readonly LedgerEvent[], type: Type): Payloads[Type][] =>
  // The mapped union ties payload to type; the compiler cannot see that through a generic function.
  only(events, type).map((event) => event.payload as Payloads[Type]);

/** The runs of one worker, oldest first. */
export const runsOf = (events: readonly LedgerEvent[], member: string): RunId[] =>
  only(events, 'run.started').flatMap((event) => (memberOfGroup(event.payload) === member ? [event.run_id as RunId] : []));

export const HELD_RUN = 'run_00000000000000000held' as RunId;

/** A loop that the test holds in its hand: it can be cancelled, paused and, when it was, resumed. The coder has the tools. */
export async function holdLoop(group: Partial<Group>, player: Player, made: (world: World) => void, tools: readonly Tool[] = []) {
  const agents = groupAgents({ mode: 'reflect', workers: ['coder', 'tester'], ...group });
  const world = createWorld({
    clock: fastClock,
    tools,
    agents: agents.map((one) => (one.name === 'coder' ? { ...one, tools: tools.map((tool) => tool.name) } : one)),
    brain: acting(player),
  });
  made(world);
  const started = await world.engine.start({ agent: 'lead', input: userText('Build it.'), workspace: '.', run: HELD_RUN });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  let end = await started.handle.done;
  for (let turn = 0; end.kind === 'paused' && turn < 10; turn += 1) {
    const resumed = await world.engine.resume(HELD_RUN);
    if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
    end = await resumed.handle.done;
  }
  const events = await readAll(world.ledger, started.handle.session);
  await world.close();
  return { end, events };
}
