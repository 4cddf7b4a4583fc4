import { describe, expect, it } from 'vitest';
import { declaredGraph } from './graphs.ts';

describe('the graph that files declare', () => {
  it('has who is named, who is missing, and why one is named', () => {
    const line = {
      origin: 'project',
      disabled: false,
      models: ['m'],
      remote: null,
      executor: null,
      source: 'a.md',
      description: null,
    };
    const graph = declaredGraph({
      agents: [
        { ...line, name: 'lead' },
        { ...line, name: 'alone' },
      ],
      edges: [{ from: 'lead', to: 'gone', kind: 'agents' }],
      entries: ['lead'],
      alone: ['alone'],
      unreachable: [],
      missing: ['gone'],
    });
    expect(graph.nodes.map(({ title, tone, href }) => [title, tone, href])).toEqual([
      ['lead', 'good', '/agents/lead'],
      ['gone', 'bad', undefined],
    ]);
    expect(graph.edges).toEqual([{ from: 'lead', to: 'gone', label: 'agents' }]);
  });
});
