/** `troupe console`: a link that logs a browser in to the console of a server that runs, and the end of all logins. */
import { systemRandom } from '../../base/random.ts';
import { loginPath } from '../../http/api/login-routes.ts';
import { endAllLogins, readSecret } from '../../http/kept-logins.ts';
import { ownersCode } from '../../http/logins.ts';
import { findRoot } from '../../project/config.ts';
import { type CommandContext, callOf, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { loginsFolder, runningServers } from './running-servers.ts';

export interface ConsoleLinkOptions {
  readonly page?: string | undefined;
  readonly endLogins?: boolean | undefined;
}

export async function consoleLinkCommand(context: CommandContext, options: ConsoleLinkOptions): Promise<ExitCode> {
  const { terminal, clock, cwd } = context;
  const { env, out, progress } = terminal;
  const root = await findRoot(cwd);
  const folder = loginsFolder(root, env);
  if (options.endLogins === true) {
    endAllLogins(folder);
    progress.line('every login of the console has ended; a new link logs in again');
    return exitCodes.completed;
  }
  const page = options.page ?? '';
  if (page !== '' && !/^\/(?!\/)[\x21-\x7e]*$/.test(page))
    throw usageError(`"${safeLine(page)}" is no page of the console`, 'give what stands behind its address: --page /inbox');
  const servers = await runningServers(root, env);
  if (servers.length === 0)
    throw usageError('No console of this project is served on this machine', `start it: ${callOf(context)} serve --open`);
  const secret = readSecret(folder, systemRandom);
  for (const { server, origin, url } of servers)
    out.line(`${url ?? origin}${loginPath(ownersCode(secret, server, clock, systemRandom))}${page}`);
  progress.line('each link logs one browser in, as the owner, once, within ten minutes');
  return exitCodes.completed;
}
