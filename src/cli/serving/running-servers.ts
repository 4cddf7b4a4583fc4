/**
 * Which servers of a project run on this machine: each leaves a note in the user's own folder, with where it is and the name that
 * codes for it are made with. A note of a server that was killed is taken away by whoever finds that nobody answers there.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../base/environment.ts';
import { parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { userFolder } from '../../project/config.ts';

const note = z.strictObject({ server: z.string(), origin: z.string(), url: z.string().optional() });

export type RunningServer = z.infer<typeof note>;

const folderOf = (kind: string, root: string, env: Environment): string =>
  join(userFolder(env), kind, createHash('sha256').update(root).digest('hex').slice(0, 32));

/** Where the logins of a project's console are kept. */
export const loginsFolder = (root: string, env: Environment): string => join(folderOf('console', root, env), 'logins');

const notesFolder = (root: string, env: Environment): string => join(folderOf('console', root, env), 'servers');

/** Until the server ends; what is given takes the note away. */
export function leaveNote(root: string, env: Environment, running: RunningServer): () => void {
  const folder = notesFolder(root, env);
  const path = join(folder, `${running.server}.json`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, JSON.stringify(running), { mode: 0o600 });
  return () => rmSync(path, { force: true });
}

/** Those that answer. */
export async function runningServers(root: string, env: Environment): Promise<readonly RunningServer[]> {
  const folder = notesFolder(root, env);
  const found = await Promise.all(
    namesIn(folder).map(async (name) => {
      const path = join(folder, name);
      const running = noteIn(path);
      if (running !== undefined && (await answers(running.origin))) return [running];
      rmSync(path, { force: true });
      return [];
    }),
  );
  return found.flat();
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .slice(0, limits.serverNotes);
  } catch {
    return [];
  }
}

function noteIn(path: string): RunningServer | undefined {
  try {
    const parsed = parseJson(readFileSync(path, 'utf8'));
    return parsed.ok ? note.safeParse(parsed.value).data : undefined;
  } catch {
    return undefined;
  }
}

async function answers(origin: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/healthz', origin), { signal: AbortSignal.timeout(limits.serverProbeMs), redirect: 'error' }))
      .ok;
  } catch {
    return false;
  }
}
