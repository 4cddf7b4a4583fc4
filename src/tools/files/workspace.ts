/**
 * Confines paths to a workspace. What is checked is the real path (symbolic links followed), and what is returned is that
 * real path. Callers go there by way of a held folder (`base/files/held-folder.ts`), which opens exactly what was checked: a link
 * that is put into any part of the path meanwhile is refused, not followed.
 */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Guard } from '../closed/guard.ts';
import { isOpenedByNothing, type ProtectedKind } from '../protected-names.ts';

export interface InsidePath {
  /** The workspace's real path. */
  readonly root: string;
  /** The real path; its last parts may not exist yet. */
  readonly absolute: string;
  /** The same, relative to the workspace with `/` between the parts; empty for the workspace itself. */
  readonly relative: string;
}

export interface PathUse {
  readonly guard: Guard;
  readonly use: 'read' | 'write';
  /** What this one call may change although it is protected. */
  readonly opened?: ProtectedKind | undefined;
}

export async function resolveInside(
  workspace: string,
  path: string,
  { guard, use, opened }: PathUse,
): Promise<Result<InsidePath, string>> {
  const inside = await resolveAnywhere(workspace, path);
  if (!inside.ok) return inside;
  const protection = await guard.protection(inside.value.root, inside.value.absolute);
  if (protection !== undefined && protection !== opened && (use === 'write' || protection === 'state'))
    return fail(closedText(path, protection));
  return inside;
}

/** Confined to the workspace, protected or not. */
export async function resolveAnywhere(workspace: string, path: string): Promise<Result<InsidePath, string>> {
  if (path.includes('\0')) return fail('The path contains a NUL byte.');
  if (path.length > limits.pathCharacters) return fail(`The path is longer than ${limits.pathCharacters} characters.`);
  const root = await workspaceRoot(workspace);
  if (!root.ok) return root;
  const real = await realPathOf(resolve(root.value, path));
  if (!real.ok) return fail(`${quoted(path)}: ${real.error}`);
  const inside = relative(root.value, real.value);
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    return fail(`${quoted(path)} is outside the workspace. Use a path inside it, relative to its root.`);
  }
  return ok({ root: root.value, absolute: real.value, relative: inside.split(sep).join('/') });
}

/** What a call with a path is about, links followed, relative to the workspace; the workspace itself is `.`. */
export async function realTarget(input: Json, workspace: string): Promise<string | undefined> {
  const path = isJsonObject(input) ? (input['path'] ?? '.') : undefined;
  const inside = typeof path === 'string' ? await resolveAnywhere(workspace, path) : undefined;
  return inside?.ok === true ? inside.value.relative || '.' : undefined;
}

/** The real path of a workspace that exists and is a folder. */
export async function workspaceRoot(workspace: string): Promise<Result<string, string>> {
  try {
    const root = await realpath(workspace);
    if (!(await lstat(root)).isDirectory()) return fail('The workspace is not a folder.');
    return ok(root);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return fail('The workspace folder no longer exists; an earlier command may have deleted it.');
    return fail(`The workspace cannot be opened: ${messageOf(error)}`);
  }
}

/** Follows links in the part that exists and appends the rest. A dangling link is refused: writing would follow it. */
async function realPathOf(absolute: string): Promise<Result<string, string>> {
  const rest: string[] = [];
  let current = absolute;
  // Ends at the root folder, which always exists.
  for (;;) {
    try {
      return ok(join(await realpath(current), ...rest));
    } catch (error) {
      const code = codeOf(error);
      if (code !== 'ENOENT') return fail(explain(code, error));
      if (await isLink(current)) return fail('is a symbolic link to something that does not exist.');
      const parent = dirname(current);
      if (parent === current) return fail(explain(code, error));
      rest.unshift(basename(current));
      current = parent;
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}

const CLOSED: Readonly<Record<ProtectedKind, string>> = {
  state: 'this is where the ledger is, and it is not open to agents.',
  agents: 'files of agents are closed to agents, which could give themselves rights.',
  program: 'this is where Troupe itself runs from, and it is closed to agents: their code would run with your keys.',
  settings: 'settings are closed to agents, which could give themselves rights.',
  servers: 'what an MCP server or an executor of this project runs is closed to agents, which could give themselves rights.',
  git: 'the inside of a git repository is closed to agents: hooks in it run outside every permission.',
};

/** Why a path is closed, and what the owner can do about it. */
export function closedText(path: string, protection: ProtectedKind): string {
  const open = isOpenedByNothing(protection) ? '' : ` Only the owner can open it (permission protected:${protection}).`;
  return `${quoted(path)}: ${CLOSED[protection]}${open}`;
}

function explain(code: string | undefined, error: unknown): string {
  if (code === 'ENOTDIR') return 'a part of the path is a file, not a folder.';
  if (code === 'ELOOP') return 'the path runs through too many symbolic links.';
  if (code === 'EACCES') return 'permission denied.';
  if (code === 'ENAMETOOLONG') return 'the name is too long.';
  return messageOf(error);
}

function quoted(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}
