/** `troupe export --bundle`: a session and all that belongs to it in one file, which `troupe import` reads. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createGzip } from 'node:zlib';
import { messageOf } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import { keyName, privateKey, publicOf } from '../../bundles/sign.ts';
import { through } from '../../bundles/through.ts';
import { bundlePieces } from '../../front/one-file/bundled.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { version } from '../terminal/version.ts';
import { writeFileOf } from './written-file.ts';

export interface BundleOptions {
  readonly output?: string | undefined;
  readonly sign?: string | undefined;
}

export async function bundleCommand(context: CommandContext, text: string, options: BundleOptions): Promise<ExitCode> {
  const { output, sign } = options;
  const { progress } = context.terminal;
  if (output === undefined) throw usageError('a bundle is no text for a terminal', 'name a file: -o session.troupe.tar');
  const key = sign === undefined ? undefined : privateKey(await keyText(resolve(context.cwd, sign)));
  return withProject(context, { readOnly: true }, async (project) => {
    const { session } = await findRun(project.ledger, text);
    const { sessions, pieces } = await bundlePieces(project, session, { version: version(), key });
    const isPacked = /\.t?gz$/i.test(output);
    const written = await writeFileOf(resolve(context.cwd, output), isPacked ? through(pieces, createGzip()) : pieces);
    const signed = key === undefined ? '' : `, signed with ${keyName(publicOf(key))}`;
    progress.prose(`wrote ${counted(sessions.length, 'session')} in ${counted(written, 'byte')} to ${output}${signed}`);
    return exitCodes.completed;
  });
}

export async function keyText(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    throw usageError(`${path} cannot be read: ${messageOf(error)}`);
  });
}
