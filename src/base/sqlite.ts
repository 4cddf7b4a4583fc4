/**
 * SQLite as Node brings it. It is asked for when this file runs and not when it is linked: so a Node that has none can still say
 * which one is needed (`node-version.ts`).
 */
import type { DatabaseSync as Database } from 'node:sqlite';

export const { DatabaseSync, constants: sqliteConstants } = process.getBuiltinModule('node:sqlite');
export type DatabaseSync = Database;
