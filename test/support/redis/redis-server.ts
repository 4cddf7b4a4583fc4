/** A real Redis for tests: on a free port, in a folder that goes away again, keeping nothing unless told to. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { freePorts } from '../../../src/cluster/free-ports.ts';
import { redisProgram } from './redis-program.ts';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** As an outsider would: one command, its answer. */
  ask(...words: readonly string[]): Promise<unknown>;
  /** Ends it, without a word to its clients. */
  stop(): Promise<void>;
  /** Where it was before. */
  start(): Promise<void>;
  /** It is there and does nothing. */
  freeze(): void;
  thaw(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RedisServerOptions {
  readonly password?: string;
  readonly port?: number;
  /** More of its own words, such as `--appendonly yes`. */
  readonly words?: readonly string[];
  /** Speaks TLS only, with the certificate of the fixtures. */
  readonly tls?: boolean;
  /** Not yet. */
  readonly later?: boolean;
}

const FIXTURES = join(import.meta.dirname, '../../fixtures/redis');
/** Signed by itself: whoever trusts it is told to. */
export const CERTIFICATE = join(FIXTURES, 'certificate.pem');

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { password, port: wanted, words = [], later, tls } = options;
  const folder = mkdtempSync(join(tmpdir(), 'troupe-redis-'));
  const port = wanted ?? (await freePorts([0]))[0] ?? 0;
  const login = password === undefined ? '' : `:${password}@`;
  const url = `${tls === true ? 'rediss' : 'redis'}://${login}127.0.0.1:${port}/0`;
  const program = redisProgram();
  let child: ChildProcess | undefined;
  const kept = words.includes('--appendonly') ? [] : ['--save', '', '--appendonly', 'no'];
  const locked = password === undefined ? [] : ['--requirepass', password];
  const secure = ['--tls-cert-file', CERTIFICATE, '--tls-key-file', join(FIXTURES, 'key.pem'), '--tls-auth-clients', 'no'];
  const listens = tls === true ? ['--port', '0', '--tls-port', `${port}`, ...secure] : ['--port', `${port}`];
  const place = [...listens, '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'];
  const start = async (): Promise<void> => {
    const started = spawn(program, [...place, ...kept, ...locked, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    let said = '';
    started.stderr?.on('data', (text) => (said += text));
    await new Promise<void>((resolve, reject) => {
      started.stdout?.on('data', (text) => {
        said += text;
        if (/Ready to accept connections/.test(said)) resolve();
      });
      started.once('exit', () => reject(new Error(`Redis did not start: ${said}`)));
      started.once('error', reject);
    });
  };
  const stop = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
  };
  if (later !== true) await start();
  return {
    port,
    url,
    start,
    stop,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async ask(...command) {
      const client = createClient({ url, socket: { reconnectStrategy: false } });
      client.on('error', () => undefined);
      await client.connect();
      try {
        return await client.sendCommand([...command]);
      } finally {
        client.destroy();
      }
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
