/** `read`: a text file with line numbers, or an image. */

import { z } from 'zod';
import { isThere } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import { counted } from '../../base/wording.ts';
import { groupDigits } from '../bounded.ts';
import type { Guard } from '../closed/guard.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import { errorResult, type OrdinaryTool, type SeenFile, type ToolOutcome, textResult } from '../port.ts';
import { sha256 } from './file-change.ts';
import { imageTypeOf, isTooLong, looksBinary, numberedLines, readContent } from './file-content.ts';
import { type FindsSecrets, linesShown } from './shown-text.ts';
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

interface ReadNeeds {
  readonly guard: Guard;
  readonly secrets?: FindsSecrets | undefined;
}

export function readTool({ guard, secrets }: ReadNeeds): OrdinaryTool {
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
      const { relative } = inside.value;
      if (!isThere(inside.value))
        return { kind: 'error', message: `${relative}: no such file.`, saw: [{ path: relative, sha256: null }] };
      const content = await readContent(inside.value);
      if (!content.ok) return errorResult(content.error);
      const { bytes } = content.value;
      const version = { path: relative, sha256: sha256(bytes) };
      const saw = [version];
      const mediaType = imageTypeOf(bytes);
      if (mediaType !== undefined) return { ...imageResult(relative, mediaType, bytes), saw };
      if (looksBinary(bytes)) {
        const message = `${relative} is a binary file of ${groupDigits(bytes.length)} bytes and cannot be shown.`;
        return { kind: 'error', message, saw };
      }
      const whole = new TextDecoder().decode(bytes);
      const { text, lines } = numbered(whole, secrets, offset ?? 1, limit ?? limits.readLines);
      return { ...textResult(text), saw: [{ ...version, lines }] };
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

interface Numbered {
  readonly text: string;
  readonly lines: NonNullable<SeenFile['lines']>;
}

function numbered(text: string, secrets: FindsSecrets | undefined, offset: number, limit: number): Numbered {
  const lines = linesShown(text, secrets);
  const of = numberedLines(text).length;
  const none = { from: 1, to: 0, of };
  if (text === '') return { text: '(the file is empty)', lines: none };
  if (offset > of) return { text: `(the file has only ${counted(of, 'line')})`, lines: none };
  const last = Math.min(of, offset - 1 + limit);
  const shown = lines.filter(({ number, to }) => to >= offset && number <= last);
  const body = shown.map(({ number, line }) => `${number}\t${shortened(line)}`).join('\n');
  const long = shown.find(({ line }) => isTooLong(line));
  const seen = { from: offset, to: long === undefined ? last : Math.max(offset, long.number) - 1, of };
  if (last >= of) return { text: body, lines: seen };
  return { text: `${body}\n(lines ${offset} to ${last} of ${of}; go on with offset ${last + 1})`, lines: seen };
}

function shortened(line: string): string {
  if (!isTooLong(line)) return line;
  const kept = startOf(line, limits.readLineCharacters);
  return `${kept}[… ${groupDigits(line.length - kept.length)} characters left out …]`;
}
