/** Everybody that an agent may come to and that could ask no model is found, in every role, before anything is paid for. */
import { expect, it } from 'vitest';
import { agent } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { closedBelow, closedModels } from './closed-models.ts';

const sources = { env: { OPENAI_API_KEY: 'a-key' } };
const poor = agent({ name: 'poor', models: ['google/gemini-2.5-pro'] });
const rich = agent({ name: 'rich', models: ['openai/gpt-5.5'] });
const lead = (changes: Partial<AgentDefinition>): AgentDefinition =>
  agent({ name: 'lead', models: ['openai/gpt-5.5'], ...changes });
const below = (first: AgentDefinition, ...others: readonly AgentDefinition[]) =>
  closedBelow(first, [first, poor, rich, ...others], sources).map(({ agent: name, namedBy }) => [
    name,
    namedBy?.agent,
    namedBy?.as,
  ]);

it.each<[string, Partial<AgentDefinition>]>([
  ['sub-agent', { agents: ['rich', 'poor'] }],
  ['advisor', { advisors: ['poor'] }],
  ['router', { router: { destinations: ['poor', 'rich'] } }],
  ['handoff', { handoff: { to: 'poor', include: 'report' } }],
  ['team member', { team: { members: ['rich', 'poor'] } }],
  ['team supervisor', { team: { members: ['rich', 'rich'], supervisor: 'poor' } }],
  ['group worker', { group: { mode: 'broadcast', workers: ['poor'] } }],
  ['group worker', { group: { mode: 'broadcast', workers: [{ agent: 'poor', model: 'google/other' }] } }],
  ['group evaluator', { group: { mode: 'reflect', workers: ['rich'], evaluator: 'poor' } }],
  ['dispatch', { dispatch: { agents: ['rich', 'poor'] } }],
  ['dispatch fallback', { dispatch: { agents: ['rich'], fallback: 'poor' } }],
  ['dispatch clarification', { dispatch: { agents: ['rich'], clarification: 'poor' } }],
  ['executor', { architect: { executor: 'poor' } }],
])('as %s', (role, changes) => {
  expect(below(lead(changes))).toEqual([['poor', 'lead', role]]);
});

it('however deep, and each once', () => {
  const middle = agent({ name: 'middle', models: ['openai/gpt-5.5'], agents: ['poor'] });
  const first = lead({
    advisors: ['middle'],
    router: { destinations: ['middle', 'rich'] },
    handoff: { to: 'poor', include: 'report' },
  });
  expect(below(first, middle)).toEqual([['poor', 'lead', 'handoff']]);
  expect(below(lead({ advisors: ['middle'] }), middle)).toEqual([['poor', 'middle', 'sub-agent']]);
});

it('with the model that it chooses others with, and not where another model is given or the next one answers', () => {
  expect(below(lead({ dispatch: { agents: ['rich'], model: 'google/fast' } }))).toEqual([['lead', undefined, undefined]]);
  expect(below(lead({ group: { mode: 'broadcast', workers: [{ agent: 'poor', model: 'openai/gpt-5.5' }] } }))).toEqual([]);
  expect(closedModels(['google/fast', 'openai/gpt-5.5'], sources)).toBeUndefined();
  expect(closedModels(['google/fast'], sources)).toMatch(/no key for google/);
});
