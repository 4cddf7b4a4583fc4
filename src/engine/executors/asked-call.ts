/**
 * What an executor wants to do, as a call of one of our tools: the same rules decide about it, and the same words ask. What
 * cannot be told for sure is a call of `executor`, which always asks.
 */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { judgedName } from '../../base/visible-text.ts';
import type { ExecutorCall, ExecutorDiff } from '../../executors/port.ts';
import { lineDiff } from '../../tools/files/line-diff.ts';
import { resolveAnywhere } from '../../tools/files/workspace.ts';
import { errorResult, type OrdinaryTool } from '../../tools/port.ts';
import { type CarriedCommands, commandsIn, valueAt } from './carried-commands.ts';

/** The tool that stands for whatever an executor does that no other one does. */
const EXECUTOR_TOOL = 'executor';

export interface AskedCall {
  readonly tool: string;
  readonly input: JsonObject;
  /** The MCP server and its tool, where it is one of those. */
  readonly origin?: { readonly server: string; readonly tool: string };
  /** What is shown in the place of the arguments. */
  readonly preview?: string;
}

/** `refused`: nobody is asked, as it leads out of the folder. */
export type Understood = { readonly calls: readonly AskedCall[] } | { readonly refused: string };

/** By all that it carries, whatever kind it says that it is: everything of it has to be allowed. */
export async function understood(call: ExecutorCall, cwd: string): Promise<Understood> {
  const mcp = mcpTool(call);
  const found = commandsIn(call.input);
  const isPlain = mcp === undefined && isEditorWord(call, found.lines);
  const carries = (found.lines.length > 0 || found.unclear) && !isPlain;
  const parts: Understood[] = [];
  if (carries || (mcp === undefined && call.kind === 'execute')) parts.push(await commandAsked(call, cwd, found));
  if (mcp !== undefined)
    parts.push({ calls: [{ tool: `${mcp.server}__${mcp.tool}`, input: objectIn(call.input), origin: mcp }] });
  else if (call.kind !== 'execute') parts.push(await byKind(call, cwd));
  // A change is one, also of a call that says that it only reads or runs something.
  if (call.diffs.length > 0 && !CHANGES.has(call.kind)) parts.push(await pathsAsked(call, cwd, 'edit'));
  const calls: AskedCall[] = [];
  for (const part of parts) {
    if ('refused' in part) return part;
    calls.push(...part.calls);
  }
  const unclear = calls.filter(({ tool }) => tool === EXECUTOR_TOOL).slice(1);
  return { calls: calls.filter((one) => !unclear.includes(one)) };
}

const CHANGES: ReadonlySet<string> = new Set(['edit', 'delete', 'move']);

async function byKind(call: ExecutorCall, cwd: string): Promise<Understood> {
  switch (call.kind) {
    case 'edit':
    case 'delete':
    case 'move':
      return await pathsAsked(call, cwd, call.kind === 'edit' ? 'edit' : 'write');
    case 'read':
    case 'search':
      return await pathsAsked(call, cwd, call.kind);
    case 'fetch':
      return addressAsked(call);
    default:
      return { calls: [anything(call)] };
  }
}

/** Tools that edit files say in `command` what they do to the path: none of these words is a program. */
const EDITOR_WORDS: ReadonlySet<string> = new Set(['create', 'str_replace', 'insert', 'undo_edit']);

function isEditorWord({ kind, input }: ExecutorCall, lines: readonly string[]): boolean {
  const [word = '', ...more] = lines;
  return kind === 'edit' && more.length === 0 && EDITOR_WORDS.has(word) && pathsIn(input).length > 0;
}

/** All that is known of it. */
function anything({ title, kind, input, locations }: ExecutorCall): AskedCall {
  const more = { ...(locations.length === 0 ? {} : { locations: [...locations] }), ...present({ input }) };
  return { tool: EXECUTOR_TOOL, input: { does: title, kind, ...more } };
}

const FOLDER_KEYS = ['cwd', 'workdir', 'directory', 'working_directory', 'workingDirectory'];

async function commandAsked(call: ExecutorCall, cwd: string, { lines, unclear }: CarriedCommands): Promise<Understood> {
  const folders = isJsonObject(call.input) ? FOLDER_KEYS.flatMap((key) => valueAt(call.input as JsonObject, key)) : [];
  for (const folder of folders) {
    const inside = typeof folder === 'string' ? await resolveAnywhere(cwd, folder) : undefined;
    if (inside?.ok === false) return { refused: inside.error };
  }
  const [folder, ...others] = new Set(folders);
  const isTold = (folder === undefined || typeof folder === 'string') && others.length === 0;
  if (unclear || lines.length === 0 || !isTold) return { calls: [anything(call)] };
  const where = present({ cwd: folder });
  return { calls: lines.map((command) => ({ tool: 'shell', input: { command, ...where } })) };
}

async function pathsAsked(call: ExecutorCall, cwd: string, tool: string): Promise<Understood> {
  const paths = new Set([...call.diffs.map(({ path }) => path), ...call.locations, ...pathsIn(call.input)]);
  if (paths.size === 0) return { calls: [tool === 'search' ? { tool, input: { path: '.' } } : anything(call)] };
  const calls: AskedCall[] = [];
  for (const path of paths) {
    const inside = await resolveAnywhere(cwd, path);
    if (!inside.ok) return { refused: inside.error };
    const preview = tool === 'edit' || tool === 'write' ? previewOf(call, path) : undefined;
    calls.push({ tool, input: { path: inside.value.relative || '.' }, ...present({ preview }) });
  }
  return { calls };
}

const PATH_KEYS = ['path', 'file_path', 'filePath', 'abs_path', 'file', 'notebook_path', 'destination', 'source'];

function pathsIn(input: Json | undefined): readonly string[] {
  if (!isJsonObject(input)) return [];
  return PATH_KEYS.map((key) => input[key]).filter((path) => typeof path === 'string' && path !== '') as string[];
}

function previewOf({ title, kind, diffs, input }: ExecutorCall, path: string): string {
  const own = diffs.filter((diff) => diff.path === path);
  if (own.length === 0) return `${kind} ${judgedName(path)}: ${judgedName(title)}\n${JSON.stringify(input ?? {}, undefined, 2)}`;
  return own.map(diffText).join('\n');
}

function diffText({ path, before, after }: ExecutorDiff): string {
  const from = before === undefined ? '/dev/null' : judgedName(`a/${path}`);
  return `--- ${from}\n+++ ${judgedName(`b/${path}`)}\n${lineDiff(before ?? '', after).text}`;
}

function addressAsked(call: ExecutorCall): Understood {
  const given = isJsonObject(call.input) ? (call.input['url'] ?? call.input['uri']) : undefined;
  if (typeof given !== 'string') return { calls: [anything(call)] };
  return { calls: [{ tool: 'fetch', input: { url: given } }] };
}

/** Executors name tools of MCP servers as `mcp__server__tool`, in the title or in what they pass on. */
const MCP_NAME = /\bmcp__([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__([A-Za-z0-9_-]+)/;

function mcpTool({ title, input }: ExecutorCall): { readonly server: string; readonly tool: string } | undefined {
  const named = isJsonObject(input) ? [input['server_name'] ?? input['server'], input['tool_name'] ?? input['tool']] : [];
  const [server, tool] = named;
  if (typeof server === 'string' && typeof tool === 'string' && server !== '' && tool !== '') return { server, tool };
  const [, byName = '', its = ''] = MCP_NAME.exec(title) ?? [];
  return byName === '' ? undefined : { server: byName, tool: its };
}

const objectIn = (input: Json | undefined): JsonObject => (isJsonObject(input) ? input : { ...present({ input }) });

/** As a tool of ours: `own` is the real one, where there is one, with its knowledge of what is protected. */
export function asTool({ tool: name, origin, preview }: AskedCall, own: OrdinaryTool | undefined): OrdinaryTool {
  const base: OrdinaryTool = own ?? {
    name,
    description: '',
    inputSchema: { type: 'object' },
    replay: 'never',
    run: async () => errorResult('It is run by the executor.'),
  };
  return { ...base, ...present({ origin }), ...(preview === undefined ? {} : { preview: async () => preview }) };
}
