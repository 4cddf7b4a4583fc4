/** Whether files still hold what a manifest says they were left with. */
import { createHash } from 'node:crypto';
import type { FlaggedArtifact } from '../events/evidence.ts';
import { openSourceFile } from './source-file.ts';

export interface LeftFile {
  readonly path: string;
  /** `null`: it was deleted. */
  readonly sha256: string | null;
  readonly workspace: string;
}

export async function changedSinceManifest(files: readonly LeftFile[]): Promise<readonly FlaggedArtifact[]> {
  const flagged: FlaggedArtifact[] = [];
  for (const { path, sha256, workspace } of files) {
    const opened = await openSourceFile(workspace, path);
    if (!opened.ok) {
      const isGone = opened.error.code === 'artifact_missing';
      if (!isGone || sha256 !== null) flagged.push({ path, why: isGone ? 'it is gone since' : opened.error.message });
      continue;
    }
    const hash = createHash('sha256');
    try {
      for await (const part of opened.value.parts()) hash.update(part);
    } finally {
      await opened.value.close();
    }
    const found = hash.digest('hex');
    if (sha256 === null) flagged.push({ path, why: 'it was deleted, and is there again', found: `sha256:${found}` });
    else if (found !== sha256)
      flagged.push({ path, why: 'it has changed since the manifest', claimed: `sha256:${sha256}`, found: `sha256:${found}` });
  }
  return flagged;
}
