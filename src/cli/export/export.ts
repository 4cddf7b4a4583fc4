/** `troupe export`: a run or a whole session as one document, read page by page and written as it is read. */
import { open, rename, rm } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import type { ExportFormat } from '../../front/one-file/exported.ts';
import { findRun, isNamedBy } from '../drive/find-run.ts';
import { type CommandContext, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeText } from '../terminal/safe-text.ts';
import { exportPieces } from './pieces.ts';

export interface ExportOptions {
  readonly format?: ExportFormat | undefined;
  /** Short for the format of this name. */
  readonly html?: boolean | undefined;
  readonly output?: string | undefined;
}

const BY_ENDING: Readonly<Record<string, ExportFormat>> = { '.html': 'html', '.htm': 'html', '.jsonl': 'jsonl' };

export async function exportCommand(context: CommandContext, text: string, options: ExportOptions): Promise<ExitCode> {
  const { output } = options;
  const format =
    options.html === true ? 'html' : (options.format ?? BY_ENDING[extname(output ?? '').toLowerCase()] ?? 'markdown');
  return withProject(context, { readOnly: true }, async ({ ledger }) => {
    const row = await findRun(ledger, text);
    const extent = { row, whole: !isNamedBy(row, text) };
    const pieces = exportPieces(ledger, extent, format, context.clock.now());
    const { out, progress } = context.terminal;
    if (output === undefined) for await (const piece of pieces) out.write(out.isTty ? safeText(piece) : piece);
    else {
      const written = await writeFileOf(resolve(context.cwd, output), pieces);
      progress.line(`wrote ${counted(written, 'byte')} to ${output}`);
    }
    return exitCodes.completed;
  });
}

/** The file is there whole or not at all, and only for its owner to read: it holds what was said. */
async function writeFileOf(path: string, pieces: AsyncIterable<string>): Promise<number> {
  const part = `${path}.${process.pid}.part`;
  const file = await open(part, 'wx', 0o600).catch((error: unknown) => refuse(path, error));
  let bytes = 0;
  try {
    for await (const piece of pieces) bytes += (await file.write(piece)).bytesWritten;
    await file.close();
    await rename(part, path).catch((error: unknown) => refuse(path, error));
    return bytes;
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}

function refuse(path: string, error: unknown): never {
  throw usageError(`${path} cannot be written: ${messageOf(error)}`, 'name another file: -o');
}
