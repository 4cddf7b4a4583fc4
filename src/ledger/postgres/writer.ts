/**
 * The connection that writes. It is opened when it is first needed and again after it was lost. What an earlier connection
 * of this writer may still be doing is ended first: the new one must not overtake it.
 */
import type { Client } from 'pg';
import { type Connection, type Database, FLUSHING } from './connection.ts';

export interface WriterConnection {
  get(): Promise<Connection>;
  /** Not to be used again: it failed in the middle of something. */
  drop(): void;
  close(): Promise<void>;
}

export function createWriterConnection(database: Database, writer: string): WriterConnection {
  const name = `troupe writer ${writer}`;
  let open: Client | undefined;
  let isSecond = false;

  const drop = (): void => {
    const lost = open;
    open = undefined;
    // It may be broken already: nothing more is wanted of it.
    lost?.end().catch(() => undefined);
  };

  return {
    get: async () => {
      if (open !== undefined) return open;
      const client = await database.connect(name, true);
      client.once('end', () => {
        if (open === client) open = undefined;
      });
      await client.query(FLUSHING);
      if (isSecond) {
        const others =
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()';
        await client.query(others, [name]);
      }
      isSecond = true;
      open = client;
      return client;
    },
    drop,
    close: async () => {
      const last = open;
      open = undefined;
      await last?.end();
    },
  };
}
