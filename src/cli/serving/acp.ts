/**
 * `troupe acp`: an agent or a team for editors and other ACP clients, on stdin and stdout or on a port of this machine. Stdout
 * carries nothing but the protocol.
 */
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createIds } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import { isLoopback } from '../../http/names.ts';
import { modeNamed } from '../../protocols/acp/modes.ts';
import type { AcpNeeds } from '../../protocols/acp/needs.ts';
import { type AcpStreams, serveAcpStreams } from '../../protocols/acp/stdio.ts';
import { listenAcp } from '../../protocols/acp/tcp.ts';
import { agentFileOf } from '../drive/find-agent.ts';
import { type CommandContext, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { version } from '../terminal/version.ts';
import { type AcpProjectsOptions, createAcpProjects } from './acp-projects.ts';
import { keepStdoutClean, logError } from './mcp-needs.ts';

const PORT_MAX = 65_535;

export interface AcpCommandOptions extends Pick<AcpProjectsOptions, 'model' | 'maxTurns' | 'home' | 'executor' | 'settings'> {
  readonly mode?: string | undefined;
  readonly listen?: string | undefined;
}

export async function acpCommand(
  context: CommandContext,
  agent: string | undefined,
  options: AcpCommandOptions,
  streams?: AcpStreams,
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
    if (options.listen === undefined) await serveAcpStreams(needs, streams ?? ownStreams(), stop.signal);
    else await servePort(context, { ...needs, isShared: true }, options.listen, stop.signal);
    return exitCodes.completed;
  } finally {
    await projects.close();
    stopListening();
  }
}

/** Whoever reaches the port can make agents work here, so it is not for other machines. */
async function servePort(context: CommandContext, needs: AcpNeeds, listen: string, stop: AbortSignal): Promise<void> {
  const [, host = '', port = ''] = /^(?:(.*):)?(\d{1,5})$/.exec(listen) ?? [];
  const name = host === '' ? '127.0.0.1' : host.replace(/^\[(.*)\]$/, '$1');
  if (port === '' || Number(port) > PORT_MAX || !isLoopback(name))
    throw usageError(`"${listen}" is no port of this machine`, 'name one, on loopback: --listen 127.0.0.1:4750');
  const served = await listenAcp(needs, { host: name, port: Number(port) });
  context.terminal.out.line(`${host.startsWith('[') ? host : name}:${served.port}`);
  if (!stop.aborted) await once(stop, 'abort');
  await served.close();
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
