/**
 * Troupe through its public library surface, with its defaults for durability. What the benchmark changes is only what the
 * workloads need: enough turns for long runs, and a context window that they fit in.
 */
import { mkdirSync } from 'node:fs';
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';
import type { RunId } from '../../src/base/ids.ts';
import type { RunHandle } from '../../src/engine/port.ts';
import { userText } from '../../src/events/messages.ts';
import type { Troupe } from '../../src/index.ts';
import { type OrdinaryTool, textResult } from '../../src/tools/port.ts';
import {
  DELEGATE_DESCRIPTION,
  type FanOutScript,
  LOOKUP_DESCRIPTION,
  LOOKUP_SCHEMA,
  type LookupInput,
  lookup,
  type Place,
  type RunScript,
  runModel,
  SUPERVISOR_PROMPT,
  SYSTEM_PROMPT,
  type System,
  subAgentScript,
  supervisorModel,
  USER_PROMPT,
} from '../common.ts';

const CONTEXT_WINDOW = 10_000_000;

const lookupTool: OrdinaryTool = {
  name: 'lookup',
  description: LOOKUP_DESCRIPTION,
  inputSchema: LOOKUP_SCHEMA,
  replay: 'safe',
  run: async (input) => textResult(lookup(input as unknown as LookupInput)),
};

export async function openTroupe(place: Place, how?: 'watched' | 'telemetry'): Promise<System> {
  const spans = how === 'telemetry' ? { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: new URL('/v1/traces', place.baseUrl).href } : {};
  const troupe = await openSurface(place, place.folder, place.scripts.map(agentFor), spans);
  if (how === 'watched') await watch(troupe);
  const fans = new Map<string, Promise<Troupe>>();

  /** A sub-agent's tool has the agent's name, and every script calls it `delegate`: so each script is a project of its own. */
  const fanFor = (script: FanOutScript): Promise<Troupe> => {
    const name = supervisorModel(script);
    const known = fans.get(name) ?? openSurface(place, `${place.folder}/${name}`, fanAgents(script));
    fans.set(name, known);
    return known;
  };

  return {
    run: (id, script) => start(troupe, runModel(script), USER_PROMPT, script.stall === undefined ? undefined : runIdOf(id)),
    fanOut: async (_id, script) => start(await fanFor(script), supervisorModel(script), SUPERVISOR_PROMPT),
    resume: async (id) => {
      const outcome = await troupe.engine.resume(runIdOf(id));
      if (outcome.kind === 'ended') return outcome.result.report.body;
      if (outcome.kind !== 'resumed') throw new Error(`the run cannot be resumed: ${outcome.kind}`);
      return answerOf(outcome.handle);
    },
    close: async () => {
      for (const fan of fans.values()) await (await fan).close();
      await troupe.close();
    },
  };
}

/** As the server does for whoever follows a session: whole words without secrets, as frames. */
async function watch({ engine }: Troupe): Promise<void> {
  const { inWholeWords } = await import('../../src/live/whole-words.ts');
  const { createRedactor } = await import('../../src/base/secrets/redact.ts');
  const { shown } = await import('./floor.ts');
  const hear = inWholeWords(createRedactor([]).text, (piece) => {
    shown.characters += `event: delta\ndata: ${JSON.stringify(piece)}\n\n`.length;
  });
  engine.watch(hear);
}

async function start({ engine, root }: Troupe, agent: string, prompt: string, run?: RunId): Promise<string> {
  const begun = await engine.start({ agent, input: userText(prompt), workspace: root, run });
  if (begun.kind === 'refused') throw new Error(`${begun.error.code}: ${begun.error.message}`);
  return answerOf(begun.handle);
}

/** The one place that knows how the library is opened. */
async function openSurface(
  place: Place,
  root: string,
  agents: readonly AgentDefinition[],
  more: Readonly<Record<string, string>> = {},
): Promise<Troupe> {
  const { createTroupe } = await import('../../src/index.ts');
  mkdirSync(root, { recursive: true });
  return createTroupe({
    root,
    env: { OPENAI_BASE_URL: place.baseUrl, OPENAI_API_KEY: place.apiKey, ...more },
    agents,
    tools: [lookupTool],
  });
}

/** A supervisor whose only tool is its sub-agent, which works as the agents of the other workloads do. */
function fanAgents(script: FanOutScript): AgentDefinition[] {
  const supervisor: AgentDefinition = {
    name: supervisorModel(script),
    models: [`openai/${supervisorModel(script)}`],
    prompt: SYSTEM_PROMPT,
    source: 'bench',
    agents: ['delegate'],
  };
  const schema = { type: 'object', properties: { task: TASK }, required: ['task'], additionalProperties: false };
  const helper = { ...agentFor(subAgentScript(script)), name: 'delegate', description: DELEGATE_DESCRIPTION, input: { schema } };
  return [supervisor, helper];
}

const TASK = { type: 'string', description: 'The task for the helper' };

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
