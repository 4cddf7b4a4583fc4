/**
 * What a call that needs a permission would do, for whoever gives it: all of it, with nothing left invisible. Each line has
 * a mark in front, so that no text can pass for the words around it.
 */
import { isJsonObject, type Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { judgedName, judgedText } from '../base/visible-text.ts';
import { counted } from '../base/wording.ts';

/** What is asked for: the arguments of a call, and where the tool can say so, what would come of them. */
export interface Request {
  readonly input: Json;
  /** Takes the place of the arguments: the difference a change would make, the address that would be asked. */
  readonly preview?: string | undefined;
  /** Who asks, for the command that shows what a question has no room for. */
  readonly run?: string | undefined;
}

export interface RequestText {
  readonly text: string;
  /** How many characters are left out; what nobody saw is not approved just so. */
  readonly missing: number;
}

/** As much as a question shows. What is not from the ledger is redacted before it is cut: half a secret is not recognised. */
export function requestText(request: Request, redact = (text: string): string => text): RequestText {
  return shortened(redact(wholeRequest(request)), '\n', request.run);
}

/** The same within one line, for logs. */
export function requestLine(request: Request): string {
  const lines = judgedText(linesOf(request).join('\n').replaceAll('⏎', '⟨U+23CE⟩'));
  return shortened(lines.replaceAll('\n', ' ⏎ '), ' ', request.run).text;
}

/** As `shortId` has it, which loads Node: this is read in browsers, too. */
const SHORT = 6;

function shortened(whole: string, between: string, run: string | undefined): RequestText {
  const missing = Math.max(0, whole.length - limits.requestCharacters);
  if (missing === 0) return { text: whole, missing };
  const shows = run === undefined ? '`troupe show` with --request' : `\`troupe show ${run.slice(-SHORT)} --request\``;
  const rest =
    `(${counted(missing, 'more character')} cannot be shown here (requestCharacters). ${shows} prints all of it; then approve it ` +
    'with --whole, or deny it.)';
  return { text: `${whole.slice(0, limits.requestCharacters)}${between}${rest}`, missing };
}

export function wholeRequest(request: Request): string {
  return linesOf(request)
    .flatMap((line) => judgedText(line).split('\n'))
    .map((line) => `  | ${line}`)
    .join('\n');
}

/** The question in which a permission is asked for. */
export const permissionQuestion = (why: string, request: Request, redact?: (text: string) => string): string =>
  `${why}:\n${requestText(request, redact).text}`;

/** The same with nothing left out: what an approval is for. */
export const wholeQuestion = (why: string, request: Request): string => `${why}:\n${wholeRequest(request)}`;

function linesOf({ input, preview }: Request): readonly string[] {
  return preview === undefined ? argumentLines(input) : [preview];
}

/** A command that is all there is stands by itself, every other argument behind its name: no value can pass for another one. */
export function argumentLines(input: Json): readonly string[] {
  if (!isJsonObject(input)) return [JSON.stringify(input)];
  const all = Object.entries(input);
  const [only] = all;
  if (only === undefined) return ['(no arguments)'];
  if (all.length === 1 && only[0] === 'command' && typeof only[1] === 'string') return [only[1]];
  return all.flatMap(([key, value]) => {
    const name = judgedName(key);
    const text = typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
    return text.includes('\n') ? [`${name}:`, ...indented(text.split('\n'))] : [`${name}: ${text}`];
  });
}

export const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => (line === '' ? '' : `  ${line}`));
