/** `read`: a text file with line numbers, or an image. */

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import { counted } from '../../base/wording.ts';
import { groupDigits } from '../bounded.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import { errorResult, type OrdinaryTool, type ToolOutcome, textResult } from '../port.ts';
import { sha256 } from './file-change.ts';
import { imageTypeOf, looksBinary, readContent } from './file-content.ts';
import type { Guard } from './guard.ts';
import { pathExists } from './path-exists.ts';
import { resolveInside } from './workspace.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
  offset: z.number().int().min(1).max(100_000_000).optional().describe('First line to show, counted from 1.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(limits.readLines)
    .optional()
    .describe(`How many lines to show (at most ${limits.readLines}).`),
});

export function readTool({ guard }: { readonly guard: Guard }): OrdinaryTool {
  return defineBuiltIn({
    name: 'read',
    description:
      'Reads a text file of the workspace, or shows an image (PNG, JPEG, GIF, WebP). Text comes with line numbers and a tab ' +
      'before each line; they are not part of the file.',
    input,
    replay: 'safe',
    readOnly: true,
    run: async ({ path, offset, limit }, { workspace }) => {
      const inside = await resolveInside(workspace, path, { guard, use: 'read' });
      if (!inside.ok) return errorResult(inside.error);
      const { relative, absolute } = inside.value;
      if (!(await pathExists(absolute)))
        return { kind: 'error', message: `${relative}: no such file.`, saw: [{ path: relative, sha256: null }] };
      const content = await readContent(inside.value);
      if (!content.ok) return errorResult(content.error);
      const { bytes } = content.value;
      const saw = [{ path: relative, sha256: sha256(bytes) }];
      const mediaType = imageTypeOf(bytes);
      if (mediaType !== undefined) return { ...imageResult(relative, mediaType, bytes), saw };
      if (looksBinary(bytes)) {
        const message = `${relative} is a binary file of ${groupDigits(bytes.length)} bytes and cannot be shown.`;
        return { kind: 'error', message, saw };
      }
      return { ...textResult(numbered(new TextDecoder().decode(bytes), offset ?? 1, limit ?? limits.readLines)), saw };
    },
  });
}

function imageResult(name: string, mediaType: string, bytes: Buffer): ToolOutcome {
  if (bytes.length > limits.imageBytes) {
    return errorResult(
      `${name} is an image of ${groupDigits(bytes.length)} bytes, more than the limit of ${groupDigits(limits.imageBytes)} (imageBytes).`,
    );
  }
  return { kind: 'ok', content: [{ type: 'image', mediaType, data: bytes.toString('base64') }] };
}

function numbered(text: string, offset: number, limit: number): string {
  if (text === '') return '(the file is empty)';
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length) return `(the file has only ${counted(lines.length, 'line')})`;
  const shown = lines.slice(offset - 1, offset - 1 + limit);
  const last = offset - 1 + shown.length;
  const body = shown.map((line, index) => `${offset + index}\t${shortened(line)}`).join('\n');
  if (last >= lines.length) return body;
  return `${body}\n(lines ${offset} to ${last} of ${lines.length}; go on with offset ${last + 1})`;
}

function shortened(line: string): string {
  if (line.length <= limits.readLineCharacters) return line;
  const kept = startOf(line, limits.readLineCharacters);
  return `${kept}[… ${groupDigits(line.length - kept.length)} characters left out …]`;
}
