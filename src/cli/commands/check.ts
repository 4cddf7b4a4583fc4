/** `troupe check`: every problem in the settings and in every agent file, at once, before anything runs; and the graph. */

import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { filesOfAgent } from '../../agents/check-project.ts';
import { formatDiagnostic, isError } from '../../agents/text/diagnostics.ts';
import { suggest } from '../../base/did-you-mean.ts';
import { counted } from '../../base/wording.ts';
import { type GraphShape, shapeOf } from '../../front/project/graph-shape.ts';
import { findRoot } from '../../project/config.ts';
import { type CheckedFiles, checkEverything } from '../doctor/check-files.ts';
import { asCalled, type CommandContext, callOf, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { graphLines } from '../view/graph-lines.ts';
import { mermaidLines } from '../view/graph-mermaid.ts';
import { inRounds, tried } from '../watch/watch-rounds.ts';
import { everyFile, type WatchedFiles } from '../watch/watched-files.ts';

export interface CheckCommandOptions extends JsonOption {
  /** Draws who may call whom. */
  readonly graph?: boolean | 'text' | 'mermaid' | undefined;
  /** Again whenever a file changes. */
  readonly watch?: boolean | undefined;
  /** Only what this agent leads to. */
  readonly from?: string | undefined;
}

export async function checkCommand(
  context: CommandContext,
  paths: readonly string[],
  options: CheckCommandOptions,
): Promise<ExitCode> {
  if (options.watch !== true) return (await checkOnce(context, paths, options)).code;
  if (options.json) throw usageError('--watch prints again and again, and --json one value', 'leave one of them out');
  const { env } = context.terminal;
  const everything = async (more: readonly string[]) => everyFile({ root: await findRoot(context.cwd), env }, more);
  let look = (): Promise<WatchedFiles> => everything([]);
  return await inRounds(context, look, () =>
    tried(context, look, async () => {
      const { out } = context.terminal;
      if (out.isTty) out.write(CLEAR);
      const { code, files } = await checkOnce(context, paths, options);
      look = () => everything(files);
      return { code, look };
    }),
  );
}

/** The whole screen and what was scrolled out of it. */
const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

interface CheckedOnce {
  readonly code: ExitCode;
  /** What agents take in, and files beyond the folders of agents. */
  readonly files: readonly string[];
}

async function checkOnce(context: CommandContext, paths: readonly string[], options: CheckCommandOptions): Promise<CheckedOnce> {
  const { out, progress } = context.terminal;
  const wanted = await existing(context, paths);
  const files = wanted.filter((path) => path.endsWith('.md'));
  const checked = narrowed(await checkEverything(context, files), wanted);
  const { diagnostics } = checked;
  const agents = checked.agents.length + brokenFiles(checked);
  const errors = diagnostics.filter(isError).length;
  const warnings = diagnostics.length - errors;
  const graph = options.graph !== undefined || options.from !== undefined ? graphOf(checked, options) : undefined;
  if (options.json) printJson(context, 'check', { ok: errors === 0, agents, errors, warnings, diagnostics, graph: graph?.shape });
  else {
    for (const line of graph?.lines(out.paint) ?? []) out.line(line);
    // The drawing is the result then, and what is wrong is said beside it.
    const aside = graph === undefined ? out : progress;
    for (const one of diagnostics) aside.prose(asCalled(formatDiagnostic(one), callOf(context)), { indent: 4 });
    progress.line(`${counted(agents, 'agent')} checked: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`);
  }
  const takenIn = [...checked.included, ...checked.agents.flatMap((agent) => filesOfAgent(checked.root, agent))];
  return { code: errors === 0 ? exitCodes.completed : exitCodes.usage, files: [...takenIn, ...wanted] };
}

/** Whole paths of what was named. */
async function existing({ cwd }: CommandContext, paths: readonly string[]): Promise<readonly string[]> {
  const wanted = paths.map((path) => resolve(cwd, path));
  for (const [index, path] of wanted.entries())
    if ((await stat(path).catch(() => undefined)) === undefined) throw usageError(`There is no file or folder ${paths[index]}`);
  return wanted;
}

/** Only what concerns these files and folders; everything is read all the same, because agents name each other. */
function narrowed(all: CheckedFiles, wanted: readonly string[]): CheckedFiles {
  if (wanted.length === 0) return all;
  const isWanted = (file: string): boolean => {
    const full = resolve(all.root, file);
    return wanted.some((path) => full === path || full.startsWith(path.endsWith(sep) ? path : `${path}${sep}`));
  };
  const agents = all.agents.filter(({ definition }) => isWanted(definition.source));
  return { ...all, agents, diagnostics: all.diagnostics.filter(({ file }) => isWanted(file)) };
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
