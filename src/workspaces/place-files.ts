/**
 * Where the files of places lie below the state of the project, and what is kept beside each:
 *
 * ```text
 * worktrees/<session>/<task>/            the place; it is there when it is whole, and not before
 * worktrees/<session>/<task>.json        where it began
 * worktrees/<session>/<task>.index       what was on the disk then, for fast comparing; agents cannot reach it from their place
 * worktrees/<session>/<task>.kept/       patches of what was taken back
 * worktrees/<session>/<task>.git/        its git folder, when the work there is over
 * worktrees/<session>/<task>~<nonce>/    one that is being made
 * ```
 */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../base/json.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import type { WorkPlace } from './port.ts';

export const placeRecord = z.object({
  format: z.literal(1),
  repo: z.string(),
  base: z.string(),
  branch: z.string().optional(),
  /** The folder that is worked in as it is. */
  inPlace: z.string().optional(),
  /** What the user's repository keeps for it. */
  admin: z.string().optional(),
  /** It began with a patch that somebody has: nobody works there, and nothing is lost with it. */
  mirror: z.literal(true).optional(),
  /** It is being removed: what is left of it is no place any more. */
  going: z.literal(true).optional(),
  notes: z.array(z.string()),
});
export type PlaceRecord = z.infer<typeof placeRecord>;

const WORD = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export interface PlaceFiles {
  readonly path: string;
  readonly record: string;
  readonly index: string;
  readonly kept: string;
  readonly git: string;
}

/** Names come from outside, and must stay within their folder. */
export function placeFiles(home: string, session: string, task: string): Result<PlaceFiles, Failure> {
  const odd = [session, task].find((word) => !WORD.test(word) || word.endsWith('.lock') || word.includes('..'));
  if (odd !== undefined)
    return fail({ code: 'bad_name', message: `${JSON.stringify(odd.slice(0, 120))} cannot be the name of a folder for a task.` });
  return ok(besidePlace(join(home, 'worktrees', session, task)));
}

export const besidePlace = (path: string): PlaceFiles => ({
  path,
  record: `${path}.json`,
  index: `${path}.index`,
  kept: `${path}.kept`,
  git: `${path}.git`,
});

export async function readRecord(path: string): Promise<PlaceRecord | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const parsed = text === undefined ? undefined : parseJson(text);
  const record = parsed?.ok === true ? placeRecord.safeParse(parsed.value) : undefined;
  return record?.success === true ? record.data : undefined;
}

/**
 * The worktree that a folder lies in, as its record has it. Somebody may work in a folder of it; what is compared and restored is
 * always the whole, and never a folder that is no place at all.
 */
export async function wholePlace(place: WorkPlace): Promise<Result<WorkPlace, Failure>> {
  if (place.kind === 'in-place') return ok(place);
  for (let path = place.path; path !== dirname(path); path = dirname(path)) {
    const record = await readRecord(besidePlace(path).record);
    if (record === undefined || record.inPlace !== undefined) continue;
    if (record.base === place.base) return ok({ ...place, path });
    return fail({ code: 'not_a_place', message: `${path} began at ${record.base}, and not at ${place.base}.` });
  }
  return fail({ code: 'not_a_place', message: `${place.path} is no worktree of a task.` });
}

/** There whole or not at all, and still there after a loss of power. */
export async function writeWhole(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, 'w', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
  await syncFolder(dirname(path));
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
