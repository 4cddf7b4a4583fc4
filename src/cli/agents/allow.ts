/**
 * `troupe agents allow`: shows which MCP servers an agent's own file would start, or which variables it would have sent to an
 * agent that lives elsewhere, and lets a person allow it.
 */
import { hostname } from 'node:os';
import type { Environment } from '../../base/environment.ts';
import { TroupeError } from '../../base/errors.ts';
import { PERSON } from '../../base/person.ts';
import { visibleText } from '../../base/visible-text.ts';
import type { Approval, OpenServer } from '../../project/servers/allowed-servers.ts';
import { createDeclaredServers, type DeclaredServers } from '../../project/servers/declared-servers.ts';
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
      `${definition.name} ${open.map((one) => (one.kind === 'peer' ? one.shown : `would start ${one.shown}`)).join('; ')}`,
      'to allow this without being asked: --yes',
    );
  const allowed = await allowServers(context, servers, open, options.yes === true);
  const shown = allowed.map((one) => ({ server: one.server, shown: one.shown }));
  if (options.json) printJson(context, 'agents allow', { agent: definition.name, allowed: shown });
  else if (open.length === 0) context.terminal.out.line('nothing to allow');
  else for (const { server } of allowed) context.terminal.out.line(`allowed  ${safeLine(server)}`);
  return allowed.length === open.length ? exitCodes.completed : exitCodes.interrupted;
}

/** Shows each whole and asks about it; those that were allowed. */
export async function allowServers(
  { terminal, clock }: CommandContext,
  servers: Pick<DeclaredServers, 'allow'>,
  open: readonly OpenServer[],
  yes: boolean,
): Promise<readonly OpenServer[]> {
  const allowed: OpenServer[] = [];
  for (const one of open) {
    const said = [one.source, one.server, one.shown].map((text) => safeLine(visibleText(text)));
    terminal.progress.line(`${said[0]} ${one.kind === 'peer' ? said[2] : `starts the MCP server ${said[1]}: ${said[2]}`}`);
    const answer = yes ? 'yes' : await terminal.ask(`  ${one.kind === 'peer' ? '' : 'it runs as you. '}allow? yes or no: `);
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) continue;
    const kept = await servers.allow(one, approvalOf(terminal.env, clock.now(), yes));
    if (!kept.ok) throw new TroupeError('io', `What you allowed cannot be kept: ${kept.error}`);
    allowed.push(one);
  }
  return allowed;
}

export function approvalOf(env: Environment, now: number, yes: boolean): Approval {
  const by = env['USER'] || env['LOGNAME'] || PERSON;
  return { by, host: hostname(), through: yes ? 'flag' : 'terminal', time: new Date(now).toISOString() };
}
