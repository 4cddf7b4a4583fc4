/**
 * MCP servers that a client brings to a session. A server is a command that runs as you: each is started only after a person has
 * allowed exactly this declaration, as with servers of agents' own files.
 */
import type { McpServer } from '@agentclientprotocol/sdk';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { acpError } from '../acp-wire/errors.ts';
import type { AcpClient } from './client.ts';
import type { AcpProject, BroughtServers } from './needs.ts';

const NAME = /^[\w.-]{1,64}$/;

export function serversIn(servers: readonly McpServer[]): Result<BroughtServers, string> {
  if (servers.length > limits.acpServers) return fail(`There are more than ${limits.acpServers} MCP servers (acpServers)`);
  const found: BroughtServers = {};
  for (const server of servers) {
    const { name } = server;
    if (!NAME.test(name)) return fail(`"${name.slice(0, 64)}" cannot be the name of an MCP server: letters, digits, . _ and -`);
    if (Object.hasOwn(found, name)) return fail(`There are two MCP servers of the name "${name}"`);
    if ('type' in server && server.type === 'sse')
      return fail(`The MCP server "${name}" speaks SSE, which is not understood: use stdio or http`);
    if ('url' in server) found[name] = { url: server.url, headers: pairs(server.headers) };
    else found[name] = { command: server.command, args: [...server.args], env: pairs(server.env) };
  }
  return ok(found);
}

const pairs = (all: readonly { readonly name: string; readonly value: string }[]): Record<string, string> =>
  Object.fromEntries(all.map(({ name, value }) => [name, value]));

interface Asking {
  readonly project: Pick<AcpProject, 'unknownServers'>;
  readonly client: Pick<AcpClient, 'allowsServer'>;
  readonly id: SessionId;
  readonly leaving: AbortSignal;
}

/** Before anything is paid for: the servers that nobody has allowed yet. One that is refused ends the prompt. */
export async function askClientAboutServers(
  { project, client, id, leaving }: Asking,
  agent: string,
  isOver: () => boolean,
): Promise<void> {
  for (const { server, shown, allow } of await project.unknownServers(id)) {
    if (isOver()) return;
    if (await client.allowsServer(id, { server, shown }, leaving)) await allow();
    else
      throw acpError({
        code: 'server_refused',
        message: `The MCP server "${server}" was not allowed, so ${agent} did not start.`,
        fix: 'Allow it, or take it out of the session.',
      });
  }
}
