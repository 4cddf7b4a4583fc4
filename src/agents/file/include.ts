/**
 * `${include:relative/path.md}` in the body of an agent file: the text of another file in its place.
 *
 * Agent files may be a stranger's, so an include reaches only text files inside the project folder, never files of secrets,
 * and everything is bounded: depth, number, size of each file and of the whole. A path is relative to the file it stands in.
 */
import { dirname, isAbsolute, resolve } from 'node:path';
import { nearest } from '../../base/did-you-mean.ts';
import { limits } from '../../base/limits.ts';
import { checkVariables, type Placeholder, placeholdersIn } from '../definition/variables.ts';
import { confinedPath } from '../text/confined-path.ts';
import { type Diagnostic, errorAt, quote, warningAt } from '../text/diagnostics.ts';
import type { Span } from '../text/frontmatter.ts';
import { readText } from '../text/read-text.ts';
import { type SourceText, sourceText } from '../text/source-text.ts';

export interface PromptBody {
  readonly source: SourceText;
  readonly span: Span;
  /** Where the file is; includes are looked up from here. */
  readonly path: string;
}

export interface Assembled {
  readonly prompt: string;
  /** Files that were taken in or looked for. */
  readonly included?: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

interface Surroundings {
  /** The real path of the folder that includes may not leave. */
  readonly root: string;
  /** The name to show for a file. */
  readonly label: (path: string) => string;
  /** Names of the user's own variables, besides the built-in. */
  readonly variables: readonly string[];
}

interface Assembly extends Surroundings {
  readonly diagnostics: Diagnostic[];
  readonly checked: Set<string>;
  readonly files: Set<string>;
  included: number;
  length: number;
  /** Set once a limit of the whole is reached, so that it is reported once. */
  full: boolean;
}

export async function assemblePrompt(body: PromptBody, surroundings: Surroundings): Promise<Assembled> {
  const assembly: Assembly = {
    ...surroundings,
    diagnostics: [],
    checked: new Set(),
    files: new Set(),
    included: 0,
    length: 0,
    full: false,
  };
  const text = await fillIn(body, [body.path], assembly);
  return { prompt: text.replaceAll('\r\n', '\n').trim(), diagnostics: assembly.diagnostics, included: [...assembly.files] };
}

/** `chain` holds the files that are being read, outermost first. */
async function fillIn(body: PromptBody, chain: readonly string[], assembly: Assembly): Promise<string> {
  const { source, span } = body;
  const text = source.text.slice(span.start, span.end);
  noteUnknownVariables(body, text, assembly);
  const pieces: string[] = [];
  let end = 0;
  for (const placeholder of placeholdersIn(text)) {
    const path = includePath(placeholder);
    if (path === undefined) continue;
    pieces.push(text.slice(end, placeholder.start), await include(path, body, placeholder, chain, assembly));
    end = placeholder.end;
  }
  pieces.push(text.slice(end));
  return pieces.join('');
}

async function include(
  path: string,
  body: PromptBody,
  at: Placeholder,
  chain: readonly string[],
  assembly: Assembly,
): Promise<string> {
  const place = body.source.placeAt(body.span.start + at.start);
  const refuse = (message: string, fix?: string): string => {
    assembly.diagnostics.push(errorAt(place, message, fix));
    return '';
  };
  if (assembly.full) return '';
  if (chain.length > limits.includeDepth) {
    return refuse(
      `includes go deeper than ${limits.includeDepth} files (limit includeDepth)`,
      'Include the inner files directly.',
    );
  }
  assembly.included += 1;
  if (assembly.included > limits.includesPerAgent) {
    assembly.full = true;
    return refuse(`more than ${limits.includesPerAgent} includes in one prompt (limit includesPerAgent)`);
  }
  if (path === '') return refuse('the include names no file', `Write \${include:relative/path.md}.`);
  if (isAbsolute(path)) return refuse(`the include ${quote(path)} is an absolute path`, 'Write it relative to this file.');
  assembly.files.add(resolve(dirname(body.path), path));
  const confined = await confinedPath(assembly.root, resolve(dirname(body.path), path));
  if (!confined.ok) return refuse(`the include ${quote(path)} ${confined.error.message}`, confined.error.fix);
  if (chain.includes(confined.value)) return refuse(`includes go round in a circle: ${circle(chain, confined.value, assembly)}`);
  const read = await readText(confined.value);
  if (!read.ok) return refuse(`the include ${quote(path)} ${read.error.message}`, read.error.fix);
  assembly.length += read.value.length;
  if (assembly.length > limits.promptBytes) {
    assembly.full = true;
    return refuse(`the prompt with its includes is longer than ${limits.promptBytes} characters (limit promptBytes)`);
  }
  const source = sourceText(assembly.label(confined.value), read.value);
  const inner = { source, span: { start: 0, end: source.text.length }, path: confined.value };
  const text = await fillIn(inner, [...chain, confined.value], assembly);
  // The file's last line end is not part of the sentence that includes it.
  return text.replace(/\r?\n$/, '');
}

function includePath({ content }: Placeholder): string | undefined {
  return content.startsWith('include:') ? content.slice('include:'.length).trim() : undefined;
}

function noteUnknownVariables(body: PromptBody, text: string, assembly: Assembly): void {
  if (assembly.checked.has(body.path)) return;
  assembly.checked.add(body.path);
  const placeAt = (offset: number) => body.source.placeAt(body.span.start + offset);
  for (const { name, offset, fix } of checkVariables(text, assembly.variables)) {
    const help = `${fix === undefined ? '' : `${fix} `}To keep it as text, write $\${${name}}.`;
    assembly.diagnostics.push(warningAt(placeAt(offset), `unknown variable ${quote(name)} is left as it is`, help));
  }
  for (const { content, start } of placeholdersIn(text)) {
    const word = /^([A-Za-z]+):/.exec(content)?.[1];
    if (word === undefined || word === 'include' || nearest(word, ['include']) === undefined) continue;
    assembly.diagnostics.push(warningAt(placeAt(start), `${quote(`${word}:`)} is left as it is`, 'Did you mean "include:"?'));
  }
}

function circle(chain: readonly string[], again: string, assembly: Assembly): string {
  return [...chain.slice(chain.indexOf(again)), again].map(assembly.label).join(' -> ');
}
