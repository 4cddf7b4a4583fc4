/**
 * A real S3-compatible server for tests: s3rver, in a process of its own, on a free port, with its data in a folder that goes
 * away again. In front of it stands a door that does what s3rver leaves out, checking signatures, and that can be told to
 * fail. The continuation tokens of s3rver need a cipher that Node only has with its legacy provider.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type S3Keys, signatureProblem } from './s3-signature.ts';

/** Answers in place of the server. */
export type Fault = (response: ServerResponse, request: IncomingMessage) => void;

export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  readonly env: Readonly<Record<string, string>>;
  /** What came in since this was last asked, as `PUT ab/cdef…`. */
  requests(): readonly string[];
  /** The next requests meet these, one each. */
  fail(...faults: readonly Fault[]): void;
  /** How many of these are left. */
  unmet(): number;
  /** From now on each request, as `requests` shows it, is answered when this is done. */
  before(work: ((request: string) => Promise<void>) | undefined): void;
  /** Puts bytes at a name, and a time, behind the server's back. */
  plant(key: string, bytes: string, at?: Date): void;
  stop(): Promise<void>;
}

const KEYS: S3Keys = { id: 'AKEYOFTESTS', secret: 'a-secret/of+tests', token: 'a-token-of-tests', region: 'eu-test-1' };
const BUCKET = 'troupe-tests';
const BAD_REQUESTS = new Set(['AuthorizationHeaderMalformed', 'InvalidToken', 'XAmzContentSHA256Mismatch']);
const PROGRAM = `
  const S3rver = require(process.argv[1]);
  const options = { address: '127.0.0.1', port: 0, silent: true, directory: process.argv[2] };
  new S3rver({ ...options, configureBuckets: [{ name: '${BUCKET}' }] }).run().then(({ port }) => console.log(port));
  process.stdin.on('end', () => process.exit()).resume();`;

export const answering =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): Fault =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(body);
  };
export const hangingUp: Fault = (response) => response.destroy();

export async function startS3(): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-s3-'));
  const require = createRequire(import.meta.url);
  const child = spawn(process.execPath, ['--openssl-legacy-provider', '-e', PROGRAM, require.resolve('s3rver'), folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const port = Number(String(line));
  const log: string[] = [];
  const faults: Fault[] = [];
  let before: ((request: string) => Promise<void>) | undefined;
  const door = createServer((request, response) => {
    const line = `${request.method} ${(request.url ?? '').replace(/^\/[^/?]+\/?/, '')}`;
    log.push(line);
    const fault = faults.shift();
    if (fault !== undefined) fault(response, request);
    else (before?.(line) ?? Promise.resolve()).then(() => pass(request, response, port)).catch(() => response.destroy());
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    bucket: BUCKET,
    env: { AWS_ACCESS_KEY_ID: KEYS.id, AWS_SECRET_ACCESS_KEY: KEYS.secret, AWS_SESSION_TOKEN: KEYS.token ?? '' },
    requests: () => log.splice(0),
    fail: (...more) => faults.push(...more),
    unmet: () => faults.length,
    before: (work) => {
      before = work;
    },
    plant: (key, bytes, at = new Date()) => {
      const path = join(folder, BUCKET, `${key}._S3rver_object`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
      utimesSync(path, at, at);
    },
    stop: async () => {
      door.close();
      door.closeAllConnections();
      child.stdin.end();
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function pass(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  const body = await buffer(request);
  const problem = signatureProblem(request, body, KEYS);
  if (problem !== undefined) {
    const status = BAD_REQUESTS.has(problem) ? 400 : 403;
    answering(status, `<Error><Code>${problem}</Code><Message>${request.headers.authorization}</Message></Error>`)(
      response,
      request,
    );
    return;
  }
  const { authorization: _, ...headers } = request.headers;
  const inner = open({ host: '127.0.0.1', port, method: request.method, path: request.url, headers });
  inner.on('error', () => response.destroy());
  inner.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  inner.end(body);
}
