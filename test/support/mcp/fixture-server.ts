/**
 * Our HTTP app and our MCP server with the fixtures on top that the official conformance suite calls by name: what it checks
 * with them is our transport. `node test/support/mcp/fixture-server.ts` prints the address and serves until it is ended.
 */
import {
  createMcpHandler,
  inputRequired,
  type McpServer,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import { createApp } from '../../../src/http/app.ts';
import { listen } from '../../../src/http/listen.ts';
import { allowedNames } from '../../../src/http/names.ts';
import { createTokens } from '../../../src/http/tokens.ts';
import type { McpEndpoint } from '../../../src/protocols/mcp/http.ts';
import { createMcpServer } from '../../../src/protocols/mcp/server.ts';
import { createFixtureNeeds, fixtureAgent } from './fixture-needs.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const needs = createFixtureNeeds();
const stopping = new AbortController().signal;
const onError = (): void => undefined;
const nothing = z.object({});
const text = (value: string) => ({ type: 'text' as const, text: value });
const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' };
const resource = (uri: string, mimeType: string, value: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: value },
});

function addContentTools(server: McpServer): void {
  const simple = text('This is a simple text response for testing.');
  const embedded = resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.');
  const mixed = resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}');
  const tools = {
    test_simple_text: [simple],
    test_image_content: [image],
    test_audio_content: [{ type: 'audio' as const, data: SILENCE, mimeType: 'audio/wav' }],
    test_embedded_resource: [embedded],
    test_multiple_content_types: [text('Multiple content types test:'), image, mixed],
  };
  for (const [name, content] of Object.entries(tools))
    server.registerTool(name, { description: name, inputSchema: nothing }, () => ({ content: [...content] }));
  server.registerTool('test_error_handling', { description: 'Fails.', inputSchema: nothing }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
}

function addTransportTools(server: McpServer): void {
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Tells how far it is.', inputSchema: nothing },
    async (_, context) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        await sleep(systemClock, 20);
      }
      return { content: [text('done')] };
    },
  );
  server.registerTool('test_logging_tool', { description: 'Logs nothing unasked.', inputSchema: nothing }, () => ({
    content: [text('done')],
  }));
  server.registerTool('test_missing_capability', { description: 'Needs a model.', inputSchema: nothing }, () => {
    const messages = [{ role: 'user' as const, content: text('Say something.') }];
    return inputRequired({ inputRequests: { sample: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
  });
  server.registerTool('test_streaming_elicitation', { description: 'Asks a person.', inputSchema: nothing }, () => {
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
    return inputRequired({ inputRequests: { ask: inputRequired.elicit({ message: 'Who are you?', requestedSchema }) } });
  });
  server.registerTool('test_trigger_prompt_change', { description: 'Adds an agent.', inputSchema: nothing }, () => {
    needs.change([fixtureAgent('helper'), fixtureAgent('newcomer')]);
    return { content: [text('done')] };
  });
}

/** In place of ours, for the names that the suite uses. */
function addContent({ server }: McpServer): void {
  const read = (uri: string): ReadResourceResult | undefined => {
    if (uri === 'test://static-text')
      return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] };
    if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PIXEL }] };
    const id = /^test:\/\/template\/(\w+)\/data$/.exec(uri)?.[1];
    const value = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return id === undefined ? undefined : { contents: [{ uri, mimeType: 'application/json', text: value }] };
  };
  server.setRequestHandler('resources/list', () => ({ resources: [{ uri: 'test://static-text', name: 'static-text' }] }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = read(uri);
    if (found === undefined) throw new ResourceNotFoundError(uri);
    return found;
  });
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) => {
    const user = <Content>(content: Content) => ({ role: 'user' as const, content });
    if (name === 'test_simple_prompt') return { messages: [user(text('This is a simple prompt for testing.'))] };
    if (name === 'test_prompt_with_image') return { messages: [user(image), user(text('Please analyze the image above.'))] };
    if (name === 'test_prompt_with_arguments')
      return { messages: [user(text(`Prompt with arguments: arg1='${given['arg1']}', arg2='${given['arg2']}'`))] };
    const embedded = resource(given['resourceUri'] ?? '', 'text/plain', 'Embedded resource content for testing.');
    return { messages: [user(embedded), user(text('Please process the embedded resource above.'))] };
  });
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }));
}

const handler = createMcpHandler(
  () => {
    const caller = { name: 'user', sees: 'everything' } as const;
    const server = createMcpServer({ ...needs, stopping }, { caller, abortMeansCancel: true });
    addContentTools(server);
    addTransportTools(server);
    addContent(server);
    return server;
  },
  { onerror: onError },
);
needs.agents.onChange(() => handler.notify.promptsChanged());

const mcp: McpEndpoint = { fetch: (request) => handler.fetch(request), close: () => handler.close() };
const app = createApp({
  mcp,
  names: allowedNames('127.0.0.1'),
  tokens: createTokens([]),
  owner: 'user',
  callerOf: (name) => ({ name, sees: 'everything' }),
  version: '0.0.0',
  onError,
});
const server = await listen({ fetch: (request) => app.fetch(request), host: '127.0.0.1', port: 0, clock: systemClock });
process.stdout.write(`${server.origin}/mcp\n`);
