/** `troupe servers list|allow|forget`: every MCP server that agents may name, where it comes from, and whether it may start. */
import { suggest } from '../../base/did-you-mean.ts';
import { visibleText } from '../../base/visible-text.ts';
import { type ListedServer, listServers } from '../../front/project/servers.ts';
import type { ProjectConfig } from '../../project/config.ts';
import type { OpenServer } from '../../project/servers/allowed-servers.ts';
import { createDeclaredServers, notStarted } from '../../project/servers/declared-servers.ts';
import type { ForeignServer } from '../../project/servers/foreign-servers.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { allowServers } from './allow.ts';
import { readAgentFiles, settingsOf } from './files.ts';

export async function serversListCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const config = await settingsOf(context);
  const declared = createDeclaredServers(config, context.terminal.env);
  const { agents } = await readAgentFiles(context);
  const servers = await listServers(config, agents, declared);
  const { out, progress } = context.terminal;
  if (options.json) printJson(context, 'servers list', { servers });
  else if (servers.length === 0) progress.line('no MCP servers: declare them under `mcp` in troupe.yaml');
  else printTable(out, ['SERVER', 'FROM', 'STATE', 'STARTS'], servers.map(cells));
  if (options.json !== true)
    for (const { file, line, column, message } of config.foreign.diagnostics)
      progress.line(safeLine(`${file}:${line}:${column}: ${message}`));
  return exitCodes.completed;
}

/** `.mcp.json:3, not allowed yet`. */
export function describeServer({ source, line, state, reason }: ListedServer): string {
  const said = reason === undefined ? STATES[state] : `${STATES[state]}: ${reason}`;
  return `${line === undefined ? source : `${source}:${line}`}, ${said}`;
}

const STATES: Readonly<Record<ListedServer['state'], string>> = {
  allowed: 'allowed',
  open: 'not allowed yet',
  refused: 'not started',
  shadowed: 'shadowed',
};

function cells({ name, source, line, agent, state, reason, shown }: ListedServer): readonly string[] {
  const from = agent === undefined ? source : `${source} (${agent})`;
  const said = reason === undefined ? STATES[state] : `${STATES[state]}: ${reason}`;
  return [name, line === undefined ? from : `${from}:${line}`, said, shown ?? ''].map((text) => safeLine(visibleText(text)));
}

export interface ServersAllowOptions extends JsonOption {
  readonly yes?: boolean | undefined;
}

export async function serversAllowCommand(
  context: CommandContext,
  names: readonly string[],
  options: ServersAllowOptions,
): Promise<ExitCode> {
  const config = await settingsOf(context);
  const declared = createDeclaredServers(config, context.terminal.env);
  if (names.length === 0 && options.yes === true)
    throw usageError('Which servers?', 'with --yes name each: troupe servers allow <name> --yes');
  const own = await Promise.all((names.length === 0 ? Object.keys(config.mcp) : names).map((name) => declared.ownOpen(name)));
  const open: OpenServer[] = own.filter((one) => one !== undefined);
  const others = names.filter((name) => !open.some(({ server }) => server === name));
  const meant = names.length === 0 ? counting(config) : others.map((name) => serverNamed(config, name));
  for (const server of meant) {
    const state = await declared.stateOf(server);
    if (state.kind === 'refused' && names.length > 0) throw usageError(notStarted(server, state.reason), 'see: troupe servers');
    if (state.kind === 'open') open.push(state.open);
  }
  if (open.length > 0 && options.yes !== true && !context.terminal.interactive)
    throw usageError(
      open.map(({ source, server, shown }) => `${source} would start the MCP server ${server}: ${visibleText(shown)}`).join('\n'),
      'to allow this without being asked: --yes',
    );
  const allowed = await allowServers(context, declared, open, options.yes === true);
  const said = allowed.map(({ server, source, shown, key }) => ({ server, source, shown, sha256: key }));
  if (options.json) printJson(context, 'servers allow', { allowed: said });
  else if (open.length === 0) context.terminal.out.line('nothing to allow');
  else for (const { server } of allowed) context.terminal.out.line(`allowed  ${safeLine(server)}`);
  return allowed.length === open.length ? exitCodes.completed : exitCodes.interrupted;
}

const counting = ({ foreign }: ProjectConfig): readonly ForeignServer[] =>
  foreign.servers.filter(({ shadowedBy }) => shadowedBy === undefined);

function serverNamed(config: ProjectConfig, name: string): ForeignServer {
  const found = counting(config).find((one) => one.name === name);
  if (found !== undefined) return found;
  if (Object.hasOwn(config.mcp, name))
    throw usageError(`The MCP server ${name} stands in the settings`, 'it is yours and starts without a word');
  const known = counting(config).map((one) => one.name);
  const own = 'see: troupe servers. Those of an agent file: troupe agents allow <agent>';
  throw usageError(`There is no MCP server ${name} in a file of another tool`, suggest(name, known, 'servers') ?? own);
}

export async function serversForgetCommand(context: CommandContext, name: string, options: JsonOption): Promise<ExitCode> {
  const declared = createDeclaredServers(await settingsOf(context), context.terminal.env);
  const count = await declared.forget(name);
  if (count === 0) throw usageError(`Nothing was allowed here under the name ${name}`, 'see: troupe servers');
  if (options.json) printJson(context, 'servers forget', { forgotten: name, count });
  else context.terminal.out.prose(`forgotten  ${safeLine(name)}: it is asked about again before its next start`);
  return exitCodes.completed;
}
