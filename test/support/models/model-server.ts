/**
 * A real HTTP server that speaks the protocols of the model providers: OpenAI chat-completions and responses, Anthropic
 * messages, Gemini; whole and streamed. A function says what it answers, faults included, and it keeps what it was asked.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../src/base/json.ts';
import { anthropicJson, anthropicStream, geminiJson, geminiStream } from './anthropic.ts';
import { chatJson, chatStream, responsesJson, responsesStream } from './openai.ts';
import { type Answer, type Fault, type Protocol, type SeenRequest, type ServerScript, sse } from './script.ts';

export interface ModelServer {
  readonly port: number;
  /** Without a path: `${origin}/v1` is the base of the OpenAI and Anthropic protocols, `${origin}/v1beta` of Gemini's. */
  readonly origin: string;
  readonly requests: readonly SeenRequest[];
  /** Connections that were opened so far: shows whether they are reused. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly port?: number;
  /** Answers to GET, by path: lists of models. */
  readonly lists?: Readonly<Record<string, Json>>;
}

export async function startModelServer(script: ServerScript, options: ServerOptions = {}): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  let connections = 0;
  const server = createServer((incoming, response) => {
    response.on('error', () => undefined);
    handle(incoming, response, script, requests, options).catch(() => response.destroy());
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => {
    server.listen({ port: options.port ?? 0, host: '127.0.0.1', backlog: 4_096 }, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, origin: `http://127.0.0.1:${port}`, requests, connections: () => connections, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function handle(
  incoming: IncomingMessage,
  response: ServerResponse,
  script: ServerScript,
  requests: SeenRequest[],
  options: ServerOptions,
): Promise<void> {
  const path = (incoming.url ?? '').split('?')[0] ?? '';
  if (incoming.method === 'GET') {
    const list = options.lists?.[path];
    return list === undefined ? sendError(response, 404, 'no such list') : sendJson(response, list);
  }
  const text = await readBody(incoming);
  const protocol = protocolOf(path);
  const body = parseJson(text);
  if (protocol === undefined || !body.ok || !isJsonObject(body.value)) return sendError(response, 404, `not understood: ${path}`);
  const request = seen(protocol, incoming, body.value, text, requests.length);
  requests.push(request);
  const reply = await script(request);
  if ('fault' in reply) return await sendFault(response, reply, request);
  if (reply.delayMs !== undefined) await wait(reply.delayMs);
  if (!request.stream) return sendJson(response, whole(reply, request));
  await sendStream(response, streamed(reply, request), reply);
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function protocolOf(path: string): Protocol | undefined {
  if (path.endsWith('/chat/completions')) return 'openai-chat';
  if (path.endsWith('/responses')) return 'openai-responses';
  if (path.endsWith('/messages')) return 'anthropic';
  return /:(generateContent|streamGenerateContent)$/.test(path) ? 'gemini' : undefined;
}

const RESULT_MARKS: Readonly<Record<Protocol, string>> = {
  'openai-chat': '"role":"tool"',
  'openai-responses': '"type":"function_call_output"',
  anthropic: '"type":"tool_result"',
  gemini: '"functionResponse":',
};

function seen(protocol: Protocol, incoming: IncomingMessage, body: JsonObject, text: string, index: number): SeenRequest {
  const url = incoming.url ?? '';
  return {
    protocol,
    url,
    headers: incoming.headers,
    body,
    model: typeof body['model'] === 'string' ? body['model'] : (/\/models\/([^:]+):/.exec(url)?.[1] ?? ''),
    stream: body['stream'] === true || url.includes(':streamGenerateContent'),
    toolResults: text.split(RESULT_MARKS[protocol]).length - 1,
    index,
  };
}

function whole(answer: Answer, request: SeenRequest): Json {
  if (request.protocol === 'openai-chat') return chatJson(answer, request);
  if (request.protocol === 'openai-responses') return responsesJson(answer, request);
  return request.protocol === 'anthropic' ? anthropicJson(answer, request) : geminiJson(answer, request);
}

function streamed(answer: Answer, request: SeenRequest): string {
  if (request.protocol === 'openai-chat') return chatStream(answer, request);
  if (request.protocol === 'openai-responses') return responsesStream(answer, request);
  return request.protocol === 'anthropic' ? anthropicStream(answer, request) : geminiStream(answer, request);
}

function sendJson(response: ServerResponse, value: Json, status = 200, headers: Record<string, string> = {}): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length, ...headers });
  response.end(body);
}

function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, { error: { message, type: 'invalid_request_error' } }, status);
}

const startStream = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
};

async function sendStream(response: ServerResponse, text: string, answer: Answer): Promise<void> {
  startStream(response);
  if (answer.chunkBytes === undefined) {
    response.end(text);
    return;
  }
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length && !response.destroyed; at += answer.chunkBytes) {
    response.write(bytes.subarray(at, at + answer.chunkBytes));
    await (answer.dripMs === undefined ? new Promise(setImmediate) : wait(answer.dripMs));
  }
  response.end();
}

/** What a stream has sent when it breaks off: everything up to and including the text, but no end. */
function beginning(text: string, request: SeenRequest): string {
  const all = streamed({ text }, request);
  const marks: Readonly<Record<Protocol, string>> = {
    'openai-chat': '"finish_reason":"stop"',
    'openai-responses': '"type":"response.output_item.done"',
    anthropic: '"type":"content_block_stop"',
    gemini: '"finishReason"',
  };
  const end = all.indexOf(marks[request.protocol]);
  return all.slice(0, all.lastIndexOf('\n\n', end) + 2);
}

async function sendFault(response: ServerResponse, fault: Fault, request: SeenRequest): Promise<void> {
  switch (fault.fault) {
    case 'status': {
      const body = fault.body ?? JSON.stringify({ type: 'error', error: { type: 'error', message: `status ${fault.status}` } });
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(body);
      return;
    }
    case 'error-in-stream':
      startStream(response);
      response.write(fault.after === undefined ? '' : beginning(fault.after, request));
      response.end(
        request.protocol === 'anthropic' ? sse({ type: 'error', error: fault.error }, 'error') : sse({ error: fault.error }),
      );
      return;
    case 'html':
      response.writeHead(fault.status ?? 200, { 'content-type': 'text/html' });
      response.end('<!doctype html><html><head><title>Sign in to the proxy</title></head><body><h1>Hello</h1></body></html>');
      return;
    case 'garbage':
      response.writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' });
      response.end(request.stream ? 'data: {"choices": [{{{\n\ndata: �\n\n' : '{"choices": [{"message": ');
      return;
    case 'half-stream':
      startStream(response);
      response.write(beginning(fault.text, request));
      await wait(5);
      if (fault.reset === true) response.destroy();
      else response.end();
      return;
    case 'hang':
      if (fault.after === undefined) return;
      startStream(response);
      response.write(beginning(fault.after, request));
      return;
    case 'reset':
      response.destroy();
      return;
    case 'raw':
      response.writeHead(200, { 'content-type': fault.contentType });
      for (let round = 0; round < (fault.repeat ?? 1) && !response.destroyed; round += 1) {
        for (const chunk of fault.chunks) response.write(chunk);
        await new Promise(setImmediate);
      }
      response.end();
  }
}
