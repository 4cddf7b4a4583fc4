/** The MCP server as a function from a request to a response. Who may ask is decided before it, in `src/http`. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { limits } from '../../base/limits.ts';
import type { McpCaller, McpNeeds } from './needs.ts';
import { authOf, createMcpFactory } from './server.ts';

export interface McpEndpoint {
  fetch(request: Request, caller: McpCaller): Promise<Response>;
  close(): Promise<void>;
}

export function createMcpEndpoint(needs: Omit<McpNeeds, 'stopping'>, onError: (error: Error) => void): McpEndpoint {
  const stopping = new AbortController();
  const handler = createMcpHandler(createMcpFactory({ ...needs, stopping: stopping.signal }), {
    maxRequestBodySize: limits.httpBodyBytes,
    maxSubscriptions: limits.httpConnections,
    onerror: onError,
  });
  const endWatch = needs.agents.onChange(() => {
    handler.notify.promptsChanged();
    handler.notify.resourcesChanged();
  });
  return {
    fetch: (request, caller) => handler.fetch(request, { authInfo: authOf(caller) }),
    async close() {
      stopping.abort();
      endWatch();
      await handler.close();
    },
  };
}
