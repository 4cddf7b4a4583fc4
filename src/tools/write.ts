/** `write`: creates a file or replaces it as a whole. */
import { z } from 'zod';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import { groupDigits } from './bounded.ts';
import { defineTool } from './define-tool.ts';
import { changeEvidence, replaceFile } from './file-change.ts';
import { readContent } from './file-content.ts';
import { pathExists } from './path-exists.ts';
import { errorResult, type Tool } from './port.ts';
import { resolveInside } from './workspace.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to the workspace. Missing folders are created.'),
  content: z.string().describe('The whole new content of the file.'),
});

export function writeTool({ random }: { readonly random: Random }): Tool {
  return defineTool({
    name: 'write',
    description: 'Creates a file in the workspace, or replaces all of its content. To change a part of a file, use `edit`.',
    input,
    replay: 'never',
    run: async ({ path, content }, { workspace, signal }) => {
      const bytes = Buffer.byteLength(content);
      if (bytes > limits.readFileBytes) {
        return errorResult(
          `The content has ${groupDigits(bytes)} bytes, more than the limit of ${groupDigits(limits.readFileBytes)} (readFileBytes).`,
        );
      }
      const inside = await resolveInside(workspace, path, 'write');
      if (!inside.ok) return errorResult(inside.error);
      const target = inside.value;
      if (target.relative === '') return errorResult('The path is the workspace itself; name a file in it.');
      const before = (await pathExists(target.absolute)) ? await readContent(target) : undefined;
      if (before?.ok === false) return errorResult(before.error);
      if (signal.aborted) return errorResult('Cancelled; nothing was changed.');
      const written = await replaceFile(target, content, before?.value.mode, random);
      if (!written.ok) return errorResult(written.error);
      const evidence = changeEvidence(target.relative, before?.value, content);
      const { addedLines, removedLines } = evidence.payload;
      const what = before === undefined ? 'Created' : 'Replaced';
      return {
        kind: 'ok',
        content: [
          {
            type: 'text',
            text: `${what} ${target.relative} (+${addedLines} -${removedLines} lines, ${groupDigits(bytes)} bytes).`,
          },
        ],
        evidence: [evidence],
      };
    },
  });
}
