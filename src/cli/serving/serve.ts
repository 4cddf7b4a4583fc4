/**
 * `troupe serve`: the servers of MCP and A2A over HTTP, and the API, until Ctrl-C. Whoever can reach it can make agents work and
 * spend money, so beyond this machine it does not start without a token.
 */
import { messageOf } from '../../base/errors.ts';
import { systemRandom } from '../../base/random.ts';
import { createExamples } from '../../front/project/examples.ts';
import { createServedApi, type ServedApi } from '../../http/api/served-api.ts';
import { createApp } from '../../http/app.ts';
import { type Listening, listen } from '../../http/listen.ts';
import { allowedNames, isLoopback } from '../../http/names.ts';
import { createTokens, type GivenToken, parseTokens, tokenProblem } from '../../http/tokens.ts';
import { createMcpEndpoint } from '../../protocols/mcp/http.ts';
import { exportPieces } from '../export/pieces.ts';
import { type CommandContext, usageError, withProject } from '../terminal/command.ts';
import { exposedVariables } from '../terminal/conceal-environment.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { createServedA2a, type ServedA2a } from './a2a.ts';
import { type Callers, callersOf, warningsOf } from './callers.ts';
import { createServedConsole, type ServedConsole, showConsole } from './console-pages.ts';
import { createServedEdges } from './edges.ts';
import { goOnWithOthers, keepStdoutClean, logError, mcpNeeds, ownerName } from './mcp-needs.ts';
import { createTakeBundle } from './served-bundles.ts';
import { createServedLogins } from './served-logins.ts';
import { beginWebhooks, webhooksOf } from './webhooks.ts';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly token?: string | undefined;
  readonly as?: string | undefined;
  readonly allowCommands?: boolean | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly grpcPort?: number | undefined;
  readonly open?: boolean | undefined;
  readonly openai?: boolean | undefined;
  readonly agui?: boolean | undefined;
}

const TOKEN_BYTES = 24;

export async function serveCommand(context: CommandContext, options: ServeOptions): Promise<ExitCode> {
  keepStdoutClean();
  const owner = ownerName(options.as);
  const tokens = namedTokens(context, options, owner);
  return await withProject(context, { lasting: true }, async (project) => {
    const { env } = context.terminal;
    const allowCommands = options.allowCommands === true;
    const callers = await callersOf({ config: project.config, env, owner, tokens, allowCommands });
    requireToken(callers, options);
    const webhooks = webhooksOf(project.config.serve.webhooks ?? [], env);
    const needs = mcpNeeds(context, project);
    const onError = logError(context);
    const mcp = createMcpEndpoint(needs, onError);
    const { callerOf } = callers;
    const withToken = callers.tokens.length > 0;
    const a2a = createServedA2a({ project, mcp: needs, withToken, callerOf, onError: logError(context, 'a2a') });
    const door = { tokens: createTokens(callers.tokens), callerOf, owner };
    const { url } = project.config.serve;
    const names = allowedNames(options.host, options.allowHost, url);
    const { clock } = context;
    const examples = createExamples({
      env,
      ledger: project.config.ledgerAddress,
      onError: logError(context, 'example'),
    });
    const logins = createServedLogins(context, project.config.root);
    const api = createServedApi({
      ...{ ...door, examples, url, documents: exportPieces, logins: logins.kept },
      takeBundle: createTakeBundle({ project, env, clock }),
      ledger: project.ledger,
      project,
      clock,
      random: systemRandom,
      version: needs.version,
      onError: logError(context, 'api'),
    });
    const pages = createServedConsole(logError(context, 'console'));
    const edges = await createServedEdges({ project, agents: needs.agents, clock, options, onError: logError(context, 'chat') });
    const app = createApp({ ...door, mcp, a2a, api, edges, pages, onError, names, version: needs.version });
    // Before anybody learns of the address: whoever knows it may also tell us to stop.
    const stopped = stopSignal(context);
    try {
      const { host, port, grpcPort } = options;
      await a2a.ready();
      if (grpcPort !== undefined) await a2a.listen({ ...door, host, port: grpcPort });
      const server = await listen({ fetch: (request, connection) => app.fetch(request, connection), host, port, clock });
      logins.tell(server.origin, url);
      announce(context, server, callers.tokens.length > 0, api);
      for (const line of edges.begin(server.origin)) context.terminal.progress.line(line);
      for (const warning of [...exposed(), ...warningsOf(callers, project.config)]) context.terminal.progress.line(warning);
      const others = goOnWithOthers(context, project, edges.stopping, api.queues);
      project.telemetry.onTrouble((why) => logError(context, 'telemetry')(new Error(why)));
      project.taskCopies.onTrouble((why) => logError(context, 'redis')(new Error(why)));
      const hooks = beginWebhooks(context, project, webhooks, { origin: server.origin, stopping: edges.stopping });
      if (options.open === true) await openConsole(context, pages, `${server.origin}${api.loginPath()}`);
      beginA2a(context, a2a, server).catch(logError(context, 'a2a'));
      await stopped;
      // Those that wait or listen are told to end first: the port is free when nobody is left.
      edges.close();
      api.close();
      await Promise.all([mcp.close(), a2a.close(), server.stop(), hooks, others, examples.close()]);
    } finally {
      logins.leave();
      edges.close();
      await Promise.all([mcp.close(), a2a.close(), examples.close()]);
    }
    return exitCodes.completed;
  });
}

function requireToken({ tokens }: Callers, { host }: ServeOptions): void {
  if (tokens.length > 0 || isLoopback(host)) return;
  throw usageError(
    `Everybody who can reach ${host} could make agents work here`,
    'set a token: --token auto makes one, TROUPE_TOKEN=… keeps it out of the list of processes',
  );
}

/** From the option, the environment, or both variables together. */
function namedTokens({ terminal }: CommandContext, options: ServeOptions, owner: string): readonly GivenToken[] {
  const { env } = terminal;
  // Somebody who sets it wants a token: an empty one, as from a variable that is not there, must not open the door to all.
  for (const [name, value] of [['--token', options.token], ...['TROUPE_TOKEN', 'TROUPE_TOKENS'].map((one) => [one, env[one]])])
    if (value?.trim() === '')
      throw usageError(`${name} is empty`, 'give a token, let one be made with --token auto, or unset it');
  const given = options.token ?? env['TROUPE_TOKEN'];
  const token = given === 'auto' ? Buffer.from(systemRandom.bytes(TOKEN_BYTES)).toString('base64url') : given;
  if (given === 'auto') terminal.progress.line(`token: ${token} (shown once; keep it)`);
  const problem = token === undefined ? undefined : tokenProblem(token);
  if (problem !== undefined) throw usageError(`The token ${problem}`, 'let one be made: --token auto');
  const others = env['TROUPE_TOKENS'] ? parseTokens(env['TROUPE_TOKENS']) : undefined;
  const mine = token === undefined ? [] : [{ name: owner, token }];
  if (others === undefined) return mine;
  if (!others.ok) throw usageError(`TROUPE_TOKENS: ${others.error}`, 'write it as alice=<token>,bob=<token>');
  if (token !== undefined && others.value.some((other) => other.name === owner || other.token === token))
    throw usageError(`TROUPE_TOKENS gives the name or the token of ${owner} a second time`, 'take it out there');
  // A caller of the owner's name would have the owner's rights.
  if (others.value.some((other) => other.name === owner))
    throw usageError(`TROUPE_TOKENS names ${owner}, who is the owner`, 'put the token of the owner into TROUPE_TOKEN');
  return [...mine, ...others.value];
}

/** The address for a program on stdout; how to use it for a person on stderr. */
function announce({ terminal, cwd }: CommandContext, server: Listening, withToken: boolean, api: ServedApi): void {
  const { out, progress } = terminal;
  const url = `${server.origin}/mcp`;
  const header = withToken ? ' --header "Authorization: Bearer $TROUPE_TOKEN"' : '';
  const headers = withToken ? { headers: { Authorization: `Bearer \${TROUPE_TOKEN}` } } : {};
  const json = JSON.stringify({ mcpServers: { troupe: { type: 'http', url, ...headers } } });
  out.line(url);
  progress.line(`serving the agents of ${cwd}; Ctrl-C stops`);
  progress.line(`  Claude Code:  claude mcp add --transport http troupe ${url}${header}`);
  progress.line(`  others, JSON: ${json}`);
  progress.line(`  HTTP API:     ${server.origin}/reference`);
  // Only to somebody who looks: what is written to a log stays there.
  if (progress.isTty) progress.line(`  console:      ${server.origin}${api.loginPath()} (once, within ten minutes)`);
}

async function beginA2a({ terminal: { progress } }: CommandContext, a2a: ServedA2a, server: Listening): Promise<void> {
  const { shown, missing } = await a2a.begin(server);
  if (missing.length > 0)
    progress.prose(`warning: troupe.yaml shows agents to A2A peers that there are none of: ${missing.map(safeLine).join(', ')}`);
  if (shown.length > 0) progress.line(`  A2A peers:    ${server.origin}/.well-known/agent-card.json (${shown.join(', ')})`);
}

function exposed(): readonly string[] {
  const count = exposedVariables().length;
  if (count === 0) return [];
  return [`warning: this system does not let Troupe hide its environment: commands of agents can read ${count} variables of it`];
}

/** A server without its console is still one: what is wrong is told, and it goes on. */
async function openConsole(context: CommandContext, pages: ServedConsole, url: string): Promise<void> {
  try {
    await pages.ready();
    await showConsole(url, context);
  } catch (error) {
    context.terminal.progress.line(`warning: the console cannot be shown: ${safeLine(messageOf(error))}`);
  }
}

/** The first Ctrl-C resolves; the second, while connections are being closed, leaves at once. */
function stopSignal({ terminal }: CommandContext): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    terminal.onStop(() => {
      if (asked) return terminal.exitNow(exitCodes.interrupted);
      asked = true;
      terminal.progress.line('stopping; once more leaves at once');
      return resolve();
    });
  });
}
