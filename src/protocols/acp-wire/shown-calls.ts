/**
 * Tool calls as a client shows them, from what the ledger says of them: asked for, under way, done. A call is known by its run
 * and its place in it, so that what is told twice is the same call.
 */
import { resolve } from 'node:path';
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import { isJsonObject, type Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { judgedLine } from '../../base/visible-text.ts';
import type { ImagePart, TextPart } from '../../events/messages.ts';
import { firstLine } from '../../projections/readable.ts';

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: 'read',
  list: 'read',
  search: 'search',
  write: 'edit',
  edit: 'edit',
  shell: 'execute',
  fetch: 'fetch',
  plan: 'think',
  ask: 'think',
};

export const kindOf = (tool: string): ToolKind => KINDS[tool.replace(/^protected:.*/, 'edit')] ?? 'other';

export const shownCallId = (run: string, turn: number, index: number): string => `${run}/turn/${turn}/tool/${index}`;

/** The call that a permission is asked for: a wait is named after it. */
export const callOfWait = (run: string, wait: string): string => `${run}/${wait.replace(/\/approval(\/\d+)?$/, '')}`;

/** What it is about, in a few words: a path, a command. */
export function titleOf(tool: string, input: Json, agent?: string): string {
  const text = isJsonObject(input) ? Object.values(input).find((value) => typeof value === 'string') : undefined;
  const subject = typeof text === 'string' ? ` ${judgedLine(firstLine(text, limits.acpTitleCharacters))}` : '';
  return `${agent === undefined ? '' : `${agent}: `}${tool}${subject}`;
}

export function locationsOf(input: Json, workspace: string): ToolCallLocation[] {
  const path = fieldOf(input, 'path');
  return path === undefined ? [] : [{ path: resolve(workspace, path) }];
}

/** What a change would come to, as far as its arguments say. */
export function changeOf(tool: string, input: Json, workspace: string): ToolCallContent[] {
  const path = fieldOf(input, 'path');
  if (path === undefined) return [];
  const at = resolve(workspace, path);
  const [before, after] = [fieldOf(input, 'old'), fieldOf(input, 'new')];
  if (tool === 'edit' && before !== undefined && after !== undefined)
    return [{ type: 'diff', path: at, oldText: bounded(before), newText: bounded(after) }];
  const content = fieldOf(input, 'content');
  return tool === 'write' && content !== undefined ? [{ type: 'diff', path: at, newText: bounded(content) }] : [];
}

export function resultContent(content: readonly (TextPart | ImagePart)[]): ToolCallContent[] {
  return content.map((part) => ({
    type: 'content',
    content:
      part.type === 'text'
        ? { type: 'text', text: bounded(part.text) }
        : { type: 'image', mimeType: part.mediaType, data: part.data },
  }));
}

export const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } });

/** What is shown of arguments: large ones would be sent again with every update. */
export function shownInput(input: Json): Json {
  return JSON.stringify(input).length <= limits.acpShownCharacters ? input : { cut: bounded(JSON.stringify(input)) };
}

function bounded(text: string): string {
  if (text.length <= limits.acpShownCharacters) return text;
  const missing = text.length - limits.acpShownCharacters;
  return `${text.slice(0, limits.acpShownCharacters)}\n(${missing} more characters: acpShownCharacters)`;
}

function fieldOf(input: Json, name: string): string | undefined {
  const value = isJsonObject(input) ? input[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
