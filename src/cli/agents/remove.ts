/**
 * `troupe agents remove`: takes an agent out of the project's own `agents/`, keeps a copy and says how to bring it back. An
 * agent that others name stays unless it is forced; files of other tools and the user's own are not touched.
 */
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { findAgent } from '../drive/find-agent.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { readAgentFiles } from './files.ts';
import { keepCopy, typedPath } from './keep.ts';

export interface AgentsRemoveOptions extends JsonOption {
  readonly yes?: boolean | undefined;
  readonly force?: boolean | undefined;
}

export async function agentsRemoveCommand(
  context: CommandContext,
  name: string,
  options: AgentsRemoveOptions,
): Promise<ExitCode> {
  const files = await readAgentFiles(context);
  // One that cannot run, because of whom it names, can still go.
  const agent = files.agents.find(({ definition }) => definition.name === name) ?? (await findAgent(files, name));
  const { source } = agent.definition;
  refuseForeign(agent);
  const namedBy = [...new Set(files.edges.filter((edge) => edge.to === name && edge.from !== name).map((edge) => edge.from))];
  if (namedBy.length > 0 && options.force !== true)
    throw usageError(`"${name}" is named by ${namedBy.join(', ')}`, 'change these first, or remove it all the same: --force');
  if (!(await confirmed(context, name, source, options))) {
    context.terminal.progress.line('nothing was removed');
    return exitCodes.interrupted;
  }
  const path = resolve(files.root, source);
  const copy = await keepCopy(context, files.home, files.root, path);
  await remove(path, source);
  // `add` puts a file right into agents/; one from a folder below may include what is beside it.
  const back = /^agents\/[^/]+$/.test(source)
    ? `${callOf(context)} agents add "${copy}"`
    : `mv "${copy}" "${typedPath(context, files.root, path)}"`;
  if (options.json) printJson(context, 'agents remove', { removed: name, file: source, copy, back, namedBy });
  else {
    context.terminal.out.line(`removed  ${safeLine(source)}`);
    context.terminal.out.line(`back     ${safeLine(back)}`);
  }
  return exitCodes.completed;
}

function refuseForeign({ definition: { name, source }, origin }: LoadedAgent): void {
  if (origin === 'project') return;
  const whose = origin === 'user' ? 'your own folder' : `the agents of ${origin}`;
  throw usageError(
    `"${name}" comes from ${whose}: ${source}`,
    'only agents of the project’s own agents/ are removed; delete that file yourself',
  );
}

async function confirmed(
  { terminal }: CommandContext,
  name: string,
  source: string,
  options: AgentsRemoveOptions,
): Promise<boolean> {
  if (options.yes === true || !terminal.interactive) return true;
  const answer = await terminal.ask(`remove ${safeLine(name)} (${safeLine(source)})? yes or no: `);
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

async function remove(path: string, source: string): Promise<void> {
  try {
    await rm(path);
  } catch (error) {
    const fix = 'check the permissions of the folder';
    throw new TroupeError('io', `${source} cannot be removed: ${messageOf(error)}`, { fix, cause: error });
  }
}
