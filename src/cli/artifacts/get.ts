/** `troupe artifacts get`: the bytes of one, into a file or, when they are text, to stdout. */
import { open, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ArtifactArchive } from '../../artifacts/archive.ts';
import type { FoundArtifact } from '../../artifacts/port.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { textOfArtifact } from '../../front/looking/artifacts.ts';
import { artifactValue } from '../../front/shown-artifact.ts';
import { readableBytes } from '../../projections/readable.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeText } from '../terminal/safe-text.ts';
import { artifactIn, type WithinOption } from './found.ts';

export interface ArtifactsGetOptions extends JsonOption, WithinOption {
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
}

export async function artifactsGetCommand(context: CommandContext, ref: string, options: ArtifactsGetOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const artifact = await artifactIn(context, project, ref, options);
    const { out, progress } = context.terminal;
    if (options.output === undefined) {
      if (options.json === true) throw usageError('--json says where the bytes went', 'name a file: -o');
      const text = await textOfArtifact(project.artifacts, artifact, limits.artifactShownBytes);
      if (text === undefined)
        throw usageError(`${ref} is no text, or too long for a screen (${readableBytes(artifact.bytes)})`, 'name a file: -o');
      out.write(out.isTty ? safeText(text) : text);
      return exitCodes.completed;
    }
    const file = await fileFor(resolve(context.cwd, options.output), artifact, options.force === true);
    await writeBytes(project.artifacts, artifact, file, options.force === true);
    if (options.json) printJson(context, 'artifacts get', { file, artifact: artifactValue(artifact) });
    else progress.line(`${readableBytes(artifact.bytes)} in ${file}`);
    return exitCodes.completed;
  });
}

/** In a folder that is named it gets its own name, which holds no path. */
async function fileFor(given: string, { ref }: FoundArtifact, force: boolean): Promise<string> {
  const isFolder = (await stat(given).catch(() => undefined))?.isDirectory() === true;
  const file = isFolder ? join(given, ref.slice(ref.lastIndexOf('/') + 1)) : given;
  if (!force && (await stat(file).catch(() => undefined)) !== undefined)
    throw usageError(`${file} is there already`, 'name another file, or replace it with --force');
  return file;
}

/** The file is there whole or not at all: what is not what its checksum says is not left behind. */
async function writeBytes(
  archive: Pick<ArtifactArchive, 'bytes'>,
  artifact: FoundArtifact,
  path: string,
  force: boolean,
): Promise<void> {
  const refuse = (error: unknown): never => {
    throw usageError(`${path} cannot be written: ${messageOf(error)}`, 'name another file: -o');
  };
  const part = `${path}.${process.pid}.part`;
  const file = await open(part, 'wx', 0o600).catch(refuse);
  try {
    for await (const bytes of archive.bytes(artifact)) await file.write(bytes);
    await file.sync();
    await file.close();
    // Somebody may have put a file there meanwhile.
    if (!force)
      await (await open(path, 'wx', 0o600).catch((error) => refuse(codeOf(error) === 'EEXIST' ? 'it is there' : error))).close();
    await rename(part, path).catch(refuse);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}
