/** Transcripts that the real programs wrote, shortened, and a ledger to take them over into. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { EventType, Payloads } from '../../../src/events/catalogue.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { readEvents } from '../../../src/ledger/pages.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import { createPrices } from '../../../src/models/prices.ts';
import { foldCosts, initialCosts } from '../../../src/projections/costs.ts';
import { transcriptsIn } from '../../../src/transcripts/find.ts';
import { type Imported, importTranscript } from '../../../src/transcripts/import.ts';
import type { Transcript } from '../../../src/transcripts/items.ts';
import { opencodeTranscripts } from '../../../src/transcripts/opencode/database.ts';
import { openTestLedger, testFolder } from '../ledger/sqlite-folder.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');

/** A copy that a test may change. */
export function claudeFixture(): string {
  const folder = testFolder();
  cpSync(join(FIXTURES, 'claude-code'), folder, { recursive: true });
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
}

export function codexFixture(): string {
  const folder = testFolder();
  cpSync(join(FIXTURES, 'codex'), folder, { recursive: true });
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
}

interface Kept {
  readonly schema: Readonly<Record<string, string>>;
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, string | number>>[]>>;
}

/** The database as it was, with the tables that are read. */
export function opencodeFixture(change: (database: DatabaseSync) => void = () => undefined): string {
  const path = join(testFolder(), 'opencode.db');
  const { schema, rows } = JSON.parse(readFileSync(join(FIXTURES, 'opencode/opencode.json'), 'utf8')) as Kept;
  const database = new DatabaseSync(path);
  for (const sql of Object.values(schema)) database.exec(sql);
  for (const [table, all] of Object.entries(rows))
    for (const row of all) {
      const names = Object.keys(row);
      const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
      database.prepare(sql).run(...Object.values(row));
    }
  change(database);
  database.close();
  return path;
}

export function writtenLines(path: string, lines: readonly unknown[]): string {
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

export async function transcriptAt(path: string): Promise<Transcript> {
  const [one] = (await transcriptsIn(path)).found;
  if (one === undefined) throw new Error(`no transcript in ${path}`);
  if (one.kind === 'file') return await one.open();
  const [first] = await opencodeTranscripts(one.path, undefined);
  if (first === undefined) throw new Error(`no conversation in ${path}`);
  return first;
}

export interface ImportWorld {
  readonly ledger: Ledger;
  take(path: string): Promise<Imported>;
  events(session: string): Promise<readonly LedgerEvent[]>;
}

export const PRICES = createPrices({ clock: systemClock, env: {} });

export function importWorld(): ImportWorld {
  const ledger = openTestLedger({ path: join(testFolder(), 'ledger.db') });
  onTestFinished(() => ledger.close());
  const needs = { ledger, clock: systemClock, prices: PRICES, workspace: '/elsewhere' };
  return {
    ledger,
    take: async (path) => await importTranscript(needs, await transcriptAt(path)),
    events: async (session) => {
      const events: LedgerEvent[] = [];
      for await (const event of readEvents(ledger, { session: session as Imported['session'] })) events.push(event);
      return events;
    },
  };
}

export const payloads = <Type extends EventType>(events: readonly LedgerEvent[], type: Type): readonly Payloads[Type][] =>
  events.flatMap((event) => (event.event_type === type ? [event.payload as Payloads[Type]] : []));

/** What all of it comes to, as `troupe cost` sums it up. */
export function totalsOf(events: readonly LedgerEvent[]) {
  return events.reduce(foldCosts, initialCosts()).total;
}
