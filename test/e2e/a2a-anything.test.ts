/** `troupe serve` against peers who send anything: every request is answered in the protocol's words, and the server stays. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJsonObject } from '../../src/base/json.ts';
import { type AnyGrpc, anyGrpc, anyRest, anyRpc } from '../support/a2a/anything.ts';
import { ALICE } from '../support/a2a/served.ts';
import { LONG_TEST_MS } from '../support/patience.ts';
import { createTestProject, MAIN, type TestProject } from './support-project.ts';

const AGENT = '---\nname: helper\ndescription: Helps\nisolation: inline\na2a: true\n---\nYou help.\n';
const VERSION = { 'a2a-version': '1.0' };

async function serve(project: TestProject) {
  const child = spawn(process.execPath, [MAIN, '-C', project.folder, 'serve', '--port', '0', '--grpc-port', '0'], {
    env: { ...project.env, TROUPE_TOKENS: `alice=${ALICE}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const exit = once(child, 'exit');
  const [first] = await once(createInterface({ input: child.stdout }), 'line');
  const { origin } = new URL(String(first));
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
    await fetch(`${origin}${path}`, { ...init, headers: { authorization: `Bearer ${ALICE}`, ...init.headers } });
  return {
    ...{ ask, told: () => told, isUp: () => child.exitCode === null && child.signalCode === null },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

type Server = Awaited<ReturnType<typeof serve>>;

async function withServer(play: (server: Server) => Promise<void>): Promise<void> {
  await using project = await createTestProject('', AGENT);
  await project.serve({ text: 'Done.' });
  await using server = await serve(project);
  const before = server.told();
  await play(server);
  expect((await server.ask('/healthz')).status).toBe(200);
  expect(server.isUp()).toBe(true);
  expect(server.told().slice(before.length)).not.toMatch(/error|went wrong/i);
}

it(
  'over JSON-RPC of both versions',
  async () => {
    await withServer(async (server) => {
      const codes = new Set<number>();
      await fc.assert(
        fc.asyncProperty(anyRpc, async ({ version, body }) => {
          const headers = { 'content-type': 'application/json', 'a2a-version': version };
          const response = await server.ask('/a2a', { method: 'POST', headers, body: JSON.stringify(body) });
          expect(response.status).toBe(200);
          const text = await response.text();
          const streamed = response.headers.get('content-type')?.includes('event-stream') === true;
          // Peers of version 0.3 read what is wrong in the stream that they asked for; there it stands alone.
          const failed = /^event: error\ndata: (.*)\n\n$/.exec(text)?.[1];
          if (streamed && failed === undefined) {
            expect(text).not.toContain('"error"');
            return;
          }
          if (streamed) expect(version).toBe('0.3');
          const answer: unknown = JSON.parse(failed ?? text);
          const error = isJsonObject(answer) && isJsonObject(answer['error']) ? answer['error'] : undefined;
          const code = typeof error?.['code'] === 'number' ? error['code'] : 0;
          codes.add(code);
          expect(code, text).not.toBe(-32603);
        }),
        { numRuns: 800 },
      );
      for (const code of [0, -32600, -32601, -32602, -32001]) expect([...codes]).toContain(code);
    });
  },
  LONG_TEST_MS,
);

it(
  'over HTTP+JSON',
  async () => {
    await withServer(async (server) => {
      const statuses = new Set<number>();
      await fc.assert(
        fc.asyncProperty(anyRest, async ({ method, path, body }) => {
          const headers = { 'content-type': 'application/json', ...VERSION };
          const sent = body === undefined ? {} : { body: JSON.stringify(body) };
          const response = await server.ask(`/a2a/rest${path}`, { method, headers, ...sent });
          const text = await response.text();
          statuses.add(response.status);
          expect(response.status, text).toBeLessThan(500);
        }),
        { numRuns: 700 },
      );
      for (const code of [200, 400, 404]) expect([...statuses]).toContain(code);
    });
  },
  LONG_TEST_MS,
);

it(
  'over gRPC of both versions',
  async () => {
    await withServer(async (server) => {
      const card: unknown = await (await server.ask('/.well-known/agent-card.json', { headers: VERSION })).json();
      const address = /"url":"([^"]+)","protocolBinding":"GRPC"/.exec(JSON.stringify(card))?.[1] ?? '';
      const client = new Client(address, credentials.createInsecure());
      const codes = new Set<status>();
      await fc.assert(
        fc.asyncProperty(anyGrpc, async (call) => {
          const code = await called(client, call);
          codes.add(code);
          expect([status.INTERNAL, status.UNKNOWN, status.DATA_LOSS, status.UNAVAILABLE].map(nameOf)).not.toContain(nameOf(code));
        }),
        { numRuns: 500 },
      );
      client.close();
      for (const code of [status.OK, status.INVALID_ARGUMENT, status.NOT_FOUND]) expect([...codes]).toContain(code);
    });
  },
  LONG_TEST_MS,
);

const nameOf = (code: status): string => status[code];

async function called(client: Client, { path, isStream, bytes }: AnyGrpc): Promise<status> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${ALICE}`);
  if (path.startsWith('/lf.')) metadata.set('a2a-version', '1.0');
  const asIs = (value: Buffer): Buffer => value;
  const { promise, resolve } = Promise.withResolvers<status>();
  if (!isStream) {
    client.makeUnaryRequest(path, asIs, asIs, bytes, metadata, (error: ServiceError | null) => resolve(error?.code ?? status.OK));
    return await promise;
  }
  const stream = client.makeServerStreamRequest(path, asIs, asIs, bytes, metadata);
  stream.on('data', () => undefined);
  stream.on('error', () => undefined);
  stream.on('status', ({ code }) => resolve(code));
  return await promise;
}
