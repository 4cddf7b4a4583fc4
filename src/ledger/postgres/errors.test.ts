import { createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLostConnection, postgresError } from './errors.ts';

/** A server that takes connections and never says anything, as one on a machine that has no time for it. */
const silent = createServer();
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => void silent.close());

describe('a server that does not answer in time', () => {
  const config = () => ({ host: '127.0.0.1', port, user: 'nobody', database: 'none', connectionTimeoutMillis: 20 });

  it.each([
    ['a connection', () => new pg.Client(config()).connect()],
    ['a pool', () => new pg.Pool(config()).connect()],
  ])('is a lost connection in the words of %s, which passes, and is tried again', async (_name, connect) => {
    const error = await connect().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isLostConnection(error), String(error)).toBe(true);
    expect(postgresError(error, 'somewhere')).toMatchObject({ code: 'ledger_unreachable' });
  });

  it('is one too where the pool has no connection left for a while', async () => {
    const pool = new pg.Pool({ ...config(), max: 1, connectionTimeoutMillis: 20 });
    const words = await Promise.allSettled([pool.connect(), pool.connect()]);
    for (const outcome of words) expect(outcome.status === 'rejected' && isLostConnection(outcome.reason)).toBe(true);
    await pool.end();
  });
});
