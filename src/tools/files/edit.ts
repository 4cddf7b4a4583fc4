/** `edit`: replaces one exact piece of a file. Line endings stay as they are in the file, whatever the model writes. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { hasMark } from '../../base/secrets/mark.ts';
import { startOf } from '../../base/whole-words.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import type { OrdinaryTool } from '../port.ts';
import { similarity } from '../similarity.ts';
import { changeFile, type FileChangeNeeds, type FileRewrite, protectionOf, whyUnchanged } from './change-file.ts';
import { decodeUtf8, type FileContent, looksBinary } from './file-content.ts';
import { previewChange } from './preview-change.ts';
import { type FindsSecrets, placeIn, putBack, type ShownText, shownByLine, shownText } from './shown-text.ts';
import type { InsidePath } from './workspace.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
  old: z.string().min(1).describe('The exact text to replace, with its whitespace, without line numbers.'),
  new: z.string().describe('The text that takes its place.'),
  all: z.boolean().optional().describe('Replace every occurrence. Without it, `old` must occur exactly once.'),
});

const HINTS = 3;
const HINT_CHARACTERS = 160;
const LINES_COMPARED = 20_000;

export function editTool(needs: FileChangeNeeds): OrdinaryTool {
  const rewrite = (request: z.infer<typeof input>): FileRewrite => {
    let count = 0;
    return {
      path: request.path,
      blind: 'allowed',
      next: (target, before) => {
        const edited = editedFile(request, target, before, needs.secrets);
        if (!edited.ok) return edited;
        count = edited.value.count;
        return ok(edited.value.text);
      },
      said: (target, { addedLines, removedLines }) => {
        const times = count === 1 ? '1 replacement' : `${count} replacements`;
        return `Edited ${target.relative} (${times}, +${addedLines} -${removedLines} lines).`;
      },
    };
  };
  const tool = defineBuiltIn({
    name: 'edit',
    description: 'Replaces an exact piece of text in a file of the workspace. Read the file first.',
    input,
    replay: 'never',
    reportsChanges: true,
    run: (request, context) => changeFile(rewrite(request), context, needs),
  });
  return {
    ...tool,
    protects: (input, workspace) => protectionOf(needs.guard, workspace, input),
    refusal: async (given, context) => {
      const { success, data } = input.safeParse(given);
      return success ? await whyUnchanged(rewrite(data), context, needs) : undefined;
    },
    preview: async (given, workspace) => {
      const parsed = input.safeParse(given);
      if (!parsed.success) return undefined;
      return await previewChange(workspace, parsed.data.path, (target, before) => {
        const edited = editedFile(parsed.data, target, before, needs.secrets);
        return edited.ok ? ok(edited.value.text) : edited;
      });
    },
  };
}

function editedFile(
  request: z.infer<typeof input>,
  { relative }: InsidePath,
  before: FileContent | undefined,
  secrets: FindsSecrets | undefined,
): Result<Edited, string> {
  if (before === undefined) return fail(`${relative}: no such file.`);
  const text = looksBinary(before.bytes) ? undefined : decodeUtf8(before.bytes);
  if (text === undefined) return fail(`${relative} is not UTF-8 text and cannot be edited.`);
  const edited = replaceIn(text, request.old, request.new, request.all === true, secrets);
  return edited.ok ? edited : fail(`${relative}: ${edited.error}`);
}

interface Edited {
  readonly text: string;
  readonly count: number;
}

/** The replacement itself, free of files. Marks in `old` and in the replacement stand for what the text has in their place. */
export function replaceIn(
  text: string,
  old: string,
  replacement: string,
  all: boolean,
  secrets?: FindsSecrets,
): Result<Edited, string> {
  const ending = endingsOf(text) === 'crlf' ? withCrlf : (piece: string) => piece;
  const [wanted, fresh] = [ending(old), ending(replacement)];
  if (wanted === fresh) return fail('`old` and `new` are the same; nothing to do.');
  const shown = shownText(text, secrets);
  const places = hasMark(wanted) ? shownPlaces(shown, wanted) : barePlaces(text, shown, wanted);
  if (places.length === 0) return fail(`\`old\` was not found.${nearest(shownByLine(text, secrets), old)}`);
  if (places.length > 1 && !all) {
    const lines = linesAt(text, places);
    return fail(`\`old\` occurs ${places.length} times (lines ${lines}); add lines around it to make it unique, or set \`all\`.`);
  }
  let [edited, at] = ['', 0];
  for (const { from, to } of places) {
    const piece = secrets === undefined ? ok(fresh) : putBack(fresh, [shownText(text.slice(from, to), secrets), shown]);
    if (!piece.ok) return piece;
    edited += text.slice(at, from) + piece.value;
    at = to;
    if (edited.length > limits.readFileBytes) return tooLong;
  }
  edited += text.slice(at);
  return edited.length > limits.readFileBytes ? tooLong : ok({ text: edited, count: places.length });
}

const tooLong = fail(`the result would exceed ${limits.readFileBytes} bytes (readFileBytes).`);

interface Place {
  readonly from: number;
  readonly to: number;
}

function* occurrences(text: string, wanted: string): Generator<Place> {
  for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length))
    yield { from, to: from + wanted.length };
}

/** As the text is. What would cut a secret in two is none: whoever tries could find out what it is. */
function barePlaces(text: string, { hidden }: ShownText, wanted: string): readonly Place[] {
  const cuts = (at: number): boolean => hidden.some(({ from, to }) => from < at && at < to);
  return [...occurrences(text, wanted)].filter(({ from, to }) => hidden.length === 0 || !(cuts(from) || cuts(to)));
}

/** As it was shown. */
function shownPlaces(shown: ShownText, wanted: string): readonly Place[] {
  return [...occurrences(shown.text, wanted)].flatMap((place) => {
    const [from, to] = [placeIn(shown, place.from), placeIn(shown, place.to)];
    return from === undefined || to === undefined ? [] : [{ from, to }];
  });
}

function endingsOf(text: string): 'crlf' | 'other' {
  return text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text) ? 'crlf' : 'other';
}

function withCrlf(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}

function linesAt(text: string, places: readonly Place[]): string {
  const lines = places.slice(0, 5).map(({ from }) => text.slice(0, from).split('\n').length);
  return places.length > 5 ? `${lines.join(', ')}, …` : lines.join(', ');
}

/** The lines most like the first line that was looked for, so that the next attempt can copy them. */
function nearest(text: string, old: string): string {
  const wanted = old.split('\n').find((line) => line.trim() !== '') ?? old;
  const found = text
    .split('\n', LINES_COMPARED)
    .map((line, index) => ({ line: line.replace(/\r$/, ''), number: index + 1, score: similarity(line, wanted) }))
    .filter(({ score }) => score >= 0.5)
    .sort((left, right) => right.score - left.score || left.number - right.number)
    .slice(0, HINTS);
  if (found.length === 0) return ' No line is like it; read the file again.';
  const lines = found.map(({ line, number }) => `${number}\t${startOf(line, HINT_CHARACTERS)}`);
  return ` The nearest lines are:\n${lines.join('\n')}`;
}
