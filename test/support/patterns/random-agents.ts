/**
 * Random agents that use each other in every pattern, and a random model for them. An agent names only agents that come
 * after it, so there are no circles. The model answers well, badly or not at all, in a repeatable way.
 */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { Json, JsonObject } from '../../../src/base/json.ts';
import { present } from '../../../src/base/present.ts';
import type { Random } from '../../../src/base/random.ts';
import type { ModelFailure } from '../../../src/events/catalogue.ts';
import { type AssistantMessage, type Message, textOf } from '../../../src/events/messages.ts';
import type { ModelOutcome, ModelRequest, ToolSpec } from '../../../src/models/port.ts';

/** Dice on a seeded source. */
export interface Dice {
  chance(probability: number): boolean;
  /** From 0 up to but not including `below`. */
  number(below: number): number;
  one<Item>(items: readonly Item[]): Item;
  some<Item>(items: readonly Item[], most: number): Item[];
}

export function diceOf(random: Random): Dice {
  const number = (below: number): number => Math.floor(random.fraction() * below);
  return {
    number,
    chance: (probability) => random.fraction() < probability,
    one: <Item>(items: readonly Item[]) => items[number(items.length)] as Item,
    some(items, most) {
      const left = [...items];
      const taken = [];
      for (let count = 1 + number(most); count > 0 && left.length > 0; count -= 1)
        taken.push(...left.splice(number(left.length), 1));
      return taken;
    },
  };
}

const NAMES = ['root', 'Prüfer eins', 'desk', '調査 班', 'writer', 'lead-2', 'Ärztin', 'last word'] as const;

export function randomAgents(dice: Dice): AgentDefinition[] {
  const names = NAMES.slice(0, 3 + dice.number(NAMES.length - 2));
  return names.map((name, index) => randomAgent(dice, name, names.slice(index + 1), index < 2 ? 1.6 : 1));
}

/** `eager` agents use others more often. */
function randomAgent(dice: Dice, name: string, others: readonly string[], eager: number): AgentDefinition {
  const team = others.length > 1 && dice.chance(0.3 * eager) ? randomTeam(dice, others) : undefined;
  const may = (probability: number): boolean => others.length > 0 && dice.chance(probability * eager);
  const dispatch = team === undefined && may(0.25) ? randomDispatch(dice, others) : undefined;
  const core = team !== undefined || dispatch !== undefined;
  return {
    name,
    models: ['test/model'],
    prompt: `You are ${name}.`,
    source: `agents/${name}.md`,
    tools: [...dice.some(['look', 'act'], 2), ...(dice.chance(0.12) ? ['ask'] : [])],
    permissions: { act: dice.chance(0.1) ? 'ask' : 'allow' },
    maxTurns: dice.chance(0.1) ? 1 : 2 + dice.number(6),
    maxRetries: dice.number(3),
    chat: dice.chance(0.6),
    ...(dice.chance(0.25) ? { contextWindow: 3_000, maxOutputTokens: 500 } : {}),
    ...(dice.chance(0.15) ? { maxToolCallsPerTurn: 2 } : {}),
    ...(dice.chance(0.15) ? { budget: randomBudget(dice) } : {}),
    ...present({ team, dispatch }),
    ...(!core && may(0.25) ? { router: { destinations: dice.some(others, 3) } } : {}),
    ...(may(0.3) ? { advisors: dice.some(others, 2) } : {}),
    ...(may(0.25) ? { handoff: { to: dice.one(others), include: dice.one(['report', 'request'] as const) } } : {}),
    ...(may(0.6) ? { agents: dice.some(others, 2) } : {}),
  };
}

function randomTeam(dice: Dice, others: readonly string[]): NonNullable<AgentDefinition['team']> {
  const members = dice.some(others, 3);
  const leads = others.filter((name) => !members.includes(name));
  return {
    members,
    ...(leads.length > 0 && dice.chance(0.4) ? { supervisor: dice.one(leads) } : {}),
    ...(dice.chance(0.6) ? { memberMaxTurns: 1 + dice.number(5) } : {}),
    ...(dice.chance(0.6) ? { supervisorMaxTurns: 1 + dice.number(4) } : {}),
  };
}

function randomDispatch(dice: Dice, others: readonly string[]): NonNullable<AgentDefinition['dispatch']> {
  return {
    agents: dice.chance(0.05) ? [] : dice.some(others, 3),
    maxAttempts: 1 + dice.number(3),
    retries: dice.chance(0.3) ? 1 : 0,
    retryDelay: dice.one([0, 1_000]),
    timeout: dice.one([5_000, 30_000, 300_000]),
    cache: dice.chance(0.3),
    ...(dice.chance(0.5) ? { fallback: dice.one(others) } : {}),
    ...(dice.chance(0.4) ? { clarification: dice.one([...others, 'ask']) } : {}),
    ...(dice.chance(0.3) ? { priority: dice.some(others, 1) } : {}),
    ...(dice.chance(0.3) ? { confidenceThreshold: dice.one([0, 0.35, 1]) } : {}),
    ...(dice.chance(0.2) ? { needsInput: false } : {}),
    ...(dice.chance(0.3) ? { join: false } : {}),
    ...(dice.chance(0.05) ? { dryRun: true } : {}),
    ...(dice.chance(0.2) ? { partialFailureTemplate: '{failureMessage} / {successMessage}', fallbackMessage: 'Later.' } : {}),
    ...(dice.chance(0.2) ? { userPromptTemplate: '{0} {1}', includeCapabilities: false, includeExamples: false } : {}),
  };
}

function randomBudget(dice: Dice): NonNullable<AgentDefinition['budget']> {
  return dice.one([
    { calls: dice.number(12) },
    { tokens: 2_000 + dice.number(60_000) },
    { usd: 0.01 + dice.number(100) / 1_000 },
    { depth: dice.number(4) },
    { wall: 200 + dice.number(20_000) },
  ]);
}

const FOLLOW_UPS = ['ask_clarification', 'dismiss_agent'];
const EXITS = ['final_report', 'handoff-to', 'team_broadcast'];
const PASSING: readonly ModelFailure['kind'][] = ['rate_limited', 'overloaded', 'network', 'timeout', 'bad_response'];
const LASTING: readonly ModelFailure['kind'][] = ['auth', 'invalid_request', 'refused', 'context_overflow'];

/** What the model does with a request. `tired` lets everything come to an end. */
export function randomAnswer(dice: Dice, request: ModelRequest, serial: number, tired: boolean): ModelOutcome {
  if (dice.chance(0.06)) return failed(dice.one(PASSING));
  if (dice.chance(0.02)) return failed(dice.one(LASTING));
  if (dice.chance(0.03)) return said(request, '');
  if (request.outputSchema !== undefined) return said(request, chosen(dice, request.outputSchema, serial, tired));
  const exits = request.tools.filter((tool) => EXITS.includes(tool.name));
  const working = request.tools.filter((tool) => !EXITS.includes(tool.name));
  if (exits.length === 0 && (tired || dice.chance(0.5)))
    return said(request, `Words ${serial}${!tired && dice.chance(0.1) ? '?' : '.'}`);
  if (exits.length > 0 && dice.chance(0.1)) return said(request, `Plain ${token(serial)}.`);
  if (working.length === 0 || tired || dice.chance(0.35)) {
    const leaving = exits.length > 0 ? [exitCall(dice, dice.one(exits), serial, tired)] : [];
    // Some models call a tool beside the exit.
    const more = !tired && working.length > 0 && dice.chance(0.15) ? [workCall(dice, dice.one(working), request, serial)] : [];
    return called(request, [...leaving, ...more], dice);
  }
  const asked = Array.from({ length: 1 + dice.number(4) }, () =>
    workCall(dice, nextTool(dice, working, request), request, serial),
  );
  if (dice.chance(0.05)) asked.push({ name: 'no-such-tool', input: {} });
  return called(request, asked, dice);
}

/** Whom a router chooses: sure or not, alone or with others, and now and then nobody that there is. */
function chosen(dice: Dice, schema: Json, serial: number, tired: boolean): string {
  const { agentId } = (schema as { readonly properties: { readonly agentId: { readonly enum: readonly string[] } } }).properties;
  if (!tired && dice.chance(0.1)) return 'Somebody will know.';
  const first = dice.chance(0.1) ? 'nobody' : dice.one(agentId.enum);
  const more = dice.chance(0.4) ? dice.some([...agentId.enum, 'nobody'], 2) : [];
  const told = [first, ...more]
    .filter(() => dice.chance(0.8))
    .map((id) => ({ agentId: id, instruction: `Part ${serial} of ${id}.` }));
  const confidence = tired ? 0.9 : dice.number(11) / 10;
  return JSON.stringify({
    agentId: first,
    confidence,
    reasoning: `Why ${serial}?`,
    additionalAgents: more,
    agentInstructions: told,
  });
}

/** A word that occurs nowhere else: readers of a broadcast are known by it. */
const token = (serial: number): string => `«${serial}»`;

interface Asked {
  readonly name: string;
  readonly input: Json;
}

function exitCall(dice: Dice, exit: ToolSpec, serial: number, tired: boolean): Asked {
  const { name } = exit;
  if (name === 'final_report')
    return {
      name,
      input: {
        report: `Report ${serial}${!tired && dice.chance(0.25) ? '?' : '.'}`,
        status: dice.chance(0.1) ? 'failure' : 'success',
      },
    };
  if (name === 'team_broadcast') {
    const final = tired || dice.chance(0.3) ? { final: true } : {};
    return {
      name,
      input: dice.chance(0.05)
        ? { note: 'wrong' }
        : { message: `Broadcast ${token(serial)}${dice.chance(0.15) ? ' loud'.repeat(dice.number(3_000)) : ''}`, ...final },
    };
  }
  const properties = (exit.inputSchema as { readonly properties: { readonly agent: { readonly enum: string[] } } }).properties;
  const agent = dice.chance(0.15) ? 'nowhere' : dice.one(properties.agent.enum);
  return { name, input: dice.chance(0.5) ? { agent } : { agent, message: `Note ${serial}.` } };
}

/** Whoever has sub-agents to ask, asks. */
function nextTool(dice: Dice, working: readonly ToolSpec[], request: ModelRequest): ToolSpec {
  const followUps = working.filter(({ name }) => FOLLOW_UPS.includes(name));
  const others = working.filter(({ name }) => !FOLLOW_UPS.includes(name));
  if (followUps.length > 0 && dice.chance(frozenIds(request.messages).length > 0 ? 0.5 : 0.05)) return dice.one(followUps);
  return dice.one(others);
}

function workCall(dice: Dice, tool: ToolSpec, request: ModelRequest, serial: number): Asked {
  const { name } = tool;
  if (name === 'look' || name === 'act') return { name, input: { name: `${serial}-${dice.number(1_000_000)}` } };
  if (name === 'ask') return { name, input: { question: `Question ${serial}?` } };
  if (FOLLOW_UPS.includes(name)) {
    const ids = frozenIds(request.messages);
    const id = ids.length === 0 || dice.chance(0.1) ? 'nobody' : dice.one(ids);
    return { name, input: name === 'dismiss_agent' ? { id } : { id, question: `What of ${serial}?` } };
  }
  const input: JsonObject = { prompt: `Task ${serial}.`, reason: `because of ${serial}` };
  return { name, input: dice.chance(0.08) ? { prompt: 'no reason' } : input };
}

function frozenIds(messages: readonly Message[]): string[] {
  const texts = messages.flatMap((message) =>
    message.role === 'tool' ? message.content.map((part) => textOf(part.content)) : [],
  );
  return [...new Set(texts.flatMap((text) => [...text.matchAll(/with id `([^`]+)`/g)].map((match) => match[1] ?? '')))];
}

const failed = (kind: ModelFailure['kind']): ModelOutcome => ({
  kind: 'failed',
  error: { kind, message: `The model says: ${kind}.` },
});

const said = (request: ModelRequest, text: string): ModelOutcome =>
  answered(request, { role: 'assistant', content: [{ type: 'text', text }] });

/** Some providers give ids that are unique only within one answer. */
function called(request: ModelRequest, asked: readonly Asked[], dice: Dice): ModelOutcome {
  const start = dice.chance(0.5) ? 0 : dice.number(1_000_000_000);
  const content = asked.map(({ name, input }, index) => ({
    type: 'tool-call' as const,
    id: `call-${start + index}`,
    name,
    input,
  }));
  return answered(request, { role: 'assistant', content });
}

function answered(request: ModelRequest, message: AssistantMessage): ModelOutcome {
  const characters = request.messages.reduce((sum, one) => sum + charactersOf(one), request.system.length);
  const usage = { inputTokens: Math.ceil(characters / 4), outputTokens: 10 };
  return { kind: 'answer', answer: { message, finish: 'stop', usage, served: 'test/model' } };
}

function charactersOf(message: Message): number {
  let sum = 0;
  for (const part of message.content) {
    if (part.type === 'text') sum += part.text.length;
    else if (part.type === 'tool-result') sum += textOf(part.content).length;
  }
  return sum;
}
