/**
 * What an executor wants to do, as a call of one of our tools: the same rules decide about it, and the same words ask. What
 * cannot be told for sure is a call of `executor`, which always asks.
 */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { ExecutorCall, ExecutorDiff } from '../../executors/port.ts';
import { lineDiff } from '../../tools/files/line-diff.ts';
import { resolveAnywhere } from '../../tools/files/workspace.ts';
import { errorResult, type OrdinaryTool } from '../../tools/port.ts';
import { commandLinesOf } from './standing.ts';

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

export async function understood(call: ExecutorCall, cwd: string): Promise<Understood> {
  const mcp = mcpTool(call);
  if (mcp !== undefined) return { calls: [{ tool: `${mcp.server}__${mcp.tool}`, input: objectIn(call.input), origin: mcp }] };
  switch (call.kind) {
    case 'execute':
      return commandAsked(call);
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

/** All that is known of it. */
function anything({ title, kind, input, locations }: ExecutorCall): AskedCall {
  const more = { ...(locations.length === 0 ? {} : { locations: [...locations] }), ...present({ input }) };
  return { tool: EXECUTOR_TOOL, input: { does: title, kind, ...more } };
}

function commandAsked(call: ExecutorCall): Understood {
  const commands = commandLinesOf(call.input);
  if (commands.length === 0) return { calls: [anything(call)] };
  const folder = isJsonObject(call.input) ? (call.input['cwd'] ?? call.input['workdir'] ?? call.input['directory']) : undefined;
  const where = typeof folder === 'string' ? { cwd: folder } : {};
  return { calls: commands.map((command) => ({ tool: 'shell', input: { command, ...where } })) };
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
  if (own.length === 0) return `${kind} ${path}: ${title}\n${JSON.stringify(input ?? {}, undefined, 2)}`;
  return own.map(diffText).join('\n');
}

function diffText({ path, before, after }: ExecutorDiff): string {
  const from = before === undefined ? '/dev/null' : `a/${path}`;
  return `--- ${from}\n+++ b/${path}\n${lineDiff(before ?? '', after).text}`;
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
