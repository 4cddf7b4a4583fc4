/**
 * `troupe acp`: an agent or a team for editors and other ACP clients, on stdin and stdout or on a port of this machine. Stdout
 * carries nothing but the protocol.
 */
import { resolve } from 'node:path';
import { createIds } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import { modeNamed } from '../../protocols/acp/modes.ts';
import type { AcpNeeds } from '../../protocols/acp/needs.ts';
import { type AcpStreams, serveAcpStreams } from '../../protocols/acp/stdio.ts';
import { agentFileOf } from '../drive/find-agent.ts';
import { type CommandContext, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { version } from '../terminal/version.ts';
import { type AcpProjectsOptions, createAcpProjects } from './acp-projects.ts';
import { keepStdoutClean, logError } from './mcp-needs.ts';

export interface AcpCommandOptions extends Pick<AcpProjectsOptions, 'model' | 'maxTurns' | 'home' | 'executor' | 'settings'> {
  readonly mode?: string | undefined;
}

export async function acpCommand(
  context: CommandContext,
  agent: string | undefined,
  options: AcpCommandOptions,
  streams: AcpStreams = ownStreams(),
): Promise<ExitCode> {
  const mode = modeNamed(options.mode ?? 'ask');
  if (mode === undefined) throw usageError(`There is no mode "${options.mode}"`, 'take one of: ask, read-only, full');
  requireExecutorOptions(agent, options);
  const agentFile = agent === undefined ? undefined : await agentFileOf(context.cwd, agent);
  const model = options.model === undefined ? undefined : modelFrom(context.terminal.cwd, options.model);
  const projects = createAcpProjects(context, {
    ...options,
    model,
    agent: agentFile === undefined ? agent : undefined,
    agentFile,
  });
  const { clock } = context;
  const needs: AcpNeeds = {
    ...{ open: projects.open, own: () => projects.open(context.cwd), clock, ids: createIds(clock, systemRandom) },
    ...{ version: version(), mode, model, isShared: false, onError: logError(context, 'acp') },
  };
  const stop = new AbortController();
  const stopListening = context.terminal.onStop(() => stop.abort());
  try {
    await serveAcpStreams(needs, streams, stop.signal);
    return exitCodes.completed;
  } finally {
    await projects.close();
    stopListening();
  }
}

function requireExecutorOptions(agent: string | undefined, { executor, home, settings }: AcpCommandOptions): void {
  if (executor === true) {
    if (agent !== undefined && !agent.endsWith('.md'))
      throw usageError('An executor does not read the agents of a project', 'name a file: troupe acp --executor agent.md');
    return;
  }
  if (home !== undefined || settings !== undefined)
    throw usageError('--home and --settings are for an executor', 'add --executor, or set TROUPE_HOME');
}

/** A script is found from where the command was called, wherever the project is. */
function modelFrom(cwd: string, model: string): string {
  const [, file] = /^scripted:(.+)$/.exec(model) ?? [];
  return file === undefined ? model : `scripted:${resolve(cwd, file)}`;
}

function ownStreams(): AcpStreams {
  keepStdoutClean();
  return { input: process.stdin, output: process.stdout };
}
