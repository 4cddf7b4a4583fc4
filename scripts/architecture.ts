/**
 * Which folder of src may import which, derived from the sources themselves: what the architecture test checks and what
 * the picture in ARCHITECTURE.md shows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

/**
 * What each folder may import besides itself and `base`, from the bottom up. `models/port` stands for that one file.
 * An entry may only name folders above it in this list, so the list itself cannot hold a cycle.
 */
export const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  events: [],
  ledger: ['events'],
  projections: ['events'],
  artifacts: ['events'],
  agents: ['events'],
  models: ['events'],
  permissions: [],
  tools: ['events', 'artifacts', 'permissions'],
  executors: ['events', 'artifacts', 'tools'],
  session: ['events', 'agents', 'models/port', 'models/tokens', 'tools/port'],
  patterns: ['events', 'agents', 'session'],
  runner: ['events', 'models/port', 'tools/port', 'session'],
  assistants: ['events', 'ledger/port', 'projections', 'tools/port', 'tools/define-tool'],
  engine: [
    ...['events', 'ledger', 'projections', 'artifacts', 'agents', 'models', 'permissions', 'tools', 'executors'],
    ...['session', 'patterns', 'runner', 'assistants'],
  ],
  project: [
    ...['events', 'ledger', 'projections', 'artifacts', 'agents', 'models', 'tools', 'executors', 'patterns'],
    ...['runner', 'assistants', 'engine'],
  ],
  cluster: ['events', 'ledger', 'engine', 'project'],
  protocols: [
    ...['events', 'ledger/port', 'projections', 'artifacts', 'agents', 'assistants'],
    ...['engine', 'patterns/steps', 'project'],
  ],
  http: [
    ...['events', 'ledger/port', 'projections', 'artifacts', 'agents', 'assistants'],
    ...['engine', 'patterns/steps', 'project', 'protocols'],
  ],
  cli: [
    ...['events', 'ledger', 'projections', 'artifacts', 'agents', 'models', 'tools/port', 'executors'],
    ...['patterns/steps', 'assistants', 'engine', 'project', 'cluster', 'protocols', 'http'],
  ],
};

/** `folder/file.ts` below src, with the files of src and the packages it imports. */
export interface Source {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  readonly imports: readonly string[];
  /** Those that are still there when the types are stripped. */
  readonly loads: readonly string[];
  readonly packages: readonly string[];
}

/** Static imports, re-exports, side-effect imports and `import('…')`. The first group is set for types. */
const IMPORT = /\b(?:(?:import|export)\s+(type\s)?[\w$*{},\s]*?\bfrom\s+|import\s+|import\(\s*)['"]([^'"\n]+)['"]/g;

/** Every source file that ships: tests may import what they like. */
export function readSources(sourceFolder: string): readonly Source[] {
  return readdirSync(sourceFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => relative(sourceFolder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
    .map((path) => readSource(sourceFolder, path));
}

function readSource(sourceFolder: string, path: string): Source {
  const text = readFileSync(join(sourceFolder, path), 'utf8');
  const found = [...withoutComments(text).matchAll(IMPORT)].map(([, type, name = '']) => ({
    target: name.startsWith('.') ? posix.join(dirname(path), name) : name,
    isFile: name.startsWith('.'),
    isType: type !== undefined,
  }));
  const targets = (of: (one: (typeof found)[number]) => boolean): readonly string[] => found.filter(of).map((one) => one.target);
  return {
    path,
    folder: folderOf(path),
    text,
    imports: targets((one) => one.isFile),
    loads: targets((one) => one.isFile && !one.isType),
    packages: targets((one) => !one.isFile),
  };
}

/** Comments mention calls and imports without making them. Strings that hold `//` after a colon are addresses. */
export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|[^:'"`\\])\/\/.*$/gm, '$1');
}

export function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

/** Imports that the table does not allow, as sentences. Files directly in src are the library's surface, on top of all. */
export function forbiddenImports(sources: readonly Source[]): readonly string[] {
  const problems: string[] = [];
  for (const source of sources) {
    if (source.folder === '') continue;
    const may = allowed[source.folder];
    if (may === undefined)
      problems.push(`${source.path}: the folder ${source.folder} is not in the table of scripts/architecture.ts`);
    for (const target of source.imports) {
      const folder = folderOf(target);
      const fine =
        folder === source.folder || folder === 'base' || may?.includes(folder) || may?.includes(target.replace(/\.ts$/, ''));
      if (fine !== true) problems.push(`${source.path} must not import ${target}`);
    }
  }
  return problems;
}

/** Every file that is loaded with the given ones. */
export function loadedWith(sources: readonly Source[], first: readonly Source[]): readonly Source[] {
  const known = new Map(sources.map((source) => [source.path, source]));
  const loaded = new Set(first);
  // A set visits what is added while it is walked.
  for (const source of loaded) {
    for (const target of source.loads) {
      const next = known.get(target);
      if (next !== undefined) loaded.add(next);
    }
  }
  return [...loaded];
}

/** Each group of files that import each other in a circle, sorted. Tarjan's algorithm for strongly connected components. */
export function importCycles(sources: readonly Source[]): readonly (readonly string[])[] {
  const imports = new Map(sources.map((source) => [source.path, source.imports]));
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (path: string): number => {
    const index = order.size;
    order.set(path, index);
    lowest.set(path, index);
    stack.push(path);
    for (const target of imports.get(path) ?? []) {
      const reached = order.has(target) ? (stack.includes(target) ? order.get(target) : undefined) : visit(target);
      if (reached !== undefined) lowest.set(path, Math.min(lowest.get(path) ?? index, reached));
    }
    const low = lowest.get(path) ?? index;
    if (low === index) {
      const group = stack.splice(stack.indexOf(path));
      if (group.length > 1 || imports.get(path)?.includes(path) === true) cycles.push(group.sort());
    }
    return low;
  };
  for (const source of sources) if (!order.has(source.path)) visit(source.path);
  return cycles;
}

/** Mermaid text of the folders and the arrows between them. Arrows that follow from others are left out, and so is base. */
export function drawGraph(sources: readonly Source[]): string {
  const edges = new Map<string, Set<string>>();
  for (const source of sources) {
    const from = source.folder === '' ? 'index.ts' : source.folder;
    const targets = edges.get(from) ?? new Set<string>();
    edges.set(from, targets);
    for (const target of source.imports.map(folderOf))
      if (target !== from && target !== 'base' && target !== '') targets.add(target);
  }
  const reaches = (from: string, to: string): boolean =>
    [...(edges.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const arrows: string[] = [];
  for (const [from, targets] of edges) {
    const direct = [...targets].filter((to) => ![...targets].some((other) => other !== to && reaches(other, to)));
    for (const to of direct.sort()) arrows.push(`  ${from} --> ${to}`);
  }
  return ['```mermaid', 'flowchart TD', ...arrows.sort(), '```'].join('\n');
}

const GRAPH_START = '<!-- graph: drawn from the sources by `npm run fix` -->';
const GRAPH_END = '<!-- /graph -->';

/** The page with the graph between its markers replaced; `undefined` when the markers are missing. */
export function pageWithGraph(page: string, graph: string): string | undefined {
  const start = page.indexOf(GRAPH_START);
  const end = page.indexOf(GRAPH_END);
  if (start < 0 || end < start) return undefined;
  return `${page.slice(0, start + GRAPH_START.length)}\n${graph}\n${page.slice(end)}`;
}
