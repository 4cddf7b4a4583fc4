/**
 * A block of commands and what they print, as a page shows it, held against what they really print. On the page:
 *
 * - `$ ` begins a command, what follows up to the next one is what it prints; without any, what it prints does not matter;
 * - a line `…` stands for any lines, `…` within a line for any text;
 * - ids, times, durations, numbers of tokens and processes, sizes and temporary folders differ each time: any of their kind will
 *   do, but an id or a folder of the page is the same real one wherever it stands, in commands too.
 */

export interface ShownCommand {
  readonly line: string;
  /** Undefined where the page shows nothing. */
  readonly prints: string | undefined;
}

/** A block of plain commands has no signs before them. */
export function shownCommands(text: string, language: string): readonly ShownCommand[] {
  if (language !== 'console')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ line, prints: undefined }));
  const [before = '', ...parts] = `\n${text}`.split('\n$ ');
  if (before.trim() !== '') throw new Error(`before the first command stands: ${before}`);
  return parts.map((part) => {
    const [line = '', ...rest] = part.trimEnd().split('\n');
    return { line, prints: rest.length === 0 ? undefined : rest.join('\n') };
  });
}

/** What has a name on the page and another one in reality. */
export type Bindings = Map<string, string>;

const NAME = String.raw`(?:run|ses|thr)_[0-9a-z]{20}|\/tmp\/troupe-demo-\w{6}|\b(?=[a-z]*\d)(?=\d*[a-z])[0-9a-z]{6}\b`;

/** What differs each time, and what may stand in its place. The first that fits counts. */
const VARIABLE: readonly (readonly [shown: string, real: string])[] = [
  [String.raw`\d\d:\d\d:\d\d`, String.raw`\d\d:\d\d:\d\d`],
  [String.raw`\b\d+(?:\.\d+)?(?:ms|[smhd])(?: \d+s)?\b`, String.raw`\d+(?:\.\d+)?(?:ms|[smhd])(?: \d+s)?`],
  [String.raw`\b\d+(?:\.\d+)?k?(?= (?:tokens|in|out)\b)`, String.raw`\d+(?:\.\d+)?k?`],
  [String.raw`\b\d+(?:\.\d+)?k\b`, String.raw`\d+(?:\.\d+)?k?`],
  [String.raw`\d+(?:\.\d+)? (?:[KMG]i)?B\b`, String.raw`\d+(?:\.\d+)? (?:[KMG]i)?B`],
  [String.raw`(?<=^(?:events|payloads) +)\d+|\b\d+(?= events in\b)`, String.raw`\d+`],
  [String.raw`(?<=[Pp]rocess )\d+ on \S+`, String.raw`\d+ on \S+`],
];
const PIECES = new RegExp([NAME, ...VARIABLE.map(([shown]) => shown), ' {2,}', '…'].map((one) => `(${one})`).join('|'), 'g');

/** With the real names in place of those of the page. */
export function withReal(text: string, bindings: Bindings): string {
  return text.replaceAll(new RegExp(NAME, 'g'), (name) => {
    const real = bindings.get(name);
    if (real === undefined) throw new Error(`nothing that was printed before is called ${name}: ${text}`);
    return real;
  });
}

/** Whether this was printed; notes which real names those of the page stand for. */
export function isPrinted(shown: string, printed: string, bindings: Bindings): boolean {
  const names: string[] = [];
  const lines = shown.split('\n').map((line) => (line === '…' ? '(?:.*\\n)*?' : `${pattern(line, names, bindings)}\\n`));
  const match = new RegExp(`^${lines.join('')}$`).exec(`${trimmed(printed)}\n`);
  for (const [index, name] of names.entries()) {
    const real = match?.groups?.[`name${index}`];
    if (real !== undefined) bindings.set(name, real);
  }
  return match !== null;
}

function pattern(line: string, names: string[], bindings: Bindings): string {
  let made = '';
  let end = 0;
  for (const match of line.matchAll(PIECES)) {
    made += literally(line.slice(end, match.index)) + piece(match, names, bindings);
    end = match.index + match[0].length;
  }
  return made + literally(line.slice(end));
}

function piece([text, name, ...others]: RegExpExecArray, names: string[], bindings: Bindings): string {
  if (name !== undefined) return named(name, names, bindings);
  const kind = others.findIndex((one) => one !== undefined);
  const variable = VARIABLE[kind];
  if (variable !== undefined) return variable[1];
  return text === '…' ? '.*?' : ' +';
}

function named(name: string, names: string[], bindings: Bindings): string {
  const known = bindings.get(name);
  if (known !== undefined) return literally(known);
  const before = names.indexOf(name);
  if (before !== -1) return `\\k<name${before}>`;
  names.push(name);
  const form = name.startsWith('/') ? '\\S*troupe-demo-\\w{6}' : name.replaceAll(/[0-9a-zA-Z]+$/g, (end) => `\\w{${end.length}}`);
  return `(?<name${names.length - 1}>${form})`;
}

const trimmed = (text: string): string => text.replaceAll(/[ \t]+$/gm, '').trimEnd();

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
