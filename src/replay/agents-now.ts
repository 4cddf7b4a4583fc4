/**
 * Agents as they are declared now, in the place of those that were recorded: so that a run which is played again says whether its
 * agents' files, prompts, teams and tools still come to the same. Their models, and what servers offer, stay as recorded.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { recordedDefinition } from '../engine/record/agent-setup.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { EventOf } from '../events/envelope.ts';
import type { Tool } from '../tools/port.ts';
import type { RunRecord } from './record.ts';

type Setup = Payloads['session.config'];

/** What a project has of its agents without starting anything. */
export interface AgentsNow {
  agent(name: string): Promise<AgentDefinition | undefined>;
  tools(agent: AgentDefinition): Promise<Result<readonly Tool[], string>>;
  /** `at`: the time that the prompt may name. */
  prompt(agent: AgentDefinition, workspace: string, more: Readonly<Record<string, string>> | undefined, at: number): string;
}

const MESSAGE_TOOLS: readonly string[] = ['send_message', 'recv_message'];

export interface AgentsBeingRead extends AgentsNow {
  /** Whether somebody waits for one of them: reading files takes its time. */
  isBusy(): boolean;
}

export function beingRead(now: AgentsNow): AgentsBeingRead {
  let pending = 0;
  const counted = async <Value>(work: Promise<Value>): Promise<Value> => {
    pending += 1;
    try {
      return await work;
    } finally {
      pending -= 1;
    }
  };
  return {
    agent: (name) => counted(now.agent(name)),
    tools: (agent) => counted(now.tools(agent)),
    prompt: now.prompt,
    isBusy: () => pending > 0,
  };
}

/** A prompt was filled in shortly before its setup was recorded. */
const EARLIER_MS = [0, 1_000, 2_000];

export function agentsNow(now: AgentsNow, { standing }: RunRecord, inert: (spec: Setup['tools'][number]) => Tool) {
  const setups = standing.filter((event) => event.event_type === 'session.config');
  const of = (name: string): readonly EventOf<'session.config'>[] => setups.filter(({ payload }) => payload.agent === name);
  const still = (tool: Tool): Tool => ({ ...tool, ...withoutWork(tool) }) as Tool;
  return {
    async agent(name: string): Promise<AgentDefinition | undefined> {
      const found = await now.agent(name);
      const recorded = of(name)[0]?.payload.definition as Partial<AgentDefinition> | undefined;
      if (found === undefined || recorded === undefined) return found;
      const models = found.models.length > 0 ? found.models : (recorded.models ?? []);
      // Where its file lies is another machine's affair.
      return { ...found, models, source: recorded.source ?? found.source };
    },
    async tools(agent: AgentDefinition): Promise<Result<readonly Tool[], string>> {
      const names = agent.tools ?? [];
      // Nothing is started, so that nobody has to allow it.
      const { mcp: _servers, ...alone } = agent;
      const own = await now.tools({ ...alone, tools: names.filter((name) => !isOfServer(name)) });
      if (!own.ok) return fail(own.error);
      const prefixes = names.filter(isOfServer).map(prefixOf);
      const specs = of(agent.name)[0]?.payload.tools ?? [];
      const served = specs.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)));
      return ok([...own.value.map(still), ...served.map(inert)]);
    },
    prompt(agent: AgentDefinition, workspace: string, more?: Readonly<Record<string, string>>): string {
      const places = of(agent.name).flatMap(({ payload, timestamp }) =>
        EARLIER_MS.map((earlier) => ({ system: payload.system, at: Date.parse(timestamp) - earlier })),
      );
      const filled = places.map(({ system, at }) => ({ system, text: now.prompt(agent, workspace, more, at) }));
      const same = filled.find(({ system, text }) => system === text);
      return (same ?? filled[0])?.text ?? now.prompt(agent, workspace, more, 0);
    },
    /** Spawned agents have them beside their own. */
    messageTools: async (): Promise<readonly Tool[]> => {
      const own = (of: Setup): readonly string[] => recordedDefinition(of).tools ?? [];
      const isGiven = ({ payload }: EventOf<'session.config'>): boolean =>
        payload.tools.some(({ name }) => MESSAGE_TOOLS.includes(name)) &&
        !own(payload).some((name) => name === 'assistants' || MESSAGE_TOOLS.includes(name));
      // In the order in which they are given, and not in that in which somebody asks for them.
      const given = setups.find(isGiven);
      const specs = (given === undefined ? setups : [given])
        .flatMap(({ payload }) => payload.tools)
        .filter(({ name }) => MESSAGE_TOOLS.includes(name));
      return [...new Map(specs.map((spec) => [spec.name, inert(spec)])).values()];
    },
  };
}

const isOfServer = (name: string): boolean => name.startsWith('mcp:');

/** What the names of a server's tools begin with; of one tool all of its name. */
function prefixOf(name: string): string {
  const [server = '', ...rest] = name.slice('mcp:'.length).split('/');
  const tool = rest.join('/');
  const plain = (text: string): string => text.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  return `${plain(server)}__${tool === '*' ? '' : plain(tool)}`;
}

const withoutWork = ({ kind }: Tool): object =>
  kind === undefined ? { run: async () => ({ kind: 'error', message: 'Nothing is run in a replay.' }) } : {};
