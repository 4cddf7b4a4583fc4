/**
 * Troupe through its public library surface, with its defaults for durability. What the benchmark changes is only what the
 * workloads need: enough turns for long runs, and a context window that they fit in.
 */
import type { AgentDefinition } from '../../src/agents/definition.ts';
import type { RunId } from '../../src/base/ids.ts';
import type { RunHandle } from '../../src/engine/port.ts';
import { userText } from '../../src/events/messages.ts';
import type { Project } from '../../src/project/project.ts';
import { type Tool, textResult } from '../../src/tools/port.ts';
import {
  LOOKUP_DESCRIPTION,
  LOOKUP_SCHEMA,
  type LookupInput,
  lookup,
  type Place,
  type RunScript,
  runModel,
  SYSTEM_PROMPT,
  type System,
  USER_PROMPT,
} from '../common.ts';

const CONTEXT_WINDOW = 10_000_000;

const lookupTool: Tool = {
  name: 'lookup',
  description: LOOKUP_DESCRIPTION,
  inputSchema: LOOKUP_SCHEMA,
  replay: 'safe',
  run: async (input) => textResult(lookup(input as unknown as LookupInput)),
};

export async function openTroupe(place: Place): Promise<System> {
  const troupe = await openSurface(place);

  const start = async (agent: string, run?: RunId): Promise<string> => {
    const begun = await troupe.engine.start({ agent, input: userText(USER_PROMPT), workspace: place.folder, run });
    if (begun.kind === 'refused') throw new Error(`${begun.error.code}: ${begun.error.message}`);
    return answerOf(begun.handle);
  };

  return {
    run: (id, script) => start(runModel(script), script.stall === undefined ? undefined : runIdOf(id)),
    resume: async (id) => {
      const outcome = await troupe.engine.resume(runIdOf(id));
      if (outcome.kind === 'ended') return outcome.result.report.body;
      if (outcome.kind !== 'resumed') throw new Error(`the run cannot be resumed: ${outcome.kind}`);
      return answerOf(outcome.handle);
    },
    close: () => troupe.close(),
  };
}

/** The one place that knows how the library is opened. */
async function openSurface(place: Place): Promise<Project> {
  const { createTroupe } = await import('../../src/index.ts');
  return createTroupe({
    root: place.folder,
    env: { OPENAI_BASE_URL: place.baseUrl, OPENAI_API_KEY: place.apiKey },
    agents: place.scripts.map(agentFor),
    tools: [lookupTool],
  });
}

/** One agent per script: its model's name is the script. */
function agentFor(script: RunScript): AgentDefinition {
  return {
    name: runModel(script),
    models: [`openai/${runModel(script)}`],
    prompt: SYSTEM_PROMPT,
    source: 'bench',
    tools: ['lookup'],
    maxTurns: script.turns + 2,
    contextWindow: CONTEXT_WINDOW,
  };
}

/** Only a run that will be resumed needs a name that both processes know. */
const runIdOf = (id: string): RunId => `run_${id}` as RunId;

async function answerOf(handle: RunHandle): Promise<string> {
  const end = await handle.done;
  if (end.kind !== 'ended') throw new Error(`the run did not end: ${end.kind}`);
  if (end.result.error !== undefined) throw new Error(`${end.result.error.code}: ${end.result.error.message}`);
  return end.result.report.body;
}
