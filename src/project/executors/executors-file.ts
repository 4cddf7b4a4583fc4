/** `executors.yaml`, the project's and the user's own: executors beside the known ones, and what is different about those. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { arrange, type Diagnostic, errorAt, formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { readText } from '../../agents/text/read-text.ts';
import { sourceText } from '../../agents/text/source-text.ts';
import { type PlaceOf, parseYamlMap } from '../../agents/text/yaml-map.ts';
import type { Environment } from '../../base/environment.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { executorsFile } from '../../executors/entry.ts';
import { knownExecutors } from '../../executors/known/entries.ts';
import { type ExecutorLayer, resolveExecutors } from '../../executors/resolve.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import { userFolder } from '../config.ts';
import { parseSettings, salvageSettings } from '../settings-file.ts';

export const EXECUTORS_FILE = 'executors.yaml';

/** What can be read of one of the two files. */
export interface ExecutorsFile {
  readonly layer: ExecutorLayer;
  readonly placeOf: PlaceOf;
  readonly problems: readonly Diagnostic[];
  /** Entries of which something is refused: what they lack may have been meant to be there. */
  readonly refused: ReadonlySet<string>;
  /** Nothing of it can be read, so nobody knows which executors it names. */
  readonly unreadable: boolean;
}

/** Both of them as far as they can be read, the user's first. Nothing is ever started with one that has problems. */
export async function readExecutorFiles(
  root: string,
  env: Environment,
  instead: Readonly<Record<string, string>> = {},
): Promise<readonly ExecutorsFile[]> {
  const [own, project] = executorFilesOf(root, env);
  const read = [
    await readFile(own, 'user', own, instead[own]),
    await readFile(project, 'project', EXECUTORS_FILE, instead[project]),
  ];
  const there = read.filter((one) => one !== undefined);
  return there.map((one) => ({ ...one, problems: arrange([...one.problems, ...withoutSense(one, there)]) }));
}

/** Where they are, or would be: the user's own, and the project's. */
export const executorFilesOf = (root: string, env: Environment): readonly [own: string, project: string] => [
  join(userFolder(env), EXECUTORS_FILE),
  join(root, EXECUTORS_FILE),
];

/** What the two files say, the user's first; or every problem in them. `instead`: texts of files as they are to be. */
export async function readExecutorLayers(
  root: string,
  env: Environment,
  instead: Readonly<Record<string, string>> = {},
): Promise<Result<readonly ExecutorLayer[], readonly Diagnostic[]>> {
  const files = await readExecutorFiles(root, env, instead);
  const problems = files.flatMap((one) => one.problems);
  return problems.length > 0 ? fail(problems) : ok(files.map(({ layer }) => layer));
}

export const executorsText = (problems: readonly Diagnostic[]): string => problems.map(formatDiagnostic).join('\n');

async function readFile(
  path: string,
  source: 'user' | 'project',
  shown: string,
  instead: string | undefined,
): Promise<ExecutorsFile | undefined> {
  if (instead === undefined && !(await pathExists(path))) return undefined;
  const text = instead === undefined ? await readText(path) : ok(instead);
  const start = { file: shown, line: 1, column: 1 };
  const nothing = { layer: { source, fields: {} }, placeOf: () => start, refused: new Set<string>(), unreadable: true };
  if (!text.ok) return { ...nothing, problems: [errorAt(start, text.error.message, text.error.fix)] };
  const parsed = parseSettings(shown, text.value, executorsFile);
  if (parsed.ok) {
    const { value, placeOf } = parsed.value;
    const fields = value.executors ?? {};
    return { layer: { source, fields }, placeOf, problems: [], refused: new Set(), unreadable: false };
  }
  const rest = salvageSettings(shown, text.value, executorsFile);
  if (rest === undefined) return { ...nothing, problems: parsed.error };
  const kept = rest.value.executors ?? {};
  const written = entriesIn(shown, text.value);
  const refused = Object.keys(written).filter((name) => !isDeepStrictEqual(written[name], kept[name]));
  const fields = { ...Object.fromEntries(refused.map((name) => [name, {}])), ...kept };
  const { placeOf } = rest;
  return { layer: { source, fields }, placeOf, problems: parsed.error, refused: new Set(refused), unreadable: false };
}

/** As they are written, well or not. */
function entriesIn(file: string, text: string): Readonly<Record<string, unknown>> {
  const source = sourceText(file, text);
  const map = parseYamlMap(source, { start: 0, end: source.text.length });
  const entries = map.ok ? map.value.value['executors'] : undefined;
  return typeof entries === 'object' && entries !== null ? { ...entries } : {};
}

/** Each is well written, and yet cannot be started: it is like nobody, or nowhere. */
function withoutSense({ layer, placeOf, refused }: ExecutorsFile, all: readonly ExecutorsFile[]): readonly Diagnostic[] {
  const known: ExecutorLayer = { source: 'known', fields: { ...knownExecutors, builtin: { command: ['troupe'] } } };
  const { problems } = resolveExecutors([known, ...all.map((one) => one.layer)]);
  return problems.flatMap(({ name, source, message }) => {
    if (source !== layer.source || refused.has(name)) return [];
    return [errorAt(placeOf(['executors', name], 'key'), `the executor ${name} ${message}`)];
  });
}
