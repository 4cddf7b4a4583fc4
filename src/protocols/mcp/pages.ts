/**
 * Lists in pages. A cursor is the key of the last entry that was given, so that entries that come or go between two pages
 * are neither repeated nor skipped. To a client it is only a word.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { limits } from '../../base/limits.ts';

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly nextCursor?: string;
}

export function pageOf<Entry>(all: readonly Entry[], keyOf: (entry: Entry) => string, cursor: string | undefined): Page<Entry> {
  const start = cursor === undefined ? 0 : placeAfter(all, keyOf, cursor);
  const entries = all.slice(start, start + limits.listPage);
  const last = entries.at(-1);
  if (last === undefined || start + entries.length >= all.length) return { entries };
  return { entries, nextCursor: Buffer.from(keyOf(last), 'utf8').toString('base64url') };
}

function placeAfter<Entry>(all: readonly Entry[], keyOf: (entry: Entry) => string, cursor: string): number {
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  const place = all.findIndex((entry) => keyOf(entry) === key);
  if (place === -1)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The cursor is not one of this list, or its entry is gone: start over',
    );
  return place + 1;
}
