/**
 * The way back: from the agents of a group to a preset. For agents that `presetAgents` made it gives the preset they were made
 * from, without the words that were put in for what it did not say.
 */
import { present } from '../../base/present.ts';
import type { AgentDefinition, GivenContext } from '../definition/definition.ts';
import { modelsNamed } from '../definition/references.ts';
import { writtenPrompt } from '../definition/variables.ts';
import { type PresetContent, type PresetWorker, roleOf } from './preset.ts';
import { narrowing } from './rights.ts';
import { isIntroduction, leaderPrompt, plainCharter, WORKER_TOOLS } from './to-agents.ts';

/** `name` is what the preset was called, or shall be called. `undefined` when the leader leads nobody. */
export function presetFromAgents(agents: readonly AgentDefinition[], leader: string, name: string): PresetContent | undefined {
  const lead = agents.find((agent) => agent.name === leader);
  if (lead?.group?.workers === undefined) return undefined;
  const { mode, workers, maxIterations, sharedContext, routingContext } = lead.group;
  const description = lead.description ?? '';
  const prompt = writtenPrompt(lead.prompt);
  const [model] = modelsNamed(lead);
  return {
    name,
    description,
    mode,
    orchestrator: {
      ...present({ model }),
      ...(prompt.trim() === '' || prompt === leaderPrompt({ name, description }) ? {} : { prompt }),
    },
    workers: workers.map((entry) => workerOf(typeof entry === 'string' ? { agent: entry } : entry, agents, name)),
    ...present({ maxIterations }),
    ...textOf('sharedContext', sharedContext),
    ...textOf('routingContext', routingContext),
  };
}

interface Entry {
  readonly agent: string;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly charter?: string | undefined;
}

function workerOf(entry: Entry, agents: readonly AgentDefinition[], group: string): PresetWorker {
  const agent = agents.find((one) => one.name === entry.agent);
  const name = entry.name ?? entry.agent;
  const said = entry.charter === undefined || isIntroduction(entry.charter) ? [] : [entry.charter];
  const prompt = writtenPrompt(agent?.prompt ?? '');
  const own = prompt.trim() === '' || prompt === plainCharter(group, name, agent?.description) ? [] : [prompt];
  const charter = [...said, ...own].join('\n\n');
  const model = entry.model ?? (agent === undefined ? undefined : modelsNamed(agent)[0]);
  const role = agent?.description;
  const tools = agent?.tools ?? [];
  return {
    name,
    ...present({ model }),
    ...(charter === '' ? {} : { charter }),
    ...(role === undefined || role === roleOf({ charter }) ? {} : { role }),
    ...(isDefault(tools) ? {} : { tools: [...tools] }),
    ...present({ permissions: narrowing(agent?.permissions) }),
  };
}

const isDefault = (tools: readonly string[]): boolean =>
  tools.length === WORKER_TOOLS.length && tools.every((tool, index) => tool === WORKER_TOOLS[index]);

/** A context that is a file of the project stays there. */
function textOf<Key extends string>(key: Key, context: GivenContext | undefined): { [Each in Key]?: string } {
  return (typeof context === 'object' ? { [key]: context.text } : {}) as { [Each in Key]?: string };
}
