import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { registerPatiently, registerWorkers } from './register.ts';

/** Waits for nothing, so that a test need not either. */
const hasty: Clock = { ...systemClock, after: (_delayMs, callback) => systemClock.after(0, callback, 'hold') };

/** An admin port that gives these answers one after the other, the last one again and again. */
async function adminPort(...answers: readonly (readonly [status: number, text: string])[]) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const [status, text] = answers[Math.min(bodies.length, answers.length - 1)] ?? [200, '{}'];
      bodies.push(body);
      response.writeHead(status).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

const WORKERS = 'http://127.0.0.1:9080';
const UNREACHABLE = [500, '{"restate_code":"META0003","message":"unable to reach the remote endpoint"}'] as const;

function patient(admin: string, signal = new AbortController().signal) {
  const waits: string[] = [];
  const onWait = (problem: string): void => void waits.push(problem);
  return { waits, done: registerPatiently(admin, WORKERS, { clock: hasty, signal, onWait }) };
}

describe('registering workers', () => {
  it('names where they answer, over HTTP/1.1, in place of what was there', async () => {
    await using admin = await adminPort([201, '{}']);
    await registerWorkers(admin.url, WORKERS);
    expect(admin.bodies).toEqual([JSON.stringify({ uri: WORKERS, use_http_11: true, force: true })]);
  });

  it('waits for a way to the workers, and says so once', async () => {
    await using admin = await adminPort(UNREACHABLE, UNREACHABLE, UNREACHABLE, [200, '{}']);
    const { waits, done } = patient(admin.url);
    expect(await done).toBe(true);
    expect(admin.bodies).toHaveLength(4);
    expect(waits).toEqual([expect.stringContaining('unable to reach')]);
  });

  it('does not ask again for what is refused', async () => {
    await using admin = await adminPort([400, 'bad uri']);
    await expect(patient(admin.url).done).rejects.toMatchObject({
      code: 'restate_register',
      fix: expect.stringContaining('--admin'),
    });
    expect(admin.bodies).toHaveLength(1);
  });

  it('gives up after a while, and names the limit', async () => {
    const { done, waits } = patient('http://127.0.0.1:1');
    await expect(done).rejects.toThrow(/limit registerAttempts/);
    expect(waits.length).toBeLessThan(limits.registerAttempts);
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await patient('http://127.0.0.1:1', stop.signal).done).toBe(false);
  });
});
