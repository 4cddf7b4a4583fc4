import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createTransport } from './transport.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: Parameters<typeof createServer>[1]): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer(listener ?? (() => undefined));
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/x?y=1`, connections: () => connections };
}

/** Both ends are in this process: what can still move moves while its events are worked on, however slow the machine is. */
async function untilStill(count: () => number): Promise<void> {
  let before = count();
  for (let turns = 0; turns < 200; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (count() === before) continue;
    before = count();
    turns = 0;
  }
}

describe('createTransport', () => {
  it('sends what it is given and returns what comes', async () => {
    const { url } = await serve((request, response) => {
      response.setHeader('X-Twice', ['a', 'b']);
      request.on('data', (body) => response.end(`${request.method} ${request.url} ${request.headers['x-one']} ${body}`));
    });
    const response = await createTransport({ env: {} })(url, { method: 'POST', headers: { 'x-one': '1' }, body: 'hé' });
    expect([response.ok, response.status, response.statusText]).toEqual([true, 200, 'OK']);
    expect(response.headers.get('x-twice')).toBe('a, b');
    expect(Object.fromEntries([...response.headers])['x-twice']).toBe('a, b');
    expect(await response.text()).toBe('POST /v1/x?y=1 1 hé');
  });

  it('reuses connections, and never has two requests under way on one', async () => {
    let active = 0;
    let most = 0;
    let together = 1;
    const waiting: (() => void)[] = [];
    const { url, connections } = await serve((_request, response) => {
      active += 1;
      most = Math.max(most, active);
      waiting.push(() => {
        active -= 1;
        response.end('{}');
      });
      if (active >= together) for (const answer of waiting.splice(0)) setImmediate(answer);
    });
    const transport = createTransport({ env: {} });
    for (let round = 0; round < 20; round += 1) await transport(url, { body: '{}' });
    // A request that follows at once finds the first connection not quite free, so there may be a second one.
    expect(connections()).toBeLessThanOrEqual(2);
    // None is answered before the last has come.
    together = 10;
    await Promise.all(Array.from({ length: 10 }, () => transport(url, { body: '{}' })));
    expect(most).toBe(10);
    expect(connections()).toBeLessThanOrEqual(11);
  });

  it('hands a stream on as it comes, and holds the sender back while nobody reads', async () => {
    let written = 0;
    const block = Buffer.alloc(64 * 1024, 'x');
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = (): void => {
        while (written < 400 && !response.destroyed) {
          written += 1;
          if (!response.write(block)) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    });
    const response = await createTransport({ env: {} })(url, { body: '{}' });
    const reader = response.body.getReader();
    expect((await reader.read()).done).toBe(false);
    await untilStill(() => written);
    expect(written).toBeLessThan(300);
    let bytes = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) bytes += next.value?.length ?? 0;
    expect(bytes).toBeGreaterThan(390 * block.length);
  });

  it('lets go of the connection when the reader gives up', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((_request, response) => {
      response.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const response = await createTransport({ env: {} })(url, { body: '{}' });
    await response.body.cancel();
    await closed.promise;
  });

  it('goes through a proxy when the environment names one', async () => {
    const { url } = await serve((request, response) => response.end(`proxied ${request.url}`));
    const env = { HTTP_PROXY: new URL(url).origin };
    const response = await createTransport({ env })('http://models.example/v1', { body: '{}' });
    expect(await response.text()).toContain('proxied');
  });
});
