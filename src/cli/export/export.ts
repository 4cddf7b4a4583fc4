/** `troupe export`: a run or a whole session as one document, read page by page and written as it is read. */
import { extname, resolve } from 'node:path';
import { counted } from '../../base/wording.ts';
import type { ExportFormat } from '../../front/one-file/exported.ts';
import { findRun, isNamedBy } from '../drive/find-run.ts';
import { type CommandContext, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeText } from '../terminal/safe-text.ts';
import { bundleCommand } from './bundle.ts';
import { exportPieces } from './pieces.ts';
import { writeFileOf } from './written-file.ts';

export interface ExportOptions {
  readonly format?: ExportFormat | undefined;
  /** Short for the format of this name. */
  readonly html?: boolean | undefined;
  /** The same. */
  readonly atif?: boolean | undefined;
  /** Not a document, but a file that can be imported. */
  readonly bundle?: boolean | undefined;
  /** A file with the private key that a bundle is signed with. */
  readonly sign?: string | undefined;
  readonly output?: string | undefined;
}

const BY_ENDING: Readonly<Record<string, ExportFormat>> = {
  ...{ '.html': 'html', '.htm': 'html', '.jsonl': 'jsonl', '.json': 'atif' },
};

export async function exportCommand(context: CommandContext, text: string, options: ExportOptions): Promise<ExitCode> {
  const { output, sign, bundle } = options;
  const named = namedFormat(options);
  if (bundle === true) {
    if (named !== undefined) throw usageError('a bundle has a format of its own');
    return await bundleCommand(context, text, { output, sign });
  }
  if (sign !== undefined) throw usageError('only a bundle can be signed', 'add --bundle');
  const format = named ?? BY_ENDING[extname(output ?? '').toLowerCase()] ?? 'markdown';
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

function namedFormat({ format, html, atif }: ExportOptions): ExportFormat | undefined {
  const named = [...(html === true ? (['html'] as const) : []), ...(atif === true ? (['atif'] as const) : [])];
  const all = new Set<ExportFormat>([...named, ...(format === undefined ? [] : [format])]);
  if (all.size > 1) throw usageError(`one document has one format, not ${[...all].join(' and ')}`, 'name one of them');
  return [...all][0];
}
