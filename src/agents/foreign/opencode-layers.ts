/**
 * Where opencode says what its agents may do: in its settings for all of them, there for one of them by name, and in the file of
 * the agent. Each goes over the one before.
 */
import { isJsonObject } from '../../base/json.ts';
import { parseJsonText } from '../text/json-text.ts';
import type { Path } from '../text/yaml-map.ts';
import { type ForeignReader, foreignReader, type SettingsText } from './foreign.ts';

export interface Layer {
  readonly reader: ForeignReader;
  /** Where in the file it stands. */
  readonly path: Path;
  readonly value: Readonly<Record<string, unknown>>;
}

/** `name` is that of the agent. */
export function layersOf(settings: SettingsText, name: string): readonly Layer[] {
  const { file } = settings;
  const parsed = settings.text === undefined ? undefined : parseJsonText(file, settings.text);
  if (parsed?.ok !== true) {
    const [first] = parsed?.error ?? [];
    const reader = foreignReader({}, () => first ?? { file, line: 1, column: 1 });
    const problem = settings.text === undefined ? `the file ${settings.problem}` : (first?.message ?? 'broken JSON');
    reader.hold(['*'], [], `${problem}; every tool of the agents of opencode asks first`);
    return [{ reader, path: [], value: {} }];
  }
  const { value, placeOf } = parsed.value;
  const reader = foreignReader(value, placeOf);
  const agents = value['agent'];
  const own = isJsonObject(agents) && Object.hasOwn(agents, name) ? agents[name] : undefined;
  const all = { reader, path: [], value };
  return isJsonObject(own) ? [all, { reader, path: ['agent', name], value: own }] : [all];
}

/** What a later place says of a tool over what an earlier one said: of its rules the last that fits decides. */
export function onTop(before: unknown, later: unknown): unknown {
  if (before === undefined || !isJsonObject(later)) return later;
  const kept = isJsonObject(before) ? before : { '*': before };
  const untouched = Object.entries(kept).filter(([pattern]) => !Object.hasOwn(later, pattern));
  return { ...Object.fromEntries(untouched), ...later };
}
