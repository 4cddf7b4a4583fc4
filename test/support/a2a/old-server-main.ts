/**
 * An agent of the older line: a server of 0.3 on all three bindings, by the last SDK of that line, as a process of its own.
 * `node test/support/a2a/old-server-main.ts [port]` prints the address of its card. What it does is what the message says:
 *
 * - `stream`: its answer comes in three pieces. `ask`: it needs a word first, and answers with that. `fail`: it fails.
 * - `refuse`: the task is rejected. `wait`: it works until it is cancelled. `talk`: a message and no task.
 * - Anything else: it answers.
 *
 * `GET /begun` has the text of every message that it was given to work on, in order: who is told twice works twice.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import type { AgentCard, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent } from 'a2a-sdk-0.3';
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
} from 'a2a-sdk-0.3/server';
import { restHandler } from 'a2a-sdk-0.3/server/express';
import { A2AService, grpcService, UserBuilder } from 'a2a-sdk-0.3/server/grpc';
import express from 'express';

const begun: string[] = [];
const waiting = new Map<string, () => void>();

const words = (text: string): Part[] => [{ kind: 'text', text }];
const textOf = ({ parts }: Message): string => parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');

const agentMessage = ({ taskId, contextId }: RequestContext, text: string): Message => ({
  ...{ kind: 'message', role: 'agent', messageId: randomUUID(), parts: words(text), taskId, contextId },
});

function status(context: RequestContext, state: TaskState, final: boolean, text?: string): TaskStatusUpdateEvent {
  const { taskId, contextId } = context;
  const message = text === undefined ? {} : { message: agentMessage(context, text) };
  return { kind: 'status-update', taskId, contextId, final, status: { state, timestamp: new Date().toISOString(), ...message } };
}

const piece = ({ taskId, contextId }: RequestContext, text: string, index: number, last: boolean): TaskArtifactUpdateEvent => ({
  ...{ kind: 'artifact-update', taskId, contextId, append: index > 0, lastChunk: last },
  artifact: { artifactId: 'answer', name: 'answer', parts: words(text) },
});

async function answer(context: RequestContext, bus: ExecutionEventBus, pieces: readonly string[]): Promise<void> {
  for (const [index, text] of pieces.entries()) {
    bus.publish(piece(context, text, index, index === pieces.length - 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
  bus.publish(status(context, 'completed', true));
}

const executor: AgentExecutor = {
  async execute(context, bus) {
    const { userMessage, taskId, contextId, task } = context;
    const text = textOf(userMessage);
    begun.push(text);
    if (text.includes('talk')) {
      bus.publish(agentMessage(context, 'We only talk.'));
      return bus.finished();
    }
    const first: Task = {
      ...{ kind: 'task', id: taskId, contextId, history: [userMessage] },
      status: { state: 'submitted', timestamp: new Date().toISOString() },
    };
    if (task === undefined) bus.publish(first);
    bus.publish(status(context, 'working', false, 'I am at it.'));
    if (task !== undefined) await answer(context, bus, [`You said: ${text}`]);
    else if (text.includes('ask')) bus.publish(status(context, 'input-required', true, 'Which one?'));
    else if (text.includes('fail')) bus.publish(status(context, 'failed', true, 'It broke.'));
    else if (text.includes('refuse')) bus.publish(status(context, 'rejected', true, 'Not this.'));
    else if (text.includes('wait')) {
      await new Promise<void>((resolve) => waiting.set(taskId, resolve));
      bus.publish(status(context, 'canceled', true));
    } else await answer(context, bus, text.includes('stream') ? ['One, ', 'two, ', 'three.'] : [`Done: ${text}`]);
    bus.finished();
  },
  async cancelTask(taskId, bus) {
    const resolve = waiting.get(taskId);
    waiting.delete(taskId);
    if (resolve !== undefined) return resolve();
    const ended = { state: 'canceled', timestamp: new Date().toISOString() } as const;
    bus.publish({ kind: 'status-update', taskId, contextId: '', final: true, status: ended });
    bus.finished();
  },
};

const cardAt = (origin: string, grpcPort: number): AgentCard => ({
  ...{
    name: 'old-timer',
    description: 'Does what it is told, in the older version',
    version: '0.3.14',
    protocolVersion: '0.3.0',
  },
  ...{ url: `${origin}/a2a`, preferredTransport: 'JSONRPC', capabilities: { streaming: true, pushNotifications: false } },
  additionalInterfaces: [
    { url: `${origin}/a2a`, transport: 'JSONRPC' },
    { url: `${origin}/rest`, transport: 'HTTP+JSON' },
    { url: `127.0.0.1:${grpcPort}`, transport: 'GRPC' },
  ],
  ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
  skills: [{ id: 'work', name: 'Work', description: 'Works', tags: ['work'], examples: ['stream it'] }],
});

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function byRpc(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const given = await transport.handle(await bodyOf(incoming));
  if (!(Symbol.asyncIterator in given)) return json(response, given);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for await (const event of given) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

const app = express();
const server = await new Promise<Server>((resolve) => {
  const listening = app.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => resolve(listening));
});
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const grpc = new GrpcServer();
const grpcPort = await new Promise<number>((resolve, reject) =>
  grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => (error ? reject(error) : resolve(port))),
);
const card = cardAt(origin, grpcPort);
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const transport = new JsonRpcTransportHandler(requestHandler);
const userBuilder = UserBuilder.noAuthentication;
grpc.addService(A2AService, grpcService({ requestHandler, userBuilder }));
const shows = (value: unknown) => (_: IncomingMessage, response: ServerResponse) => json(response, value);
app.use('/.well-known/agent-card.json', shows(card));
app.use('/begun', shows(begun));
app.use('/a2a', (incoming: IncomingMessage, response: ServerResponse) => {
  byRpc(incoming, response).catch(() => response.destroy());
});
app.use('/rest', restHandler({ requestHandler, userBuilder }));
process.stdout.write(`${origin}/.well-known/agent-card.json\n`);
