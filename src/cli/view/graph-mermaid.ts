/** The declared graph as a Mermaid flowchart, for documents that draw it. */
import { type EdgeKind, edgeOf } from '../../agents/definition/references.ts';
import type { GraphShape } from '../../front/project/graph-shape.ts';

/** Who answers in whose place is drawn thick, who only contributes is dotted. */
function arrow(kind: EdgeKind): string {
  const { gives } = edgeOf(kind);
  return gives === 'answer' ? '==>' : gives === 'contribution' ? '-.->' : '-->';
}

export function mermaidLines(agents: readonly string[], shape: GraphShape): readonly string[] {
  const shown = new Set([...shape.entries, ...shape.alone, ...shape.edges.flatMap(({ from, to }) => [from, to])]);
  const names = [...agents.filter((name) => shown.has(name)), ...shape.missing];
  const ids = new Map(names.map((name, index) => [name, `n${index}`]));
  const idOf = (name: string): string => ids.get(name) ?? 'n';
  return [
    'flowchart TD',
    ...names.map(
      (name) => `  ${idOf(name)}${shape.missing.includes(name) ? `["${label(name)}"]:::missing` : `(["${label(name)}"])`}`,
    ),
    ...shape.edges.map(({ from, to, kind }) => `  ${idOf(from)} ${arrow(kind)}|${kind}| ${idOf(to)}`),
    ...(shape.missing.length === 0 ? [] : ['  classDef missing stroke:#c00,stroke-dasharray:4']),
  ];
}

/** Mermaid writes characters that mean something to it as entities, and has no other way to escape. */
function label(name: string): string {
  return name.replaceAll(/[#"<>&`\\[\]{}|]/g, (character) => `#${character.codePointAt(0) ?? 35};`).replaceAll(/\s+/g, ' ');
}
