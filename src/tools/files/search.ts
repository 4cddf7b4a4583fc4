/** `search`: lines in the files of the workspace that contain a text or match a regular expression. */

import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { holdParent, isThere } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import { counted } from '../../base/wording.ts';
import type { Guard } from '../closed/guard.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import { errorResult, type OrdinaryTool, textResult } from '../port.ts';
import { looksBinary, readContent } from './file-content.ts';
import { globMatcher } from './glob.ts';
import { type LineSearch, plainSearch, regexSearch } from './line-search.ts';
import { type FindsSecrets, shownByLine } from './shown-text.ts';
import { type WalkedEntry, type WalkOptions, walk } from './walk.ts';
import { type InsidePath, resolveInside } from './workspace.ts';

const input = z.strictObject({
  text: z.string().min(1).max(2_000).describe('What to look for, within one line.'),
  regex: z.boolean().optional().describe('Read `text` as a JavaScript regular expression instead of plain text.'),
  ignoreCase: z.boolean().optional().describe('Take upper and lower case as equal.'),
  path: z.string().min(1).optional().describe('Folder or file to search, relative to the workspace; everything when left out.'),
  pattern: z.string().min(1).max(500).optional().describe('Only files whose path is like this, such as `*.ts` or `src/**/*.md`.'),
});
type Input = z.infer<typeof input>;

const LINE_SHOWN = 300;

interface SearchNeeds {
  readonly clock: Clock;
  readonly guard: Guard;
  readonly secrets?: FindsSecrets | undefined;
}

export function searchTool({ clock, guard, secrets }: SearchNeeds): OrdinaryTool {
  return defineBuiltIn({
    name: 'search',
    description:
      'Finds lines in the text files of the workspace, shown as `path:line: text`. Leaves out `.git`, `node_modules` and binary files.',
    input,
    replay: 'safe',
    readOnly: true,
    run: async (request, { workspace, signal, mayShow = () => true }) => {
      const inside = await resolveInside(workspace, request.path ?? '.', { guard, use: 'read' });
      if (!inside.ok) return errorResult(inside.error);
      if (!isThere(inside.value)) return errorResult(`${inside.value.relative}: no such file or folder.`);
      const budget = new AbortController();
      const forget = clock.after(limits.searchMs, () => budget.abort());
      const stop = AbortSignal.any([signal, budget.signal]);
      try {
        const search = searchFor(request, stop);
        if (typeof search === 'string') return errorResult(search);
        try {
          return textResult(
            rendered(
              await searchFiles(inside.value, request, search, stop, { hidden: await guard.hidden(), mayShow, secrets }),
              budget.signal.aborted,
            ),
          );
        } finally {
          search.close();
        }
      } finally {
        forget();
      }
    },
  });
}

function searchFor({ text, regex, ignoreCase = false }: Input, signal: AbortSignal): LineSearch | string {
  if (regex !== true) return plainSearch(text, ignoreCase);
  const search = regexSearch(text, ignoreCase, signal);
  return search.ok ? search.value : `The regular expression is not valid: ${search.error}`;
}

interface Found {
  readonly lines: string[];
  readonly files: number;
  /** Files that rules keep closed. */
  readonly closed: number;
  /** Why not everything was searched. */
  readonly cut: string | undefined;
}

interface Shown extends Pick<WalkOptions, 'hidden'> {
  mayShow(path: string): boolean;
  readonly secrets: FindsSecrets | undefined;
}

async function searchFiles(
  start: InsidePath,
  request: Input,
  search: LineSearch,
  signal: AbortSignal,
  { hidden, mayShow, secrets }: Shown,
): Promise<Found> {
  const wanted = request.pattern === undefined ? () => true : globMatcher(request.pattern);
  const lines: string[] = [];
  let [files, closed] = [0, 0];
  const found = (cut: string | undefined): Found => ({ lines, files, closed, cut });
  for await (const entry of filesBelow(start, signal, hidden)) {
    if (signal.aborted) break;
    if (entry.kind !== 'file' || !wanted(entry.relative)) continue;
    if (files >= limits.searchFiles) return found(`only ${limits.searchFiles} files were searched (searchFiles)`);
    if (!mayShow(entry.relative)) {
      closed += 1;
      continue;
    }
    files += 1;
    const text = await textOf({ root: start.root, absolute: entry.absolute, relative: entry.relative }, secrets);
    const matching = text === undefined ? [] : await search.matches(text);
    if (matching === undefined) break;
    if (matching.length === 0 || text === undefined) continue;
    const all = text.split('\n');
    for (const index of matching) lines.push(`${entry.relative}:${index + 1}: ${shown(all[index] ?? '')}`);
    if (lines.length >= limits.searchMatches) {
      lines.length = limits.searchMatches;
      return found(`only the first ${limits.searchMatches} matches are shown (searchMatches)`);
    }
  }
  return found(undefined);
}

async function* filesBelow(start: InsidePath, signal: AbortSignal, hidden: WalkOptions['hidden']): AsyncGenerator<WalkedEntry> {
  if (await isFile(start)) yield { absolute: start.absolute, relative: start.relative, kind: 'file' };
  else yield* walk(start, { signal, recursive: true, everything: false, hidden });
}

async function isFile(path: InsidePath): Promise<boolean> {
  try {
    using parent = holdParent(path);
    return (await lstat(parent.entry)).isFile();
  } catch {
    return false;
  }
}

/** What is not searchable text (a folder, binary, too large, unreadable) has no lines. */
async function textOf(path: InsidePath, secrets: FindsSecrets | undefined): Promise<string | undefined> {
  const content = await readContent(path, limits.searchFileBytes);
  if (!content.ok || looksBinary(content.value.bytes)) return undefined;
  // Whether a guess is in a secret would be an answer, too.
  return shownByLine(content.value.bytes.toString(), secrets);
}

function shown(line: string): string {
  const trimmed = line.trim();
  return trimmed.length <= LINE_SHOWN ? trimmed : `${startOf(trimmed, LINE_SHOWN)}…`;
}

function rendered({ lines, files, closed, cut }: Found, outOfTime: boolean): string {
  const notes = [lines.length === 0 ? `(no match in ${counted(files, 'file')})` : undefined];
  if (closed > 0) notes.push(leftOut(closed, 'search'));
  if (cut !== undefined) notes.push(`(${cut}; use a narrower path or pattern)`);
  if (outOfTime)
    notes.push(`(stopped after ${limits.searchMs / 1_000} s (searchMs); use a narrower path or a simpler expression)`);
  return [...lines, ...notes.filter((note) => note !== undefined)].join('\n');
}

/** Said, so that nobody takes what is not shown for what is not there. */
export function leftOut(count: number, tool: 'search' | 'list'): string {
  const what = counted(count, tool === 'search' ? 'file' : 'path');
  return `(${what} left out: the rules for \`read\` or \`${tool}\` do not allow more)`;
}
