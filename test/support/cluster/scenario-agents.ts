/**
 * Who plays on a cluster: the agents of several scenarios at once. Which scenario a session plays is in its id, and each agent's
 * prompt says it too, so that the model knows whom it answers. Workers need nothing but the definitions, so they can be other
 * processes.
 */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { SessionId } from '../../../src/base/ids.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';

export type ScenarioAgents = readonly (readonly AgentDefinition[])[];

export const sessionIn = (scene: number, number: number): SessionId =>
  `ses_${String(scene).padStart(4, '0')}${String(number).padStart(16, '0')}` as SessionId;

const sceneOf = (session: string): number => Number(session.slice('ses_'.length, 'ses_'.length + 4));

const MARK = 'You play in scene ';

/** The agents of the scene that a session plays. */
export function agentsOf(cast: ScenarioAgents): (name: string, session?: SessionId) => Promise<AgentDefinition | undefined> {
  return async (name, session) => {
    const scene = session === undefined ? 0 : sceneOf(session);
    const found = cast[scene]?.find((one) => one.name === name);
    return found === undefined ? undefined : { ...found, prompt: `${MARK}${scene}.\n${found.prompt}` };
  };
}

/** A model that answers for all scenes. */
export function brainOf(scenes: readonly { brain(request: ModelRequest): ModelOutcome | Promise<ModelOutcome> }[]) {
  return (request: ModelRequest): ModelOutcome | Promise<ModelOutcome> => {
    const scene = Number(new RegExp(`${MARK}(\\d+)`).exec(request.system)?.[1] ?? Number.NaN);
    const played = scenes[scene];
    if (played === undefined) throw new Error(`nobody plays in scene ${scene}`);
    return played.brain(request);
  };
}
