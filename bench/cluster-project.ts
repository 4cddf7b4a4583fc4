/** The project that the cluster benchmark works on, opened alike by its client and its workers. */
import type { AgentDefinition } from '../src/agents/definition/definition.ts';
import { present } from '../src/base/present.ts';
import { type OrdinaryTool, textResult } from '../src/index.ts';
import { openProject } from '../src/project/open.ts';
import type { Project } from '../src/project/project.ts';
import {
  DELEGATE_DESCRIPTION,
  LOOKUP_DESCRIPTION,
  LOOKUP_SCHEMA,
  type LookupInput,
  lookup,
  type RunScript,
  runModel,
  SYSTEM_PROMPT,
  supervisorModel,
} from './common.ts';

export const LATENCY_MS = 100;
export const STEPS = 10;
export const FAN = { width: 8, subTurns: 3, delay: LATENCY_MS } as const;
export const tenSteps: RunScript = { turns: STEPS, delay: LATENCY_MS };
export const threeSteps: RunScript = { turns: 3, delay: LATENCY_MS };
/** Its first tool call waits for a person. */
export const WAITING = 'waiting';

export interface Addresses {
  readonly root: string;
  readonly model: string;
  /** The project's own file when there is none. */
  readonly ledger?: string | undefined;
  readonly engine?: string | undefined;
}

const lookupTool: OrdinaryTool = {
  name: 'lookup',
  description: LOOKUP_DESCRIPTION,
  inputSchema: LOOKUP_SCHEMA,
  replay: 'safe',
  run: async (input) => textResult(lookup(input as unknown as LookupInput)),
};

export function openBenchProject({ root, model, ledger, engine }: Addresses): Promise<Project> {
  const env = {
    OPENAI_BASE_URL: `${model}/v1`,
    OPENAI_API_KEY: 'none',
    TROUPE_HOME: `${root}/home`,
    ...present({ TROUPE_LEDGER: ledger, TROUPE_ENGINE: engine }),
  };
  return openProject({ cwd: root, root, env }, { agents: agents(), tools: [lookupTool] });
}

function agents(): AgentDefinition[] {
  const waiting = { ...agentFor(threeSteps, WAITING), permissions: { lookup: 'ask' as const } };
  const supervisor: AgentDefinition = {
    name: supervisorModel(FAN),
    models: [`openai/${supervisorModel(FAN)}`],
    prompt: SYSTEM_PROMPT,
    source: 'bench',
    agents: ['delegate'],
  };
  const task = { type: 'string', description: 'The task for the helper' };
  const schema = { type: 'object', properties: { task }, required: ['task'], additionalProperties: false };
  const helper = { ...agentFor(threeSteps, 'delegate'), description: DELEGATE_DESCRIPTION, input: { schema } };
  return [agentFor(tenSteps), agentFor(threeSteps), waiting, supervisor, helper];
}

const agentFor = (script: RunScript, name = runModel(script)): AgentDefinition => ({
  name,
  models: [`openai/${runModel(script)}`],
  prompt: SYSTEM_PROMPT,
  source: 'bench',
  tools: ['lookup'],
  maxTurns: script.turns + 2,
});
