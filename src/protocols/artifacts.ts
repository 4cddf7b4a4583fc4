/**
 * What a run left behind: the files that it changed, with their checksums, and their content. A file is given only if the
 * run's own record names it, if it really lies in the run's workspace, while it still is what the run left, and if neither its
 * name nor anything in it says that it may hold secrets: whoever asks for it need not be who owns them.
 */

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { confinedPath } from '../agents/text/confined-path.ts';
import { heldMessage, holdParent, NO_LINK, type PathBelow } from '../base/files/held-folder.ts';
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { holdsSecret } from '../base/secrets/files.ts';
import type { EventType } from '../events/catalogue.ts';
import { parentRun } from '../events/run-origin.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';

export interface Artifact {
  readonly path: string;
  /** `null` when the run deleted the file. */
  readonly sha256: string | null;
  /** The run that changed it last: the one that was asked about, or one below it. */
  readonly run: string;
  readonly workspace: string;
}

/** The files that a run and the runs below it changed; of a file changed twice, the last change. */
export async function artifactsOf(
  ledger: Pick<Ledger, 'read'>,
  row: Pick<RunRow, 'run' | 'session'>,
): Promise<readonly Artifact[]> {
  const workspaces = new Map<RunId, string>();
  const below = new Set<string>([row.run]);
  const items = new Map<string, Artifact>();
  let common = '';
  const types: readonly EventType[] = ['session.started', 'run.started', 'artifact.manifest'];
  for await (const event of readEvents(ledger, { session: row.session, types })) {
    const run = event.run_id;
    if (event.event_type === 'session.started') common = event.payload.workspace;
    else if (event.event_type === 'run.started') {
      const { workspace } = event.payload;
      const parent = parentRun(event.payload);
      workspaces.set(run, workspace ?? workspaces.get(parent as RunId) ?? common);
      if (parent !== undefined && below.has(parent)) below.add(run);
    } else if (event.event_type === 'artifact.manifest' && below.has(run)) {
      const workspace = workspaces.get(run) ?? common;
      for (const { path, sha256 } of event.payload.items) items.set(path, { path, sha256, run, workspace });
    }
  }
  return [...items.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
}

export type ArtifactContent = { readonly text: string } | { readonly blob: string };

/** Takes secrets out of a text: what it would change is not given. */
export interface KnowsSecrets {
  redact(text: string): string;
}

/** The content, or why it cannot be given. */
export async function readArtifact({ redact }: KnowsSecrets, artifact: Artifact): Promise<Result<ArtifactContent, string>> {
  if (artifact.sha256 === null) return fail('The run deleted this file');
  const path = await confinedPath(artifact.workspace, join(artifact.workspace, artifact.path));
  if (!path.ok) return fail(`The file ${path.error.message}`);
  const bytes = await readBounded({ root: await realpath(artifact.workspace), absolute: path.value });
  if (!bytes.ok) return bytes;
  const now = createHash('sha256').update(bytes.value).digest('hex');
  if (now !== artifact.sha256) return fail('The file has changed since the run: what it holds now is not what the run left');
  if (holdsSecret(bytes.value, redact))
    return fail('The file holds what looks like a secret and is not given: it is in the workspace');
  return ok(contentOf(bytes.value));
}

async function readBounded(path: PathBelow): Promise<Result<Uint8Array, string>> {
  try {
    // The path is real and checked; a link or a pipe put there meanwhile is neither followed nor waited for.
    using parent = holdParent(path);
    await using file = await open(parent.entry, constants.O_RDONLY | NO_LINK | constants.O_NONBLOCK);
    const about = await file.stat();
    if (!about.isFile()) return fail('This is not a file any more');
    if (about.size > limits.resourceBytes)
      return fail(`The file has ${about.size} bytes and a resource at most ${limits.resourceBytes}: read it in the workspace`);
    const buffer = Buffer.alloc(about.size);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return ok(buffer.subarray(0, bytesRead));
  } catch (error) {
    return fail(`The file cannot be read: ${heldMessage(error)}`);
  }
}

function contentOf(bytes: Uint8Array): ArtifactContent {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? { blob: Buffer.from(bytes).toString('base64') } : { text };
  } catch {
    return { blob: Buffer.from(bytes).toString('base64') };
  }
}
