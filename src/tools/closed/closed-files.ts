/**
 * What is closed to whoever works: agents and settings of the project and of the user, hooks and settings of the repository.
 * Where no walls keep a program out of it, it is looked at before and after, so that a change does not go unseen.
 */
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { limits } from '../../base/limits.ts';
import { AGENT_FOLDERS, AGENTS_FOLDER, KEYS_FILE, type ProtectedKind, SETTINGS_FILES } from '../protected-names.ts';
import { EDITOR_SERVERS_FILE, namesIn, type ProtectedPlaces } from './guard.ts';

export interface ClosedFile {
  /** As people are shown it: from the project, where it lies in there. */
  readonly path: string;
  readonly kind: ProtectedKind;
}

/** Each with a word for what it holds. */
export type ClosedFiles = ReadonlyMap<string, ClosedFile & { readonly holds: string }>;

/** Of a repository what is run, or decides what is run: the rest changes with every commit. */
const OF_GIT = ['config', 'config.worktree', 'commondir', 'hooks', 'info/attributes'];
/** Of the user's folder what says what is started; what somebody has allowed meanwhile is kept there, too. */
const OF_USER = ['config.yaml', 'executors.yaml', 'presets.json', AGENTS_FOLDER];
const DEPTH = 4;

/** `repositories`: folders of git beside that of the project. */
export async function closedFiles(
  { project, user, agents }: ProtectedPlaces,
  repositories: readonly string[],
): Promise<ClosedFiles> {
  const found = new Map<string, ClosedFile & { readonly holds: string }>();
  const look = async (path: string, kind: ProtectedKind, depth: number): Promise<void> => {
    if (found.size >= limits.watchedFiles) return;
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined || (kind === 'git' && isNothing(facts))) return;
    const from = relative(project, path);
    const shown = from.startsWith('..') ? path : from;
    if (!facts.isDirectory()) found.set(path, { path: shown, kind, holds: await holds(path, facts.size, facts.mode) });
    else if (depth > 0) for (const name of await namesIn(path)) await look(join(path, name), kind, depth - 1);
  };
  const all = async (folder: string, kind: ProtectedKind, names: readonly string[]): Promise<void> => {
    for (const name of names) await look(join(folder, name), kind, DEPTH);
  };
  await all(project, 'agents', [AGENTS_FOLDER, ...AGENT_FOLDERS]);
  await all(project, 'settings', [...SETTINGS_FILES, EDITOR_SERVERS_FILE]);
  await look(join(project, KEYS_FILE), 'settings', 0);
  for (const path of agents?.() ?? []) await look(path, 'agents', 0);
  await all(user, 'settings', OF_USER);
  for (const folder of new Set([join(project, '.git'), ...repositories])) await all(folder, 'git', OF_GIT);
  return found;
}

/**
 * An empty file of git sets and runs nothing. Walls leave one where nobody may make any, for as long as they stand: whoever works
 * behind them has not made it.
 */
const isNothing = (facts: Stats): boolean => !facts.isDirectory() && facts.size === 0;

/** A file that is too large to be read counts by its size alone. */
async function holds(path: string, size: number, mode: number): Promise<string> {
  const bytes = size > limits.closedFileBytes ? undefined : await readFile(path).catch(() => undefined);
  const sum = bytes === undefined ? String(size) : createHash('sha256').update(bytes).digest('hex');
  return `${mode} ${sum}`;
}

/** What is new, gone, or holds something else. */
export function changedBetween(before: ClosedFiles, after: ClosedFiles): readonly ClosedFile[] {
  return [...new Map([...before, ...after])].flatMap(([path, { path: shown, kind }]) =>
    before.get(path)?.holds === after.get(path)?.holds ? [] : [{ path: shown, kind }],
  );
}
