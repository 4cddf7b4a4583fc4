/**
 * Reads a file of a workspace part by part, for whoever stores it. The path comes from an agent or an executor: it must lead to
 * an ordinary file inside the folder, by whatever links, and what is opened is what was looked at. Whether the file stayed as it
 * was meanwhile is told at the end.
 */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isInside } from '../agents/text/confined-path.ts';
import { codeOf } from '../base/errors.ts';
import { heldMessage, holdParent, NO_LINK } from '../base/files/held-folder.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { ArtifactProblem } from './port.ts';

export interface OpenedFile {
  /** Relative paths are those of the folder. */
  readonly path: string;
  readonly bytes: number;
  parts(): AsyncGenerator<Uint8Array>;
  /** Whether it is what it was when it was opened. */
  isSame(): Promise<boolean>;
  close(): Promise<void>;
}

export async function openSourceFile(root: string, path: string): Promise<Result<OpenedFile, ArtifactProblem>> {
  const named = (code: ArtifactProblem['code'], why: string, fix?: string): Result<never, ArtifactProblem> =>
    fail({ code, message: `${JSON.stringify(path)} ${why}`, fix });
  if (path === '' || path.includes('\0') || path.length > limits.pathCharacters)
    return named('artifact_outside', 'is not a path of a file');
  let opened: FileHandle | undefined;
  try {
    const folder = await realpath(root);
    const real = await realpath(resolve(folder, path));
    if (!isInside(folder, real) || real === folder)
      return named('artifact_outside', 'leads out of the workspace', 'Name a file inside the workspace.');
    // A pipe would wait for whoever writes to it.
    using parent = holdParent({ root: folder, absolute: real });
    opened = await open(parent.entry, constants.O_RDONLY | NO_LINK | constants.O_NONBLOCK);
    const before = await opened.stat({ bigint: true });
    if (!before.isFile()) return await closing(opened, named('artifact_not_a_file', 'is not an ordinary file'));
    if (before.size > BigInt(limits.artifactBytes))
      return await closing(opened, fail(tooLargeArtifact(path, Number(before.size))));
    return ok(openedFile(opened, path, before));
  } catch (error) {
    await opened?.close();
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return named('artifact_missing', 'is not there');
    if (code === 'ELOOP') return named('artifact_outside', 'is a link that leads nowhere, or was replaced by one');
    if (code === 'ENXIO') return named('artifact_not_a_file', 'is not an ordinary file');
    return named('artifact_unreadable', `cannot be read: ${heldMessage(error)}`);
  }
}

export const tooLargeArtifact = (name: string, bytes: number): ArtifactProblem => ({
  code: 'artifact_too_large',
  message: `${JSON.stringify(name)} has ${bytes} bytes, more than the ${limits.artifactBytes} that an artifact may have`,
  fix: 'Keep it elsewhere, or in pieces. The limit (`artifactBytes`) is fixed.',
});

async function closing<Answer>(file: FileHandle, answer: Answer): Promise<Answer> {
  await file.close();
  return answer;
}

function openedFile(file: FileHandle, path: string, before: BigIntStats): OpenedFile {
  const bytes = Number(before.size);
  return {
    path,
    bytes,
    async *parts() {
      // One that grows while it is read is not what it was; no more of it is read than it had.
      for (let at = 0; at < bytes; ) {
        const buffer = Buffer.alloc(Math.min(limits.artifactPartBytes, bytes - at));
        let filled = 0;
        while (filled < buffer.length) {
          const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, at + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        if (filled === 0) return;
        at += filled;
        yield buffer.subarray(0, filled);
      }
    },
    async isSame() {
      const now = await file.stat({ bigint: true });
      return now.size === before.size && now.mtimeNs === before.mtimeNs && now.ctimeNs === before.ctimeNs;
    },
    close: () => file.close(),
  };
}
