/** `troupe check`: every problem in the settings and in every agent file, at once, before anything runs; and the graph. */

import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { checkToolNames } from '../../agents/definition/tool-names.ts';
import { loadAgent } from '../../agents/file/load.ts';
import { checkGraph } from '../../agents/graph.ts';
import { formatDiagnostic, isError } from '../../agents/text/diagnostics.ts';
import { suggest } from '../../base/did-you-mean.ts';
import { counted } from '../../base/wording.ts';
import { type CheckedFiles, checkEverything } from '../doctor/check-files.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { graphLines } from '../view/graph-lines.ts';
import { mermaidLines } from '../view/graph-mermaid.ts';
import { type GraphShape, shapeOf } from '../view/graph-shape.ts';

export interface CheckCommandOptions extends JsonOption {
  /** Draws who may call whom. */
  readonly graph?: boolean | 'text' | 'mermaid' | undefined;
  /** Only what this agent leads to. */
  readonly from?: string | undefined;
}

export async function checkCommand(
  context: CommandContext,
  paths: readonly string[],
  options: CheckCommandOptions,
): Promise<ExitCode> {
  const { out, progress } = context.terminal;
  const checked = await narrowed(context, await checkEverything(context), paths);
  const { diagnostics } = checked;
  const agents = checked.agents.length;
  const errors = diagnostics.filter(isError).length;
  const warnings = diagnostics.length - errors;
  const graph = options.graph !== undefined || options.from !== undefined ? graphOf(checked, options) : undefined;
  if (options.json) printJson(context, 'check', { ok: errors === 0, agents, errors, warnings, diagnostics, graph: graph?.shape });
  else {
    for (const line of graph?.lines(out.paint) ?? []) out.line(line);
    // The drawing is the result then, and what is wrong is said beside it.
    const aside = graph === undefined ? out : progress;
    for (const one of diagnostics) aside.line(formatDiagnostic(one));
    const found = `${counted(agents + brokenFiles(checked), 'agent')} checked`;
    progress.line(`${found}: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`);
  }
  return errors === 0 ? exitCodes.completed : exitCodes.usage;
}

/** Only what concerns these files and folders; everything is read all the same, because agents name each other. */
async function narrowed(context: CommandContext, all: CheckedFiles, paths: readonly string[]): Promise<CheckedFiles> {
  if (paths.length === 0) return all;
  const wanted = paths.map((path) => resolve(context.cwd, path));
  for (const [index, path] of wanted.entries())
    if ((await stat(path).catch(() => undefined)) === undefined) throw usageError(`There is no file or folder ${paths[index]}`);
  const isWanted = (file: string): boolean => {
    const full = resolve(all.root, file);
    return wanted.some((path) => full === path || full.startsWith(path.endsWith(sep) ? path : `${path}${sep}`));
  };
  const agents = all.agents.filter(({ definition }) => isWanted(definition.source));
  const diagnostics = all.diagnostics.filter(({ file }) => isWanted(file));
  const seen = new Set([...all.agents, ...all.shadowed.map(({ agent }) => agent)].map(({ definition }) => definition.source));
  for (const { file } of all.diagnostics) seen.add(file);
  const known = new Set([...seen].map((file) => resolve(all.root, file)));
  const others = wanted.filter((path) => path.endsWith('.md') && !known.has(path));
  const unread = await Promise.all(others.map((path) => checkOne(all, path)));
  return {
    ...all,
    agents: [...agents, ...unread.flatMap((one) => one.agents)],
    diagnostics: [...diagnostics, ...unread.flatMap((one) => one.diagnostics)],
  };
}

/** A file outside the folders where agents are looked for, as `run` would take it. */
async function checkOne(all: CheckedFiles, path: string): Promise<Pick<CheckedFiles, 'agents' | 'diagnostics'>> {
  const { root, variables, mcpServers } = all;
  const loaded = await loadAgent({ path, root, variables });
  if (!loaded.ok) return { agents: [], diagnostics: loaded.error };
  const { definition, placeOf, diagnostics } = loaded.value;
  const others = all.agents.filter((agent) => agent.definition.name !== definition.name);
  const references = checkGraph([...others, loaded.value]).filter(({ file }) => file === definition.source);
  const tools = checkToolNames(definition, placeOf, { servers: mcpServers });
  return { agents: [loaded.value], diagnostics: [...diagnostics, ...tools, ...references] };
}

/** Files of agents that are none yet, because of what is wrong with them: they were looked at like the others. */
function brokenFiles({ agents, diagnostics }: CheckedFiles): number {
  const sources = new Set(agents.map(({ definition }) => definition.source));
  const broken = diagnostics.filter(isError).map(({ file }) => file);
  return new Set(broken.filter((file) => file.endsWith('.md') && !sources.has(file))).size;
}

interface Drawn {
  readonly shape: GraphShape;
  lines(paint: CommandContext['terminal']['out']['paint']): readonly string[];
}

function graphOf({ agents, edges }: CheckedFiles, { graph, from }: CheckCommandOptions): Drawn {
  const names = agents.map((agent) => agent.definition.name);
  if (from !== undefined && !names.includes(from))
    throw usageError(`There is no agent ${from}`, suggest(from, names, 'agents') ?? 'see: troupe agents list');
  const shape = shapeOf(names, edges, from);
  return { shape, lines: (paint) => (graph === 'mermaid' ? mermaidLines(names, shape) : graphLines(shape, paint)) };
}
