/** `write`: creates a file or replaces it as a whole. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { ok } from '../../base/result.ts';
import { groupDigits } from '../bounded.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import { errorResult, type OrdinaryTool } from '../port.ts';
import { changeFile, type FileChangeNeeds, protectionOf } from './change-file.ts';
import { previewChange } from './preview-change.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to the workspace. Missing folders are created.'),
  content: z.string().describe('The whole new content of the file.'),
});

export function writeTool(needs: FileChangeNeeds): OrdinaryTool {
  const tool = defineBuiltIn({
    name: 'write',
    description:
      'Creates a file in the workspace, or replaces all of its content; one that exists has to be read first. To change a part ' +
      'of a file, use `edit`.',
    input,
    replay: 'never',
    reportsChanges: true,
    run: async ({ path, content }, context) => {
      const bytes = Buffer.byteLength(content);
      if (bytes > limits.readFileBytes) {
        return errorResult(
          `The content has ${groupDigits(bytes)} bytes, more than the limit of ${groupDigits(limits.readFileBytes)} (readFileBytes).`,
        );
      }
      const said = `lines, ${groupDigits(bytes)} bytes).`;
      return await changeFile(
        {
          path,
          blind: 'refused',
          next: () => ok(content),
          said: ({ relative }, { before, addedLines, removedLines }) =>
            `${before === null ? 'Created' : 'Replaced'} ${relative} (+${addedLines} -${removedLines} ${said}`,
        },
        context,
        needs,
      );
    },
  });
  return {
    ...tool,
    protects: (input, workspace) => protectionOf(needs.guard, workspace, input),
    preview: async (given, workspace) => {
      const parsed = input.safeParse(given);
      return parsed.success ? await previewChange(workspace, parsed.data.path, () => ok(parsed.data.content)) : undefined;
    },
  };
}
