/** What Tab makes of the word before the cursor: a file behind @, a command behind /, an agent behind /agent. */
import { readdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { confinedPath } from '../../agents/text/confined-path.ts';
import { limits } from '../../base/limits.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { type ChatDraft, draftText } from './draft.ts';
import type { Completion } from './editor.ts';

export interface Completes {
  readonly workspace: string;
  /** Without the stroke. */
  readonly commands: readonly string[];
  agents(): Promise<readonly string[]>;
}

const CHOICES_SHOWN = 20;

export async function completeDraft(draft: ChatDraft, names: Completes): Promise<Completion | undefined> {
  const before = draftText({ cells: draft.cells.slice(0, draft.cursor) });
  const [, mention] = /(?:^|\s)(@"[^"\n]*|@\S*)$/.exec(before) ?? [];
  if (mention !== undefined) return await completeFile(draft, mention, names.workspace);
  const [, command, agent] = /^\/(?:([a-z]*)|agent\s+(\S*))$/.exec(before) ?? [];
  if (agent !== undefined) return chosen(draft, agent, await names.agents(), '');
  if (command === undefined) return undefined;
  return chosen(
    draft,
    `/${command}`,
    names.commands.map((name) => `/${name}`),
    ' ',
  );
}

async function completeFile(draft: ChatDraft, word: string, workspace: string): Promise<Completion | undefined> {
  const path = word.slice(word.startsWith('@"') ? 2 : 1);
  const folder = path.includes('/') ? `${dirname(`${path}x`)}/` : '';
  const confined = await confinedPath(workspace, resolve(workspace, folder));
  if (!confined.ok) return undefined;
  const entries = await readdir(confined.value, { withFileTypes: true }).catch(() => []);
  const hidden = path.slice(folder.length).startsWith('.');
  const paths = entries
    .filter(({ name }) => safeLine(name) === name && name.startsWith('.') === hidden)
    .slice(0, limits.listEntries)
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
  const found = chosen(draft, path, paths, '');
  if (found === undefined) return undefined;
  const isWhole = found.choices.length === 0 && !found.text.endsWith('/');
  const quoted = word.startsWith('@"') || /\s/.test(found.text);
  const text = quoted ? `@"${found.text}${isWhole ? '" ' : ''}` : `@${found.text}${isWhole ? ' ' : ''}`;
  return { ...found, from: draft.cursor - [...cellsOf(draft, word)].length, text };
}

/** As much as all that fit have in common; `behind` follows the only one. */
function chosen(draft: ChatDraft, word: string, all: readonly string[], behind: string): Completion | undefined {
  const fitting = all.filter((one) => one.startsWith(word));
  const [first] = fitting;
  if (first === undefined) return undefined;
  const from = draft.cursor - cellsOf(draft, word).length;
  if (fitting.length === 1) return { from, text: `${first}${behind}`, choices: [] };
  let common = first;
  for (const one of fitting) while (!one.startsWith(common)) common = common.slice(0, -1);
  const left = fitting.length - CHOICES_SHOWN;
  const choices = [...fitting.slice(0, CHOICES_SHOWN), ...(left > 0 ? [`and ${left} more that fit`] : [])];
  return { from, text: common.toWellFormed().replaceAll('\ufffd', ''), choices };
}

/** The last cells before the cursor that make up this text. */
function cellsOf({ cells, cursor }: ChatDraft, text: string): ChatDraft['cells'] {
  let from = cursor;
  for (let length = text.length; length > 0 && from > 0; ) {
    from -= 1;
    length -= cells[from]?.text.length ?? 0;
  }
  return cells.slice(from, cursor);
}
