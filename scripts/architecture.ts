/**
 * Which folder of src may import which, derived from the sources themselves: what the architecture test checks and what
 * the picture in ARCHITECTURE.md shows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

/**
 * What each folder may import besides itself and `base`, from the bottom up. `models/port` stands for that one file,
 * `ledger/postgres` for that room. An entry may only name folders above it in this list, so the list itself cannot hold a cycle.
 */
export const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  process: [],
  network: [],
  sandbox: [],
  events: [],
  ledger: ['events'],
  projections: ['events'],
  bundles: ['events', 'ledger'],
  tasks: ['events', 'ledger/port', 'ledger/pages', 'projections'],
  telemetry: ['network', 'events', 'ledger/port', 'ledger/pages', 'ledger/only-one'],
  quota: ['ledger/port', 'ledger/postgres', 'ledger/rows'],
  permissions: [],
  agents: ['events', 'permissions'],
  models: ['events', 'quota'],
  tools: ['process', 'network', 'sandbox', 'events', 'permissions'],
  artifacts: ['process', 'events', 'ledger/port', 'ledger/pages', 'agents/text', 'tools/bounded', 'tools/files'],
  workspaces: ['process', 'events', 'ledger/port', 'ledger/pages', 'ledger/one-writer', 'tools', 'artifacts'],
  transcripts: ['events', 'ledger/port', 'ledger/pages', 'models/port', 'tools/bounded', 'tools/files'],
  peers: ['network', 'events', 'agents/definition'],
  executors: [
    ...['process', 'sandbox', 'events', 'agents/definition', 'agents/text'],
    ...['tools/closed', 'tools/files', 'tools/shell', 'tools/bounded'],
  ],
  loop: ['events', 'agents', 'models/port', 'models/tokens', 'tools/port'],
  patterns: ['events', 'agents', 'loop'],
  runner: ['process', 'events', 'models/port', 'tools/port', 'loop'],
  engine: [
    ...['events', 'ledger', 'projections', 'quota', 'agents', 'models', 'permissions', 'tools', 'peers/port', 'executors/port'],
    ...['loop', 'patterns', 'runner', 'artifacts'],
  ],
  replay: [
    ...['events', 'ledger/port', 'ledger/pages', 'projections', 'quota', 'agents/definition', 'tools/port', 'loop/port'],
    ...['patterns/pattern', 'patterns/registered', 'engine'],
  ],
  assistants: ['events', 'ledger/port', 'ledger/pages', 'projections', 'agents', 'tools', 'engine'],
  groups: ['events', 'ledger', 'projections', 'tools/files', 'workspaces', 'agents', 'patterns', 'engine'],
  live: ['engine/port', 'ledger/postgres'],
  project: [
    ...['events', 'ledger', 'projections', 'quota', 'permissions', 'agents', 'models', 'tools', 'peers', 'executors', 'patterns'],
    ...['sandbox', 'runner', 'engine', 'assistants', 'groups', 'tasks', 'artifacts', 'workspaces', 'live', 'telemetry'],
  ],
  library: [
    ...['events', 'ledger/port', 'ledger/pages', 'projections', 'agents', 'tools', 'engine', 'groups', 'project'],
    ...['artifacts'],
  ],
  cluster: ['process', 'events', 'ledger', 'engine', 'project'],
  front: [
    ...['process', 'events', 'ledger/port', 'ledger/pages', 'ledger/rules', 'ledger/forgetting', 'ledger/only-one'],
    ...['projections', 'agents', 'engine', 'assistants', 'groups', 'project', 'library', 'artifacts', 'tools/assistants'],
    ...[
      'tools/files',
      'cluster',
      'quota',
      'permissions',
      'models',
      'tasks',
      'executors',
      'workspaces',
      'telemetry',
      'bundles',
      'replay',
    ],
  ],
  trials: [
    'events',
    'ledger/port',
    'ledger/pages',
    'projections',
    'agents',
    'models/scripted',
    'tools/files',
    'artifacts/image-kind',
    'loop/schema-check',
    'workspaces/past',
    'replay',
    'project',
    'library',
  ],
  testing: ['events', 'agents', 'models', 'tools', 'project', 'library', 'trials'],
  protocols: [
    ...['events', 'ledger/port', 'ledger/pages', 'ledger/only-one', 'projections', 'agents', 'tools/assistants', 'network'],
    ...['peers/a2a'],
    ...['engine', 'patterns/steps', 'assistants', 'project', 'tasks', 'library', 'front'],
  ],
  http: [
    'events',
    'ledger/port',
    'ledger/pages',
    'projections',
    'agents',
    'engine',
    'assistants',
    'groups',
    'executors',
    'permissions',
    'live',
    'project',
    'front',
    'protocols',
    'artifacts',
  ],
  cli: [
    ...['network', 'sandbox', 'events', 'ledger', 'projections', 'permissions', 'agents', 'models', 'tools/port', 'peers'],
    ...['bundles', 'executors', 'patterns/steps', 'artifacts', 'workspaces'],
    ...[
      'engine',
      'replay',
      'transcripts',
      'assistants',
      'groups',
      'tasks',
      'project',
      'library',
      'trials',
      'front',
      'cluster',
      'protocols',
      'http',
    ],
  ],
};

/**
 * The rooms of the large folders, from the bottom up. A room, or a file beside the rooms, may import what stands on an earlier
 * line, never its neighbours on the same line.
 */
export const rooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  ledger: [
    ['rows'],
    ['forgetting'],
    ['port', 'write-queue'],
    ['pages', 'one-writer', 'only-one', 'watch', 'follow', 'seals', 'made-with-first-write'],
    ['rules'],
    ['verify'],
    ['blobs'],
    ['sqlite', 'postgres'],
    ['copy'],
    ['address'],
    ['open'],
  ],
  agents: [
    ['text'],
    ['definition'],
    ['foreign'],
    ['file'],
    ['discover', 'chain-depth', 'context-files', 'presets', 'coding-agent'],
    ['graph', 'registry', 'squad'],
    ['check-project', 'preset-tiers'],
  ],
  models: [
    ['port', 'retry-after'],
    ['tokens', 'token-bound', 'usage', 'failures'],
    ['provider'],
    ['scripted', 'detect', 'listing', 'prices', 'reach', 'retry'],
    ['catalogue'],
  ],
  tools: [
    ['protected-names', 'bounded', 'input', 'similarity', 'assistants'],
    ['port', 'closed'],
    ['define-tool', 'define-built-in', 'call', 'permissions'],
    ['files', 'ask', 'plan'],
    ['shell'],
    ['watch', 'web', 'mcp'],
    ['built-ins'],
    ['registry'],
  ],
  executors: [
    ['entry', 'program'],
    ['port', 'known'],
    ['resolve', 'kept-in', 'image', 'acp-wire'],
    ['start'],
    ['acp', 'installed'],
    ['probe', 'open', 'memory'],
  ],
  patterns: [
    ['steps', 'task-support', 'package-ref'],
    ['verification'],
    ['agent-run'],
    ['pattern', 'out-of-budget', 'delegate', 'side-by-side'],
    ['advisors', 'team', 'group', 'dispatch', 'architect', 'router', 'handoff'],
    ['registered'],
    ['run-agent'],
  ],
  runner: [
    ['wire', 'port'],
    ['child', 'host'],
  ],
  engine: [
    ['port'],
    ['options', 'interruption', 'reachable', 'imported-sessions'],
    ['failure-of', 'models-below', 'executors-below'],
    ['record'],
    ['spending'],
    ['hearing'],
    ['old-tests'],
    ['evidence'],
    ['travel'],
    ['spawning'],
    ['calls'],
    ['peers', 'executors'],
    ['tasks'],
    ['run'],
    ['driver', 'lease'],
    ['fork'],
    ['start', 'take-up', 'reopen', 'withdraw', 'forget'],
    ['engine'],
    ['local', 'restate'],
  ],
  assistants: [['port'], ['threads', 'agent-tools'], ['clients']],
  cli: [
    ['json'],
    ['terminal'],
    ['markdown', 'view'],
    ['drive'],
    ['export'],
    [
      ...['agents', 'artifacts', 'attach', 'comparing', 'doctor', 'forgetting', 'importing', 'measure', 'questions', 'serving'],
      ...['trials', 'watch'],
    ],
    ['commands', 'executors', 'setup'],
    ['chat', 'tasks'],
    ['program'],
    ['main'],
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

/** `engine/run/x.ts` is in the room `run` of its folder; `engine/port.ts` is one of its own, `port`. */
export function roomOf(path: string): string {
  return path.split('/')[1]?.replace(/\.ts$/, '') ?? '';
}

/** Imports that the tables do not allow, as sentences. Files directly in src are the library's surface, on top of all. */
export function forbiddenImports(sources: readonly Source[]): readonly string[] {
  return sources.filter((source) => source.folder !== '').flatMap((source) => [...acrossFolders(source), ...acrossRooms(source)]);
}

function acrossFolders(source: Source): readonly string[] {
  const may = allowed[source.folder];
  if (may === undefined) return [`${source.path}: the folder ${source.folder} is not in the table of scripts/architecture.ts`];
  return source.imports
    .filter((target) => ![source.folder, 'base'].includes(folderOf(target)))
    .filter((target) => !may.includes(folderOf(target)) && !may.includes(`${folderOf(target)}/${roomOf(target)}`))
    .map((target) => `${source.path} must not import ${target}`);
}

function acrossRooms(source: Source): readonly string[] {
  const order = rooms[source.folder];
  if (order === undefined) return [];
  const level = (path: string): number => order.findIndex((line) => line.includes(roomOf(path)));
  if (level(source.path) < 0)
    return [`${source.path}: ${roomOf(source.path)} is not among the rooms of ${source.folder} in scripts/architecture.ts`];
  return source.imports
    .filter((target) => folderOf(target) === source.folder && roomOf(target) !== roomOf(source.path))
    .filter((target) => level(target) >= level(source.path))
    .map((target) => `${source.path} must not import ${target}`);
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
