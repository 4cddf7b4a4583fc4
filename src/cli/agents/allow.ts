/** `troupe agents allow`: shows which MCP servers an agent's own file would start, and lets a person allow them. */
import { TroupeError } from '../../base/errors.ts';
import { createDeclaredServers, type DeclaredServer, type DeclaredServers } from '../../project/declared-servers.ts';
import { agentFileOf, findAgent } from '../drive/find-agent.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { readAgentFiles, settingsOf } from './files.ts';

export interface AgentsAllowOptions extends JsonOption {
  readonly yes?: boolean | undefined;
}

export async function agentsAllowCommand(context: CommandContext, agent: string, options: AgentsAllowOptions): Promise<ExitCode> {
  const files = await readAgentFiles(context);
  const { definition } = await findAgent(files, agent, await agentFileOf(context.cwd, agent));
  const servers = createDeclaredServers(await settingsOf(context), context.terminal.env);
  const open = await servers.open(definition);
  if (open.length > 0 && options.yes !== true && !context.terminal.interactive)
    throw usageError(
      `${definition.name} would start ${open.map(({ shown }) => shown).join('; ')}`,
      'to allow this without being asked: --yes',
    );
  const allowed = await allowServers(context, servers, open, options.yes === true);
  const shown = allowed.map((one) => ({ server: one.server, shown: one.shown }));
  if (options.json) printJson(context, 'agents allow', { agent: definition.name, allowed: shown });
  else if (open.length === 0) context.terminal.out.line('nothing to allow');
  else for (const { server } of allowed) context.terminal.out.line(`allowed  ${safeLine(server)}`);
  return allowed.length === open.length ? exitCodes.completed : exitCodes.interrupted;
}

/** Asks about each; those that were allowed. */
export async function allowServers(
  { terminal }: CommandContext,
  servers: Pick<DeclaredServers, 'allow'>,
  open: readonly DeclaredServer[],
  yes: boolean,
): Promise<readonly DeclaredServer[]> {
  const allowed: DeclaredServer[] = [];
  for (const one of open) {
    terminal.progress.line(`${safeLine(one.source)} starts the MCP server ${safeLine(one.server)}: ${safeLine(one.shown)}`);
    const answer = yes ? 'yes' : await terminal.ask('  it runs as you. allow? yes or no: ');
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) continue;
    const kept = await servers.allow(one);
    if (!kept.ok) throw new TroupeError('io', `What you allowed cannot be kept: ${kept.error}`);
    allowed.push(one);
  }
  return allowed;
}
