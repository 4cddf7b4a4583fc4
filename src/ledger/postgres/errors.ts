/** What Postgres and the network say when they fail, turned into an error with a stable code and something to do about it. */
import { codeOf, messageOf, TroupeError } from '../../base/errors.ts';
import { readOnlyError } from '../write-queue.ts';

/** Nobody answers, or whoever did has hung up. Node's codes and SQLSTATE; a class is its first two characters. */
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
/** Shut down by hand, crashed, starting up, idle for too long in a transaction. */
const SERVER_GONE = new Set(['57P01', '57P02', '57P03', '57P05', '25P03']);
/** The driver has no codes for these. */
const HUNG_UP =
  /connection (terminated|ended)|client has encountered a connection error|timeout expired|read timeout|timeout exceeded when/i;
/** Two writers in each other's way; the next attempt sees what the other one did. */
const CLASH = new Set(['40P01', '40001', '23505']);

export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined && (NETWORK.has(code) || SERVER_GONE.has(code) || code.startsWith('08'))) return true;
  return code === undefined && HUNG_UP.test(messageOf(error));
}

/** The server is there but takes nobody yet. */
export const isStarting = (error: unknown): boolean => codeOf(error) === '57P03';

export const isWorthAnotherTry = (error: unknown): boolean => isLostConnection(error) || CLASH.has(codeOf(error) ?? '');

interface Meaning {
  readonly code: string;
  readonly what: string;
  readonly fix: string;
}

const UNREACHABLE: Meaning = {
  code: 'ledger_unreachable',
  what: 'The Postgres server of the ledger cannot be reached',
  fix: 'Start the server, or correct host and port in `ledger` or TROUPE_LEDGER.',
};
const FAILED: Meaning = {
  code: 'ledger_io',
  what: 'The ledger failed',
  fix: 'Look into the log of the Postgres server, and run `troupe doctor`.',
};
const LOGIN: Meaning = {
  code: 'ledger_login',
  what: 'The Postgres server refused the login',
  fix: 'Check the user in the address, and the password in PGPASSWORD or in the address.',
};
const PERMISSION: Meaning = {
  code: 'ledger_permission',
  what: 'This user may not use the ledger',
  fix: 'GRANT CREATE ON DATABASE once, or let a user with that right open the ledger first and grant use of its schema.',
};
const TOO_BUSY: Meaning = {
  code: 'ledger_busy',
  what: 'The Postgres server has no connection left',
  fix: 'Raise max_connections, or run fewer processes: each takes up to six.',
};
const LOCKED: Meaning = {
  code: 'ledger_busy',
  what: 'Another process kept the ledger locked',
  fix: 'Try again; a collection (`troupe ledger gc`) may be under way.',
};

const BY_STATE: Readonly<Record<string, Meaning>> = {
  ENOTFOUND: UNREACHABLE,
  '28P01': LOGIN,
  '28000': LOGIN,
  '3D000': {
    code: 'ledger_missing',
    what: 'There is no such database',
    fix: 'Create it (`createdb`), or correct the name in the address.',
  },
  '42501': PERMISSION,
  '53300': TOO_BUSY,
  '55P03': LOCKED,
  '53100': {
    code: 'ledger_full',
    what: 'The disk of the Postgres server is full, nothing was written to the ledger',
    fix: 'Free some space there and resume the run.',
  },
};

/** `shown` is the address without its secrets. */
export function postgresError(error: unknown, shown: string): TroupeError {
  if (error instanceof TroupeError) return error;
  const state = codeOf(error) ?? '';
  if (state === '25006') return readOnlyError(shown, error);
  const { code, what, fix } = BY_STATE[state] ?? (isLostConnection(error) ? UNREACHABLE : FAILED);
  return new TroupeError(code, `${what}: ${shown} (${messageOf(error)})`, { fix, cause: error });
}
