/** Version 1 of the protocol, in whose words everything here is said. */

import { loginWords, OURSELVES, type ProtocolDialect, pairsOf } from './dialect.ts';
import { initialized } from './schemas.ts';

export const version1: ProtocolDialect = {
  version: 1,
  greeting: ({ files, terminal }, questions) => ({
    protocolVersion: 1,
    clientInfo: OURSELVES,
    clientCapabilities: {
      fs: { readTextFile: files === 'read-write', writeTextFile: files !== 'none' },
      terminal,
      ...(questions ? { elicitation: { form: {} } } : {}),
    },
  }),
  introduced(answer, { mcp }) {
    const parsed = initialized.safeParse(answer);
    if (!parsed.success) return undefined;
    const { protocolVersion, agentInfo, agentCapabilities: can = {}, authMethods = [] } = parsed.data;
    const { sessionCapabilities: sessions = {}, mcpCapabilities = {} } = can;
    return {
      ...{ version: agentInfo?.version, protocol: protocolVersion, canLoad: can.loadSession === true },
      ...{ canResume: sessions.resume !== undefined, canClose: sessions.close !== undefined },
      takesImages: can.promptCapabilities?.image === true,
      mcp: mcp ?? ['stdio', ...(mcpCapabilities.http === true ? (['http'] as const) : [])],
      logins: authMethods.map(({ id, ...login }) => loginWords(id, login)),
    };
  },
  server: (server) =>
    server.kind === 'stdio'
      ? { name: server.name, command: server.command, args: server.args, env: pairsOf(server.env) }
      : { type: 'http', name: server.name, url: server.url, headers: pairsOf(server.headers) },
  facts: (answer) => answer,
  option: (session, id, value) => ({ sessionId: session, configId: id, value }),
  prompt: (params, peer) => peer.request('session/prompt', params),
  updates: (params) => [params],
  asked: (_method, params) => ({ params }),
};
