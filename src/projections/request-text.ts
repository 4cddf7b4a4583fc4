/**
 * What a call that needs a permission would do, for whoever gives it: all of it, with nothing left invisible. Each line has
 * a mark in front, so that no text can pass for the words around it.
 */
import { isJsonObject, type Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { visibleText } from '../base/visible-text.ts';
import { counted } from '../base/wording.ts';

export interface RequestText {
  readonly text: string;
  /** How many characters are left out; what nobody saw is not approved just so. */
  readonly missing: number;
}

/** As much as a question shows. What is not from the ledger is redacted before it is cut: half a secret is not recognised. */
export function requestText(input: Json, redact = (text: string): string => text): RequestText {
  return shortened(redact(wholeRequest(input)), '\n');
}

/** The same within one line, for logs. */
export function requestLine(input: Json): string {
  return shortened(visibleText(linesOf(input).join('\n')).replaceAll('\n', ' ⏎ '), ' ').text;
}

function shortened(whole: string, between: string): RequestText {
  const missing = Math.max(0, whole.length - limits.requestCharacters);
  if (missing === 0) return { text: whole, missing };
  const rest =
    `(${counted(missing, 'more character')} cannot be shown here (requestCharacters). \`troupe show <run> --request\` prints all ` +
    'of it; then approve it with --whole, or deny it.)';
  return { text: `${whole.slice(0, limits.requestCharacters)}${between}${rest}`, missing };
}

export function wholeRequest(input: Json): string {
  return linesOf(input)
    .flatMap((line) => visibleText(line).split('\n'))
    .map((line) => `  | ${line}`)
    .join('\n');
}

/** The question in which a permission is asked for. */
export const permissionQuestion = (why: string, input: Json, redact?: (text: string) => string): string =>
  `${why}:\n${requestText(input, redact).text}`;

/** A command stands by itself, other arguments behind their names. */
function linesOf(input: Json): readonly string[] {
  if (!isJsonObject(input)) return [JSON.stringify(input)];
  if (Object.keys(input).length === 0) return ['(no arguments)'];
  return Object.entries(input).flatMap(([name, value]) => {
    if (name === 'command' && typeof value === 'string') return [value];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.includes('\n') ? [`${name}:`, ...text.split('\n').map((line) => `  ${line}`)] : [`${name}: ${text}`];
  });
}
