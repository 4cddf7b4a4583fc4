/** `write`: creates a file or replaces it as a whole. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { hasMark } from '../../base/secrets/mark.ts';
import { groupDigits } from '../bounded.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import type { OrdinaryTool, ToolRefusal } from '../port.ts';
import { changeFile, type FileChangeNeeds, type FileRewrite, protectionOf, whyUnchanged } from './change-file.ts';
import { decodeUtf8, type FileContent, looksBinary } from './file-content.ts';
import { previewChange } from './preview-change.ts';
import { type FindsSecrets, putBack, shownText } from './shown-text.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to the workspace. Missing folders are created.'),
  content: z.string().describe('The whole new content of the file.'),
});

/** With the secrets that the file has in the place of the marks that the caller was shown. */
function written(content: string, before: FileContent | undefined, secrets: FindsSecrets | undefined): Result<string, string> {
  if (secrets === undefined || !hasMark(content)) return ok(content);
  const there = before === undefined || looksBinary(before.bytes) ? '' : (decodeUtf8(before.bytes) ?? '');
  const whole = putBack(content, [shownText(there, secrets)]);
  if (whole.ok && Buffer.byteLength(whole.value) > limits.readFileBytes)
    return fail(`With its secrets the content has more than ${groupDigits(limits.readFileBytes)} bytes (readFileBytes).`);
  return whole.ok ? whole : fail(`Not written: ${whole.error}`);
}

function tooLarge(content: string): ToolRefusal | undefined {
  const bytes = Buffer.byteLength(content);
  if (bytes <= limits.readFileBytes) return undefined;
  const limit = `the limit of ${groupDigits(limits.readFileBytes)} (readFileBytes)`;
  return { kind: 'error', message: `The content has ${groupDigits(bytes)} bytes, more than ${limit}.` };
}

export function writeTool(needs: FileChangeNeeds): OrdinaryTool {
  const rewrite = ({ path, content }: z.infer<typeof input>): FileRewrite => ({
    path,
    blind: 'refused',
    next: (_target, before) => written(content, before, needs.secrets),
    said: ({ relative }, { before, addedLines, removedLines }) => {
      const size = `${groupDigits(Buffer.byteLength(content))} bytes`;
      return `${before === null ? 'Created' : 'Replaced'} ${relative} (+${addedLines} -${removedLines} lines, ${size}).`;
    },
  });
  const tool = defineBuiltIn({
    name: 'write',
    description:
      'Creates a file in the workspace, or replaces all of its content; one that exists has to be read first. To change a part ' +
      'of a file, use `edit`.',
    input,
    replay: 'never',
    reportsChanges: true,
    run: async (given, context) => tooLarge(given.content) ?? (await changeFile(rewrite(given), context, needs)),
  });
  return {
    ...tool,
    protects: (input, workspace) => protectionOf(needs.guard, workspace, input),
    refusal: async (given, context) => {
      const { success, data } = input.safeParse(given);
      return success ? (tooLarge(data.content) ?? (await whyUnchanged(rewrite(data), context, needs))) : undefined;
    },
    preview: async (given, workspace) => {
      const parsed = input.safeParse(given);
      return parsed.success
        ? await previewChange(workspace, parsed.data.path, (_target, before) =>
            written(parsed.data.content, before, needs.secrets),
          )
        : undefined;
    },
  };
}
