/** Which ledger an address names: `sqlite:` and a path, or `postgres://…`. */
import { isAbsolute, resolve } from 'node:path';
import { TroupeError } from '../base/errors.ts';
import type { Secret } from '../base/secrets/redact.ts';
import { canBeSecret } from '../base/secrets/values.ts';
import { isPostgresAddress, parsePostgresAddress } from './postgres/address.ts';

export interface LedgerAddress {
  readonly kind: 'sqlite' | 'postgres';
  /** For people and logs: an absolute path, or the address without its password. */
  readonly shown: string;
  /** For whoever opens it: may hold a password. A function, so that printing the settings cannot show it. */
  readonly location: () => string;
}

const SQLITE = 'sqlite:';

/** `undefined` when the text is neither. Throws when it is a Postgres address with a mistake in it. */
export function parseLedgerAddress(text: string, folder: string): LedgerAddress | undefined {
  if (isPostgresAddress(text)) {
    const { shown } = parsePostgresAddress(text);
    return { kind: 'postgres', shown, location: () => text };
  }
  if (!text.startsWith(SQLITE) || text.length === SQLITE.length) return undefined;
  const given = text.slice(SQLITE.length);
  return sqliteAddress(isAbsolute(given) ? given : resolve(folder, given));
}

export const sqliteAddress = (path: string): LedgerAddress => ({ kind: 'sqlite', shown: path, location: () => path });

/** What an address names in the file system: the file, or the folder for payloads beside a server. Never throws. */
export function ledgerPlace(text: string, folder: string): string | undefined {
  if (!isPostgresAddress(text)) return parseLedgerAddress(text, folder)?.location();
  const payloads = URL.parse(text)?.searchParams.get('payloads') ?? '';
  return isAbsolute(payloads) ? payloads : undefined;
}

/** What must not be stored because the ledger itself is opened with it. */
export function ledgerSecrets(address: LedgerAddress): readonly Secret[] {
  if (address.kind === 'sqlite') return [];
  const { password = '' } = parsePostgresAddress(address.location());
  return !canBeSecret(password) ? [] : [{ name: 'ledger-password', value: password }];
}

export function unknownAddress(): TroupeError {
  return new TroupeError('ledger_address', 'A ledger is named by sqlite: and a path, or by postgres://…', {
    fix: 'Write sqlite:.troupe/ledger.db or postgres://user@host:5432/database.',
  });
}
