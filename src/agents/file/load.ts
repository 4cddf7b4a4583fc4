/**
 * One agent file becomes one definition, or every reason why not. Nothing here runs anything: agent files are data, and they
 * may be a stranger's.
 */
import { realpath } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { fail, ok, type Result } from '../../base/result.ts';
import { nameFromFile } from '../definition/agent-name.ts';
import { checkDefinition, checkPrompt } from '../definition/check-definition.ts';
import { type AgentDefinition, definitionSchema, type Frontmatter } from '../definition/definition.ts';
import { checkName, toDefinition } from '../definition/to-definition.ts';
import type { ForeignOrigin, RuleFile } from '../foreign/file.ts';
import type { WrittenRight } from '../foreign/written-rule.ts';
import { confinedPath, isInside } from '../text/confined-path.ts';
import { arrangeAndCut, type Diagnostic, errorAt, isError } from '../text/diagnostics.ts';
import { type FileSpans, splitFile } from '../text/frontmatter.ts';
import { type ReadFailure, readText } from '../text/read-text.ts';
import { type SourceText, sourceText } from '../text/source-text.ts';
import { type PlaceOf, parseYamlMap, type YamlMap } from '../text/yaml-map.ts';
import { type Assembled, assemblePrompt } from './include.ts';
import { withoutRefused } from './without-refused.ts';

/** Where an agent comes from: the project's own folder, another tool's folder in the project, or the user's. */
export type Origin = 'project' | 'claude' | 'opencode' | 'user';

export interface AgentFile {
  readonly path: string;
  /** The folder that the file and its includes may not leave; for a user's agents their configuration folder. */
  readonly root: string;
  readonly origin?: Origin;
  /** Names of the user's own prompt variables. */
  readonly variables?: readonly string[];
  /** Taken for what the file holds, which need not be there yet: to check what is about to be written. */
  readonly text?: string;
}

export interface LoadedAgent {
  readonly definition: AgentDefinition;
  readonly origin: Origin;
  /** The file says that its agent is switched off. */
  readonly disabled: boolean;
  /** Only warnings: with an error there is no agent. */
  readonly diagnostics: readonly Diagnostic[];
  /** Where in the file something is said, for checks that need other files. */
  readonly placeOf: PlaceOf;
  /** Files that its prompt takes in, found or not. */
  readonly included?: readonly string[] | undefined;
  /** Where its rules stand, of another tool's agent: settings of that tool are part of it. */
  readonly ruleFile?: RuleFile;
  /** Of another tool's agent: its rights for tools of MCP servers, as they stand there. */
  readonly serverRights?: readonly WrittenRight[] | undefined;
}

type Loaded = Result<LoadedAgent, readonly Diagnostic[]>;

interface OpenFile {
  readonly source: SourceText;
  readonly path: string;
  readonly root: string;
  readonly origin: Origin;
  readonly variables: readonly string[];
}

export async function loadAgent(file: AgentFile): Promise<Loaded> {
  const opened = await openFile(file);
  if (!opened.ok) return fail([opened.error]);
  const spans = splitFile(opened.value.source);
  if (!spans.ok) return fail([spans.error]);
  const { origin } = opened.value;
  if (origin === 'claude' || origin === 'opencode') return loadForeign(opened.value, origin, spans.value);
  return loadOwn(opened.value, spans.value);
}

/** Troupe's own format: strict, with includes and variables. */
async function loadOwn(file: OpenFile, spans: FileSpans): Promise<Loaded> {
  const { root, origin, variables } = file;
  const body = { source: file.source, span: spans.body, path: file.path };
  const assembled = await assemblePrompt(body, { root, label: labelFor(origin, root), variables });
  const map = parseYamlMap(file.source, spans.frontmatter);
  // The body is looked at even when the frontmatter is broken: all problems at once.
  if (!map.ok) return fail(arrangeAndCut([...map.error, ...assembled.diagnostics]));
  return define(file, map.value, map.value.value, assembled, false);
}

/** What could be read of a file with problems. */
export interface SalvagedAgent extends LoadedAgent {
  /** The MCP servers that it declares, sound or not. */
  readonly servers: readonly string[];
}

/**
 * What can be read of a file with problems, so that `check` looks at the rest of it too: keys that the schema refuses are left
 * out. It is never an agent: nothing runs it.
 */
export async function salvageAgent(file: AgentFile): Promise<SalvagedAgent | undefined> {
  const opened = await openFile(file);
  const spans = opened.ok ? splitFile(opened.value.source) : undefined;
  if (!opened.ok || spans?.ok !== true || opened.value.origin === 'claude' || opened.value.origin === 'opencode')
    return undefined;
  const { source, origin, root, path, variables } = opened.value;
  const map = parseYamlMap(source, spans.value.frontmatter);
  if (!map.ok) return undefined;
  const kept = withoutRefused(map.value.value, definitionSchema);
  if (kept === undefined) return undefined;
  const definition = toDefinition(kept.value, nameFromFile(source.file), '', source.file);
  const body = { source, span: spans.value.body, path };
  const { included } = await assemblePrompt(body, { root, label: labelFor(origin, root), variables });
  const placeOf: PlaceOf = (at, part) => map.value.placeOf(kept.written(at), part);
  const { mcp } = map.value.value;
  const servers = typeof mcp === 'object' && mcp !== null ? Object.keys(mcp) : [];
  return { definition, origin, disabled: false, diagnostics: [], placeOf, included, servers };
}

async function loadForeign(file: OpenFile, origin: ForeignOrigin, spans: FileSpans): Promise<Loaded> {
  const { readForeignFile, SETTINGS_OF } = await import('../foreign/file.ts');
  const settings = await Promise.all(
    SETTINGS_OF[origin].map(async (name) => {
      const read = await readText(join(file.root, name));
      if (read.ok) return [{ file: name, text: read.value }];
      return read.error.isMissing === true ? [] : [{ file: name, problem: read.error.message }];
    }),
  );
  const read = readForeignFile(origin, file.source, spans, settings.flat());
  const { map, frontmatter, disabled, ruleFile, serverRights, ...assembled } = read;
  const loaded = await define(file, map, frontmatter, assembled, disabled);
  return loaded.ok ? ok({ ...loaded.value, ruleFile, serverRights }) : loaded;
}

async function define(
  file: OpenFile,
  map: YamlMap,
  frontmatter: unknown,
  assembled: Assembled,
  disabled: boolean,
): Promise<Loaded> {
  const { placeOf } = map;
  const named = (said: Frontmatter): AgentDefinition =>
    toDefinition(said, nameFromFile(file.source.file), assembled.prompt, file.source.file);
  const parsed = definitionSchema.safeParse(frontmatter, { reportInput: true });
  if (!parsed.success) {
    const { diagnoseIssues } = await import('../definition/schema-issues.ts');
    const kept = typeof frontmatter === 'object' && frontmatter !== null && withoutRefused(frontmatter, definitionSchema);
    const problems = kept ? problemsOf(named(kept.value), (at, part) => placeOf(kept.written(at), part), kept.partly) : [];
    return fail(arrangeAndCut([...diagnoseIssues(parsed.error.issues, placeOf), ...assembled.diagnostics, ...problems]));
  }
  const definition = named(parsed.data);
  const problems = [...assembled.diagnostics, ...problemsOf(definition, placeOf)];
  // With an error in the body, an empty prompt is its consequence.
  const diagnostics = arrangeAndCut(problems.some(isError) ? problems : [...problems, ...checkPrompt(definition, placeOf)]);
  if (diagnostics.some(isError)) return fail(diagnostics);
  return ok({ definition, origin: file.origin, disabled, diagnostics, placeOf, included: assembled.included });
}

const problemsOf = (definition: AgentDefinition, placeOf: PlaceOf, partly?: ReadonlySet<string>): readonly Diagnostic[] => [
  ...checkName(definition, placeOf),
  ...checkDefinition(definition, placeOf, partly),
];

async function openFile(file: AgentFile): Promise<Result<OpenFile, Diagnostic>> {
  const { origin = 'project', variables = [] } = file;
  const label = labelFor(origin, file.root)(file.path);
  const refuse = ({ message, fix }: ReadFailure): Result<OpenFile, Diagnostic> =>
    fail(errorAt({ file: label, line: 1, column: 1 }, `the file ${message}`, fix));
  const root = await followLinks(file.root);
  const realRoot = root.ok ? root.value : file.root;
  if (file.text !== undefined) {
    const path = resolve(realRoot, relative(file.root, file.path));
    return ok({ source: sourceText(label, file.text), path, root: realRoot, origin, variables });
  }
  // People keep their own configuration behind links; a repository's links must not lead out of it.
  const path = origin === 'user' ? await followLinks(file.path) : await confinedPath(file.root, file.path);
  if (!path.ok) return refuse(path.error);
  const text = await readText(path.value);
  if (!text.ok) return refuse(text.error);
  return ok({ source: sourceText(label, text.value), path: path.value, root: realRoot, origin, variables });
}

async function followLinks(path: string): Promise<Result<string, ReadFailure>> {
  try {
    return ok(await realpath(path));
  } catch {
    return fail({ message: 'does not exist' });
  }
}

/** Relative to the project, and whole for what lies elsewhere; with forward slashes on every system. */
function labelFor(origin: Origin, root: string): (path: string) => string {
  const folder = resolve(root);
  return (path) => {
    const full = resolve(path);
    const shown = origin !== 'user' && isInside(folder, full) ? relative(folder, full) : full;
    return shown.split(sep).join('/');
  };
}
