/** A client of `troupe acp` as an editor is one: the SDK's own, on the stdin and stdout of a real process, or on a port. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import {
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { MAIN } from '../../e2e/support-project.ts';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface AcpHandlers {
  readonly permission?: (asked: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse>;
  readonly question?: (asked: CreateElicitationRequest) => Promise<CreateElicitationResponse>;
  readonly capabilities?: ClientCapabilities;
}

export interface ConnectedClient {
  readonly connection: ClientConnection;
  readonly updates: { readonly session: string; readonly update: SessionUpdate }[];
  readonly asked: RequestPermissionRequest[];
  /** Resolves when an update fits. */
  until(fits: (update: SessionUpdate) => boolean): Promise<SessionUpdate>;
  begin(cwd: string, more?: object): Promise<string>;
  prompt(session: string, text: string): Promise<PromptResponse>;
  /** What the agent has said, all pieces together. */
  said(): string;
}

export interface TestClient extends ConnectedClient, AsyncDisposable {
  readonly child: Child;
  /** Everything that came on stdout, line by line. */
  readonly lines: string[];
  readonly stderr: () => string;
  readonly ended: Promise<number | null>;
}

export const choose =
  (kind: string) =>
  async ({ options }: RequestPermissionRequest): Promise<RequestPermissionResponse> => {
    const option = options.find((one) => one.kind === kind);
    return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
  };

interface Spawning {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

export function spawnAcp({ folder, env }: Spawning, args: readonly string[]): Child {
  return spawn(process.execPath, [MAIN, 'acp', ...args], { cwd: folder, env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
}

export async function startAcp(
  spawning: Spawning,
  args: readonly string[] = [],
  handlers: AcpHandlers = {},
): Promise<TestClient> {
  const child = spawnAcp(spawning, args);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  const lines = linesOf(child.stdout);
  const connected = await connectAcp({ input: child.stdout, output: child.stdin }, handlers);
  return {
    ...connected,
    ...{ child, lines, stderr: () => stderr, ended },
    async [Symbol.asyncDispose]() {
      connected.connection.close();
      child.stdin.destroy();
      if (child.exitCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}

interface Streams {
  readonly input: Readable | Socket;
  readonly output: Writable | Socket;
}

export async function connectAcp({ input, output }: Streams, handlers: AcpHandlers = {}): Promise<ConnectedClient> {
  const updates: { readonly session: string; readonly update: SessionUpdate }[] = [];
  const asked: RequestPermissionRequest[] = [];
  const waiting = new Set<(update: SessionUpdate) => void>();
  const app = client({ name: 'tester' })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push({ session: params.sessionId, update: params.update });
      for (const look of waiting) look(params.update);
    })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
      asked.push(params);
      return (handlers.permission ?? choose('allow_once'))(params, signal);
    })
    .onRequest(methods.client.elicitation.create, ({ params }) =>
      handlers.question === undefined ? { action: 'cancel' } : handlers.question(params),
    );
  const stream = ndJsonStream(
    Writable.toWeb(output) as WritableStream<Uint8Array>,
    Readable.toWeb(input) as unknown as ReadableStream<Uint8Array>,
  );
  const connection = app.connect(stream);
  const { agent } = connection;
  await agent.request(methods.agent.initialize, {
    ...{ protocolVersion: PROTOCOL_VERSION, clientInfo: { name: 'tester', version: '1' } },
    clientCapabilities: handlers.capabilities ?? {},
  });
  return {
    ...{ connection, updates, asked },
    until: (fits) =>
      new Promise((resolve, reject) => {
        const look = (update: SessionUpdate): void => {
          if (!fits(update)) return;
          waiting.delete(look);
          resolve(update);
        };
        waiting.add(look);
        for (const { update } of updates) look(update);
        void connection.closed.then(() => reject(new Error('the connection is closed')));
      }),
    async begin(cwd, more = {}) {
      return (await agent.request(methods.agent.session.new, { cwd, mcpServers: [], ...more })).sessionId;
    },
    prompt: (sessionId, text) => agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] }),
    said: () => updates.map(({ update }) => textOf(update)).join(''),
  };
}

const textOf = (update: SessionUpdate): string =>
  update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '';

/** What the process prints, as it comes. */
export function linesOf(stream: Readable): string[] {
  const lines: string[] = [];
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString('utf8')).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  return lines;
}
