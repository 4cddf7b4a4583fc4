/**
 * `troupe agents allow`: shows which MCP servers an agent's own file would start, or which variables it would have sent to an
 * agent that lives elsewhere, and lets a person allow it.
 */
import { hostname } from 'node:os';
import type { Environment } from '../../base/environment.ts';
import { TroupeError } from '../../base/errors.ts';
import { PERSON } from '../../base/person.ts';
import { judgedLine, judgedName } from '../../base/visible-text.ts';
import type { Answer } from '../../events/catalogue.ts';
import type { Approval, OpenServer } from '../../project/servers/allowed-servers.ts';
import { createDeclaredServers, type DeclaredServers } from '../../project/servers/declared-servers.ts';
import { createDesk } from '../drive/desk.ts';
import { agentFileOf, findAgent } from '../drive/find-agent.ts';
import { createShown, NOTHING, parsePermission, showWhole, untilAnswered } from '../drive/whole-request.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { createSilentView, type LinePrompt } from '../view/run-view.ts';
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
    if (yes) for (const line of requestText(one).split('\n')) terminal.progress.line(safeText(line));
    else if (!(await isAllowed(terminal, one))) continue;
    const kept = await servers.allow(one, approvalOf(terminal.env, clock.now(), yes));
    if (!kept.ok) throw new TroupeError('io', `What you allowed cannot be kept: ${kept.error}`);
    allowed.push(one);
  }
  return allowed;
}

/** What runs as the person who allows it is judged like a command: all of it, marked line by line. */
function requestText({ kind, source, server, shown }: OpenServer): string {
  const head = kind === 'peer' ? judgedLine(source) : `${judgedLine(source)} starts the MCP server ${judgedName(server)}`;
  return `${head}:\n  | ${judgedLine(shown)}`;
}

const ALLOW: LinePrompt = ['  it runs as you. allow? yes or no: ', '  allow? yes or no: ', '  yes or no: '];
const SEND: LinePrompt = ['  allow? yes or no: ', '  yes or no: '];

/** Nobody allows what has not been before their eyes; whoever leaves has allowed nothing, and is asked nothing more. */
async function isAllowed(terminal: Terminal, one: OpenServer): Promise<boolean> {
  const leaving = new AbortController();
  const stopListening = terminal.onStop(() => leaving.abort());
  try {
    const screen = terminal.progress;
    const desk = createDesk(terminal, createSilentView(screen), leaving.signal);
    const request = requestText(one);
    const shown = createShown(screen, { request, mark: screen.paint.yellow('?'), above: NOTHING, below: NOTHING });
    const seen = await showWhole(desk, screen, shown);
    const said = seen === 'seen' ? await untilAnswered(desk, one.kind === 'peer' ? SEND : ALLOW, shown, parseYesOrNo) : seen;
    if (leaving.signal.aborted) throw new TroupeError('stopped', 'Left at a question; nothing was started');
    return said?.kind === 'approved';
  } finally {
    stopListening();
  }
}

/** There is nothing to remember: it is allowed until it changes. */
function parseYesOrNo(typed: string): Answer | undefined {
  const answer = parsePermission(typed);
  return answer?.kind === 'approved' && answer.remember === true ? undefined : answer;
}

export function approvalOf(env: Environment, now: number, yes: boolean): Approval {
  const by = env['USER'] || env['LOGNAME'] || PERSON;
  return { by, host: hostname(), through: yes ? 'flag' : 'terminal', time: new Date(now).toISOString() };
}
