/** The declared graph as a tree of text: below each agent whom it names, in the order in which a run would meet them. */
import type { Edge } from '../../agents/graph.ts';
import type { GraphShape } from '../../front/project/graph-shape.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';

/** A tangle has more ways through it than anybody reads. */
const LINES_MAX = 500;

interface DrawnPlace {
  readonly name: string;
  readonly kind: string;
  readonly own: string;
  readonly below: string;
  /** The agents on the way here. */
  readonly way: readonly string[];
}

export function graphLines(shape: GraphShape, paint: Screen['paint']): readonly string[] {
  const lines: string[] = [];
  const drawn = new Set<string>();
  const next = Map.groupBy(shape.edges, (edge) => edge.from);
  // What hangs together only in circles has no beginning; it is drawn from wherever it comes first.
  const restless = shape.unreachable.filter((name) => next.has(name));
  for (const start of [...shape.entries, ...restless]) {
    if (drawn.has(start)) continue;
    const pending: DrawnPlace[] = [{ name: start, kind: '', own: '', below: '', way: [] }];
    for (let place = pending.pop(); place !== undefined && lines.length < LINES_MAX; place = pending.pop()) {
      const edges = next.get(place.name) ?? [];
      const seen = drawn.has(place.name);
      drawn.add(place.name);
      lines.push(placeLine(place, shape, seen && edges.length > 0, paint));
      if (!seen) pending.push(...placesBelow(place, edges).toReversed());
    }
    lines.push('');
  }
  if (lines.length >= LINES_MAX) lines.push(paint.dim(`… cut after ${LINES_MAX} lines; look at one agent with --from`), '');
  const notes = noteLines(shape, paint);
  return notes.length === 0 ? lines.slice(0, -1) : [...lines, ...notes];
}

function placesBelow({ name, below, way }: DrawnPlace, edges: readonly Edge[]): DrawnPlace[] {
  return edges.map(({ to, kind }, index) => {
    const last = index === edges.length - 1;
    const guides = { own: `${below}${last ? '└─ ' : '├─ '}`, below: `${below}${last ? '   ' : '│  '}` };
    return { name: to, kind, ...guides, way: [...way, name] };
  });
}

function placeLine({ name, kind, own, way }: DrawnPlace, shape: GraphShape, seen: boolean, paint: Screen['paint']): string {
  const head = `${paint.dim(own)}${kind === '' ? '' : `${paint.cyan(kind)} ${paint.dim('→')} `}${paint.bold(safeLine(name))}`;
  if (shape.missing.includes(name)) return `${head} ${paint.red('(no such agent)')}`;
  if (way.at(-1) === name) return `${head} ${paint.dim('(itself)')}`;
  if (way.includes(name)) return `${head} ${paint.red('(a circle)')}`;
  return seen ? `${head} ${paint.dim('(see above)')}` : head;
}

function noteLines({ alone, unreachable, entries, edges }: GraphShape, paint: Screen['paint']): readonly string[] {
  const lines: string[] = [];
  if (alone.length > 0) lines.push(`${paint.dim('alone:')} ${alone.map(safeLine).join(', ')}`);
  if (unreachable.length > 0) {
    const circles = entries.length === 0 || edges.some((edge) => unreachable.includes(edge.from));
    const from = circles ? ' but from each other' : ` from ${entries.map(safeLine).join(', ')}`;
    lines.push(`${paint.yellow(`cannot be reached${from}:`)} ${unreachable.map(safeLine).join(', ')}`);
  }
  return lines;
}
