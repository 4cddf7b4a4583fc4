/**
 * What an engine is built from that plays a run again: nothing that it could reach anybody with. Agents and their tools are those
 * that were recorded when their runs began; whatever asks for more than is recorded fails.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { LOOKING_TOOLS } from '../agents/definition/tool-names.ts';
import type { Clock } from '../base/clock.ts';
import { createIds } from '../base/ids.ts';
import { canonicalJson, type Json } from '../base/json.ts';
import { seededRandom } from '../base/random.ts';
import { fail, ok } from '../base/result.ts';
import { ASK_CLARIFICATION, agentTools } from '../engine/calls/agent-tools.ts';
import type { EngineOptions, ReplayWatch } from '../engine/options.ts';
import { recordedDefinition } from '../engine/record/agent-setup.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { Ledger } from '../ledger/port.ts';
import type { Pattern } from '../patterns/pattern.ts';
import { registeredPatterns } from '../patterns/registered.ts';
import { createQuota } from '../quota/quota.ts';
import type { OrdinaryTool, Tool } from '../tools/port.ts';
import { type AgentsNow, agentsNow } from './agents-now.ts';
import type { RunRecord } from './record.ts';

type Setup = Payloads['session.config'];

const NOTHING_LIVE = 'Nobody is asked in a replay, and nothing is recorded of this.';

export function noOutside(
  record: RunRecord,
  ledger: Ledger,
  replay: ReplayWatch,
  { patterns, agents: now }: { readonly patterns?: readonly Pattern[] | undefined; readonly agents?: AgentsNow | undefined } = {},
): EngineOptions {
  const setups = setupsIn(record);
  const clock = stillClock(Date.parse(record.events.at(-1)?.timestamp ?? ''));
  const random = seededRandom(1);
  return {
    ...{ ledger, replay, clock, random, ids: createIds(clock, random), owner: 'replay' },
    patterns,
    models: { open: async () => fail({ kind: 'invalid_request', message: NOTHING_LIVE }) },
    prices: { version: 'replay', cost: () => undefined, worstCase: () => undefined },
    quota: createQuota({ clock, random }),
    agent: async (name) => agentIn(setups, name),
    tools: async (agent) => ok(await toolsIn(setups, agent, patterns ?? registeredPatterns)),
    permission: () => 'allow',
    redact: (text) => text,
    defaultModels: async () => ok([]),
    prompt: (agent) => agent.prompt,
    ...(now === undefined ? {} : { ...agentsNow(now, record, recordedTool), prices: FREE }),
  };
}

/** That its price was known is recorded with it; nothing is spent here. */
const FREE: EngineOptions['prices'] = { version: 'replay', cost: () => 0, worstCase: () => 0 };

/** Of every agent with what its runs began, the oldest first. */
type Setups = ReadonlyMap<string, readonly Setup[]>;

function setupsIn({ events }: RunRecord): Setups {
  const all = events.flatMap((event) => (event.event_type === 'session.config' ? [event.payload] : []));
  return Map.groupBy(all, ({ agent }) => agent);
}

/** Somebody who was named and never began is known by name only. */
function agentIn(setups: Setups, name: string): AgentDefinition {
  const setup = setups.get(name)?.at(-1);
  if (setup !== undefined) return recordedDefinition(setup);
  const isAskable = [...setups.values()].flat().some((other) => isOfferedBy(other, name) && hasTool(other, ASK_CLARIFICATION));
  return { name, models: [], prompt: '', source: '', ...(isAskable ? { chat: true } : {}) };
}

const isOfferedBy = (setup: Setup, name: string): boolean => recordedDefinition(setup).agents?.includes(name) === true;
const hasTool = ({ tools }: Setup, name: string): boolean => tools.some((tool) => tool.name === name);

const KINDS: Readonly<Record<string, 'question' | 'spawn' | 'cancel'>> = {
  ...{ ask: 'question', spawn_assistant: 'spawn', cancel_assistant: 'cancel' },
};

/**
 * The tools that its run began with, but for those that stand for other agents: the engine makes these itself, and calls them
 * differently where a name is taken. They stand behind the agent's own.
 */
async function toolsIn(setups: Setups, agent: AgentDefinition, patterns: readonly Pattern[]): Promise<Tool[]> {
  const specs = setupOf(setups, agent)?.tools ?? [];
  for (let own = specs.length; own >= 0; own -= 1) {
    const taken = new Set(specs.slice(0, own).map(({ name }) => name));
    const made = await agentTools(agent, async (name) => agentIn(setups, name), taken, patterns);
    const names = made.ok ? made.value.map(({ name }) => name) : [];
    if (names.every((name, at) => specs[own + at]?.name === name))
      return [...specs.slice(0, own), ...specs.slice(own + names.length)].map(recordedTool);
  }
  return specs.map(recordedTool);
}

/** As it was defined then; the one with the most tools, because a part that it played may have been given fewer, or none. */
function setupOf(setups: Setups, agent: AgentDefinition): Setup | undefined {
  const all = setups.get(agent.name) ?? [];
  const said = saidOf(agent);
  const same = all.filter((setup) => saidOf(recordedDefinition(setup)) === said);
  return (same.length > 0 ? same : all).toSorted((one, other) => other.tools.length - one.tools.length)[0];
}

const saidOf = (agent: AgentDefinition): string => canonicalJson(agent as unknown as Json);

function recordedTool({ name, description, inputSchema, replay }: Setup['tools'][number]): Tool {
  const described = { name, description, inputSchema: inputSchema as OrdinaryTool['inputSchema'] };
  const kind = KINDS[name];
  if (kind !== undefined) return { ...described, kind, replay: 'safe' };
  return {
    ...described,
    replay,
    readOnly: LOOKING_TOOLS.includes(name),
    run: async () => ({ kind: 'error', message: NOTHING_LIVE }),
  };
}

/** Later than anything that was waited for then. */
const LATER_MS = 366 * 24 * 3_600_000;

/** What was waited for then is over; nothing that is not recorded comes about by waiting. */
function stillClock(end: number): Clock {
  return {
    now: () => end + LATER_MS,
    elapsed: () => 0,
    after(delayMs, callback) {
      let isOff = delayMs > 0;
      queueMicrotask(() => {
        if (!isOff) callback();
      });
      return () => {
        isOff = true;
      };
    },
  };
}
