/**
 * The SDK's own server with an executor of a few words, over real HTTP: what most peers are. Version 1.0 and, where the card says
 * so, 0.3; with streams or without.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, type Artifact, type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
  UnauthenticatedUser,
} from '@a2a-js/sdk/server';
import { goodCard } from './card-server.ts';

export interface SdkServer extends AsyncDisposable {
  /** The address of its card. */
  readonly card: string;
  /** The ids of the messages that its executor was given. */
  readonly taken: string[];
  readonly cancelled: string[];
  /** The methods that were asked for. */
  readonly asked: string[];
  readonly authorizations: (string | undefined)[];
  /** Which extensions each request has named. */
  readonly extensions: (string | undefined)[];
  /** Lets tasks that were told to be slow come to their end. */
  release(): void;
  /** Breaks off all connections there are. */
  cut(): void;
}

export interface SdkServerOptions {
  readonly streaming?: boolean;
  readonly version?: '1.0' | '0.3';
}

/** An extension that its card names. */
export const POLITE = 'urn:test:polite';

/** A file of bytes that are no text. */
export const MAP: Part = {
  content: { $case: 'raw', value: Buffer.from([0, 255, 1, 254, 7]) },
  ...{ metadata: undefined, filename: 'map.bin', mediaType: 'application/octet-stream' },
};

/** What every task says that it took. */
const USAGE = { usage: { inputTokens: 30, outputTokens: 4 } };

const textPart = (value: string): Part => ({
  ...{ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' },
});
const wordsOf = (message: Message | undefined): string =>
  (message?.parts ?? []).map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

/** What it asks leave for when it is told `leave`. */
const WANTED = { first: { command: 'touch a' }, second: { command: 'rm -rf b', cwd: '/tmp' } };

const outcomesIn = ({ parts }: Message): readonly string[] =>
  parts.flatMap(({ content }) => (content?.$case === 'data' ? [JSON.stringify(content.value)] : []));

export async function sdkServer({ streaming = true, version = '1.0' }: SdkServerOptions = {}): Promise<SdkServer> {
  const taken: string[] = [];
  const cancelled: string[] = [];
  const asked: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const extensions: (string | undefined)[] = [];
  const released = Promise.withResolvers<void>();
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const supportedInterfaces = [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: version }];
  const card = AgentCard.fromJSON(
    goodCard(`${origin}/rpc`, { capabilities: { streaming, extensions: [{ uri: POLITE }] }, supportedInterfaces }),
  );
  const executor = createExecutor(taken, cancelled, released.promise);
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const transport = version === '1.0' ? new JsonRpcTransportHandler(handler) : new LegacyJsonRpcTransportHandler(handler);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET')
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(AgentCard.toJSON(card)));
    authorizations.push(request.headers.authorization);
    const named = request.headers[version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'];
    extensions.push(named?.toString());
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text) as { readonly method: string };
    asked.push(body.method);
    const context = new ServerCallContext({ requestedVersion: version, user: new UnauthenticatedUser() });
    const came = await transport.handle({ ...body }, context);
    if (!(Symbol.asyncIterator in came))
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(came));
    response.setHeader('content-type', 'text/event-stream').flushHeaders();
    for await (const event of came) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  }
  return {
    ...{ card: `${origin}/card.json`, taken, cancelled, asked, authorizations, extensions },
    release: () => released.resolve(),
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      released.resolve();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function createExecutor(taken: string[], cancelled: string[], released: Promise<void>): AgentExecutor {
  return {
    async execute({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus) {
      taken.push(userMessage.messageId);
      const words = wordsOf(userMessage);
      const say = (state: TaskState, text?: string): void =>
        bus.publish(
          AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, text, taskId, contextId), metadata: undefined }),
        );
      const made = (artifact: Artifact, append: boolean): void =>
        bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: true, metadata: undefined }));
      const make = (text: string, append: boolean): void => made(madeOf(text), append);
      if (words === 'message') {
        bus.publish(AgentEvent.message({ ...messageOf('Just a word.', '', contextId) }));
        return bus.finished();
      }
      const status = statusOf(TaskState.TASK_STATE_SUBMITTED, undefined, taskId, contextId);
      const fresh: Task = { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: USAGE };
      bus.publish(AgentEvent.task(task === undefined ? fresh : { ...task, status }));
      say(TaskState.TASK_STATE_WORKING, 'I look.');
      if (words === 'slow') await released;
      const outcomes = outcomesIn(userMessage);
      if (words === 'leave') {
        // As the server of Gemini CLI does: what it wants comes as data while it works, the status that waits says nothing.
        for (const [callId, args] of Object.entries(WANTED)) {
          const call = { status: 'awaiting_approval', request: { callId, name: 'run_shell_command', args } };
          const waits = statusOf(TaskState.TASK_STATE_WORKING, '', taskId, contextId);
          const parts = [{ ...textPart(''), content: { $case: 'data' as const, value: call } }];
          const message = { ...messageOf(callId, taskId, contextId), parts };
          bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: { ...waits, message }, metadata: undefined }));
        }
        say(TaskState.TASK_STATE_INPUT_REQUIRED);
        return bus.finished();
      }
      if (outcomes.length > 0) {
        make(`${outcomes.join(', ')}; ${words}`, false);
        say(TaskState.TASK_STATE_COMPLETED);
        return bus.finished();
      }
      if (words === 'ask') say(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which city?');
      else if (words === 'auth') say(TaskState.TASK_STATE_AUTH_REQUIRED, 'Log in first.');
      else if (words === 'fail') say(TaskState.TASK_STATE_FAILED, 'No such city.');
      else if (words === 'reject') say(TaskState.TASK_STATE_REJECTED, 'Not for you.');
      else if (words.startsWith('file')) {
        made({ ...madeOf('Here it is.'), parts: [textPart('Here it is.'), MAP] }, false);
        say(TaskState.TASK_STATE_COMPLETED);
      } else {
        make('Sun ', false);
        make(`in ${words}.`, true);
        say(TaskState.TASK_STATE_COMPLETED);
      }
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId);
      const status = statusOf(TaskState.TASK_STATE_CANCELED, undefined, taskId, '');
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
      bus.finished();
    },
  };
}

const messageOf = (text: string, taskId: string, contextId: string): Message => ({
  ...{ messageId: `reply-${text}`, role: Role.ROLE_AGENT, parts: [textPart(text)], taskId, contextId },
  ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
});

const statusOf = (state: TaskState, text: string | undefined, taskId: string, contextId: string) => ({
  state,
  message: text === undefined ? undefined : messageOf(text, taskId, contextId),
  timestamp: '2026-01-01T00:00:00Z',
});

const madeOf = (text: string): Artifact => ({
  ...{ artifactId: 'forecast', name: 'forecast', description: '', parts: [textPart(text)], metadata: undefined, extensions: [] },
});
