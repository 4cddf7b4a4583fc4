/** `executors.yaml`, the project's and the user's own: executors beside the known ones, and what is different about those. */
import { join } from 'node:path';
import { type Diagnostic, errorAt, formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { readText } from '../../agents/text/read-text.ts';
import type { PlaceOf } from '../../agents/text/yaml-map.ts';
import type { Environment } from '../../base/environment.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { executorsFile } from '../../executors/entry.ts';
import { knownExecutors } from '../../executors/known/entries.ts';
import { type ExecutorLayer, resolveExecutors } from '../../executors/resolve.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import { userFolder } from '../config.ts';
import { parseSettings } from '../settings-file.ts';

export const EXECUTORS_FILE = 'executors.yaml';

interface ReadLayer {
  readonly layer: ExecutorLayer;
  readonly placeOf: PlaceOf;
}

/** What the two files say, the user's first; or every problem in them. `instead`: texts of files as they are to be. */
export async function readExecutorLayers(
  root: string,
  env: Environment,
  instead: Readonly<Record<string, string>> = {},
): Promise<Result<readonly ExecutorLayer[], readonly Diagnostic[]>> {
  const [own, project] = [join(userFolder(env), EXECUTORS_FILE), join(root, EXECUTORS_FILE)];
  const read = [
    await readLayer(own, 'user', own, instead[own]),
    await readLayer(project, 'project', EXECUTORS_FILE, instead[project]),
  ];
  const problems = read.flatMap((one) => (one?.ok === false ? one.error : []));
  if (problems.length > 0) return fail(problems);
  const layers = read.flatMap((one) => (one?.ok === true ? [one.value] : []));
  const senseless = withoutSense(layers);
  return senseless.length > 0 ? fail(senseless) : ok(layers.map(({ layer }) => layer));
}

export const executorsText = (problems: readonly Diagnostic[]): string => problems.map(formatDiagnostic).join('\n');

async function readLayer(
  path: string,
  source: 'user' | 'project',
  shown: string,
  instead: string | undefined,
): Promise<Result<ReadLayer, readonly Diagnostic[]> | undefined> {
  if (instead === undefined && !(await pathExists(path))) return undefined;
  const text = instead === undefined ? await readText(path) : ok(instead);
  if (!text.ok) return fail([errorAt({ file: shown, line: 1, column: 1 }, text.error.message, text.error.fix)]);
  const parsed = parseSettings(shown, text.value, executorsFile);
  if (!parsed.ok) return parsed;
  return ok({ layer: { source, fields: parsed.value.value.executors ?? {} }, placeOf: parsed.value.placeOf });
}

/** Each is well written, and yet cannot be started: it is like nobody, or nowhere. */
function withoutSense(layers: readonly ReadLayer[]): readonly Diagnostic[] {
  const known: ExecutorLayer = { source: 'known', fields: { ...knownExecutors, builtin: { command: ['troupe'] } } };
  const { problems } = resolveExecutors([known, ...layers.map(({ layer }) => layer)]);
  return problems.flatMap(({ name, source, message }) => {
    const place = layers.find(({ layer }) => layer.source === source)?.placeOf(['executors', name], 'key');
    return place === undefined ? [] : [errorAt(place, `the executor ${name} ${message}`)];
  });
}
