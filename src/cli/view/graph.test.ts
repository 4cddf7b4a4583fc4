import fc from 'fast-check';
import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { EdgeKind } from '../../agents/definition/references.ts';
import type { Edge } from '../../agents/graph.ts';
import { shapeOf } from '../../front/project/graph-shape.ts';
import { graphLines } from './graph-lines.ts';
import { mermaidLines } from './graph-mermaid.ts';

const paint = picocolors.createColors(false);
const edge = (from: string, kind: EdgeKind, to: string): Edge => ({ from, kind, to });

const AGENTS = ['announcer', 'board', 'desk', 'facts', 'hermit', 'risk'];
const EDGES = [
  edge('desk', 'router', 'board'),
  edge('desk', 'router', 'facts'),
  edge('desk', 'handoff', 'announcer'),
  edge('board', 'advisor', 'risk'),
  edge('board', 'team supervisor', 'board'),
  edge('facts', 'sub-agent', 'risk'),
];
const drawn = (agents: readonly string[], edges: readonly Edge[], from?: string): readonly string[] =>
  graphLines(shapeOf(agents, edges, from), paint);

describe('the graph as text', () => {
  it('has whom each agent names below it, and who stands alone', () => {
    expect(drawn(AGENTS, EDGES)).toEqual([
      'desk',
      '├─ router → board',
      '│  ├─ advisor → risk',
      '│  └─ team supervisor → board (itself)',
      '├─ router → facts',
      '│  └─ sub-agent → risk',
      '└─ handoff → announcer',
      '',
      'alone: hermit',
    ]);
  });

  it('begins where it is told to, and says what is not reached from there', () => {
    expect(drawn(AGENTS, EDGES, 'facts')).toEqual([
      'facts',
      '└─ sub-agent → risk',
      '',
      'cannot be reached from facts: announcer, board, desk, hermit',
    ]);
  });

  it('draws each agent once, and marks circles and names without an agent', () => {
    const edges = [
      edge('a', 'handoff', 'b'),
      edge('b', 'handoff', 'a'),
      edge('c', 'advisor', 'nobody'),
      edge('c', 'handoff', 'd'),
    ];
    const more = [...edges, edge('d', 'sub-agent', 'e'), edge('c', 'sub-agent', 'd')];
    expect(drawn(['a', 'b', 'c', 'd', 'e'], more)).toEqual([
      'c',
      '├─ advisor → nobody (no such agent)',
      '├─ handoff → d',
      '│  └─ sub-agent → e',
      '└─ sub-agent → d (see above)',
      '',
      'a',
      '└─ handoff → b',
      '   └─ handoff → a (a circle)',
      '',
      'cannot be reached but from each other: a, b',
    ]);
  });

  it('ends for any tangle, with every agent somewhere', () => {
    const names = Array.from({ length: 8 }, (_, index) => `agent-${index}`);
    const anyName = fc.constantFrom(...names);
    const anyEdge = fc.record({ from: anyName, to: anyName, kind: fc.constantFrom<EdgeKind>('handoff', 'advisor', 'sub-agent') });
    fc.assert(
      fc.property(fc.array(anyEdge, { maxLength: 40 }), (edges) => {
        const text = drawn(names, edges).join('\n');
        for (const name of names) expect(text).toContain(name);
      }),
    );
  });
});

describe('the graph for Mermaid', () => {
  it('is a flowchart with the kind on each edge', () => {
    const shape = shapeOf(['a', 'say "hi"'], [edge('a', 'handoff', 'say "hi"'), edge('a', 'advisor', 'gone')]);
    expect(mermaidLines(['a', 'say "hi"'], shape)).toEqual([
      'flowchart TD',
      '  n0(["a"])',
      '  n1(["say #34;hi#34;"])',
      '  n2["gone"]:::missing',
      '  n0 ==>|handoff| n1',
      '  n0 -.->|advisor| n2',
      '  classDef missing stroke:#c00,stroke-dasharray:4',
    ]);
  });
});
