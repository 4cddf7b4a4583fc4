/**
 * What a file of presets says that is not read, or must not hold. A preset may come from a stranger: it closes and never opens.
 * What may have been a ban is never dropped: then the whole preset is passed over.
 */
import { nearest, suggest } from '../../base/did-you-mean.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Rule } from '../../permissions/rule-map.ts';
import { BUILT_IN_TOOLS, permissionProblem, rightsIn } from '../definition/tool-names.ts';
import { quote } from '../text/diagnostics.ts';
import { FOREIGN_KEYS } from './import.ts';
import { type PresetContent, type PresetWorker, presetSchema, presetWorkerSchema } from './preset.ts';

/** Allowed without asking wherever nobody says otherwise, so that a preset opens nothing by saying it. */
const OPEN_TOOLS = BUILT_IN_TOOLS.filter((tool) => tool !== 'shell');

/** Keys that close something: whoever mistypes one of them, or puts it elsewhere, meant a ban. */
const CLOSING = ['permissions', 'tools'] as const;

export interface Oddity {
  readonly message: string;
  /** With it the preset does not count. */
  readonly isGrave: boolean;
}

/** Keys of an entry that nobody reads. */
export function strangeKeys(entry: JsonObject, isForeign: boolean): readonly Oddity[] {
  if (isForeign) return strangeIn(entry, FOREIGN_KEYS, '');
  const { orchestrator, workers } = entry;
  return [
    ...strangeIn(entry, Object.keys(presetSchema.shape), ''),
    ...strangeIn(orchestrator, ['model', 'prompt'], ' of the orchestrator'),
    ...(Array.isArray(workers) ? workers : []).flatMap((worker: Json, index) =>
      strangeIn(worker, Object.keys(presetWorkerSchema.shape), ` of worker ${nameOf(worker, index)}`),
    ),
  ];
}

const nameOf = (worker: Json, index: number): string =>
  isJsonObject(worker) && typeof worker['name'] === 'string' ? quote(worker['name']) : String(index + 1);

function strangeIn(said: Json | undefined, known: readonly string[], where: string): readonly Oddity[] {
  if (!isJsonObject(said)) return [];
  return Object.keys(said)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const hint = closingKey(key) ? 'it belongs to a worker' : undefined;
      const isGrave = nearest(key, CLOSING) !== undefined;
      const fix = hint ?? suggest(key, known, 'keys');
      return { message: `unknown key ${quote(key)}${where}${fix === undefined ? '' : `: ${fix}`}`, isGrave };
    });
}

const closingKey = (key: string): boolean => CLOSING.some((one) => one === key);

const SHOWN_CHARACTERS = 80;

/** Words that the schema could not use and left out. */
export function unusedWords(said: JsonObject, read: PresetContent): readonly Oddity[] {
  return (['emoji', 'maxIterations', 'worktrees'] as const)
    .filter((key) => said[key] !== undefined && said[key] !== null && read[key] === undefined)
    .map((key) => ({
      message: `"${key}" cannot be ${JSON.stringify(said[key]).slice(0, SHOWN_CHARACTERS)}: it is left out`,
      isGrave: false,
    }));
}

/** Rights that stand for nothing, or would open something. Without `servers` nothing is said about names of MCP tools. */
export function rightsProblems({ workers }: PresetContent, servers: readonly string[] | undefined): readonly Oddity[] {
  const isKnowable = (name: string): boolean => servers !== undefined || !(name.startsWith('mcp:') || name.includes('__'));
  return workers.flatMap(({ name: worker, permissions = {} }) =>
    rightsIn(permissions).flatMap(({ name, pattern, permission, path }) => {
      const where = `permissions.${path.join('.')} of worker ${quote(worker)}`;
      const problem = isKnowable(name) ? permissionProblem({ name, pattern }, { servers: servers ?? [] }) : undefined;
      if (problem !== undefined)
        return [{ message: `${where}: ${[problem.message, problem.fix].filter(Boolean).join(': ')}`, isGrave: true }];
      if (permission !== 'allow' || OPEN_TOOLS.includes(name)) return [];
      return [{ message: `${where} must be ask or deny: a preset closes and never opens`, isGrave: true }];
    }),
  );
}

/** What of an agent's rights a preset can say: what they would open asks. */
export function narrowing(permissions: PresetWorker['permissions']): PresetWorker['permissions'] {
  const kept = Object.entries(permissions ?? {}).flatMap(([name, rule]): readonly (readonly [string, Rule])[] => {
    if (OPEN_TOOLS.includes(name)) return [[name, rule]];
    if (rule === 'allow') return name === '*' || name.startsWith('protected') ? [] : [[name, 'ask']];
    if (typeof rule === 'string') return [[name, rule]];
    return [[name, Object.fromEntries(Object.entries(rule).map(([key, word]) => [key, word === 'allow' ? 'ask' : word]))]];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
