/** The house that the rows of dispatch are about: who is there, and what is looked at. */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import { says } from '../world.ts';
import { actor, eventsOf, type Scenario, type ScenarioRun, told } from './scenarios.ts';

type Dispatch = NonNullable<AgentDefinition['dispatch']>;

export const house = (changes: Partial<Dispatch> = {}, more: Partial<AgentDefinition> = {}) =>
  actor('house', { dispatch: { agents: ['lights', 'music', 'timer'], retryDelay: 5, ...changes }, ...more });

export const lights = actor('lights', {
  description: 'Turns lights on and off.',
  tags: ['lighting', 'scenes'],
  examples: ['Turn on the kitchen lights'],
});
export const others = [lights, actor('music'), actor('timer'), actor('general'), actor('asker')];

export const chooses = (agentId: string, confidence: number | string, more: object = {}): ModelOutcome =>
  says(JSON.stringify({ agentId, confidence, reasoning: 'It fits.', ...more }));

export const both = (...ids: readonly string[]) => ({
  additionalAgents: ids,
  agentInstructions: ['lights', ...ids].map((agentId) => ({ agentId, instruction: `Do what is for ${agentId}.` })),
});

export const choices = (played: ScenarioRun) => eventsOf(played, 'dispatch.chose').map(({ payload }) => payload);
export const responses = (played: ScenarioRun) => eventsOf(played, 'dispatch.responded').map(({ payload }) => payload);
export const attemptsOf = (played: ScenarioRun, name: string) =>
  eventsOf(played, 'run.started').filter(({ agent }) => agent === name).length;

/** Which attempt it is, as the agent can see it in its conversation. */
export const attempt = (request: ModelRequest): number => told(request).split('came to no end').length;

export const row = (
  name: string,
  scenario: Omit<Scenario, 'name' | 'pattern' | 'agents' | 'prompt'> & Partial<Scenario>,
): Scenario => ({
  name,
  pattern: 'dispatch',
  agents: [house(), ...others],
  prompt: 'Turn on the kitchen lights.',
  ...scenario,
});
