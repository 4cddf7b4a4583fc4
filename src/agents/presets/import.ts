/**
 * Presets as PolyPilot keeps them: PascalCase keys, workers spread over parallel lists of models, prompts and names that need
 * not be equally long. Here they become the shape of our own; what is missing or unknown gets its default.
 */
import type { Json, JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { WorktreeStrategy } from '../../events/organisation.ts';
import type { GroupMode } from './preset.ts';

/** Enumerations are written as words, or as numbers in this order. */
const MODES: readonly (readonly [string, GroupMode])[] = [
  ['Broadcast', 'broadcast'],
  ['Sequential', 'sequential'],
  ['Orchestrator', 'orchestrator'],
  ['OrchestratorReflect', 'reflect'],
];
const WORKTREES: readonly (readonly [string, WorktreeStrategy])[] = [
  ['Shared', 'shared'],
  ['GroupShared', 'group'],
  ['OrchestratorIsolated', 'group'],
  ['FullyIsolated', 'isolated'],
];

/** What they have that we read, or that says nothing to us. */
export const FOREIGN_KEYS: readonly string[] = [
  ...['Name', 'Description', 'Emoji', 'Mode', 'OrchestratorModel', 'OrchestratorPrompt', 'SharedContext', 'RoutingContext'],
  ...['WorkerModels', 'WorkerSystemPrompts', 'WorkerDisplayNames', 'MaxReflectIterations', 'DefaultWorktreeStrategy'],
  ...['IsUserDefined', 'IsRepoLevel', 'SourcePath'],
];

/** Whether an entry is one of these, and not one of ours. */
export const isForeignPreset = (entry: JsonObject): boolean => 'Name' in entry || 'WorkerModels' in entry;

/** The entry in our own keys. A word that nobody knows stays as it is, for the schema to settle. */
export function ownKeys(entry: JsonObject): JsonObject {
  return {
    name: entry['Name'],
    description: wordOf(entry['Description']) ?? '',
    emoji: wordOf(entry['Emoji']),
    mode: chosen(entry['Mode'], MODES) ?? entry['Mode'],
    orchestrator: { model: wordOf(entry['OrchestratorModel']), prompt: wordOf(entry['OrchestratorPrompt']) },
    workers: workersOf(entry),
    sharedContext: wordOf(entry['SharedContext']),
    routingContext: wordOf(entry['RoutingContext']),
    maxIterations: entry['MaxReflectIterations'] ?? undefined,
    worktrees: chosen(entry['DefaultWorktreeStrategy'], WORKTREES) ?? entry['DefaultWorktreeStrategy'] ?? undefined,
  };
}

function workersOf(entry: JsonObject): readonly JsonObject[] {
  const listOf = (key: string): readonly Json[] => {
    const list = entry[key];
    // One more than allowed, so that the schema says that there are too many.
    return Array.isArray(list) ? list.slice(0, limits.groupWorkers + 1) : [];
  };
  const [models, charters, names] = [listOf('WorkerModels'), listOf('WorkerSystemPrompts'), listOf('WorkerDisplayNames')];
  return Array.from({ length: Math.max(models.length, charters.length, names.length) }, (_, index) => ({
    name: wordOf(names[index]) ?? `worker-${index + 1}`,
    model: wordOf(models[index]),
    charter: wordOf(charters[index]),
  }));
}

function chosen<Word>(value: Json | undefined, words: readonly (readonly [string, Word])[]): Word | undefined {
  if (typeof value === 'number') return words[value]?.[1];
  const wanted = wordOf(value)?.toLowerCase();
  return words.find(([word]) => word.toLowerCase() === wanted)?.[1];
}

function wordOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
