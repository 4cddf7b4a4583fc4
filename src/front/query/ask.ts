/**
 * One question in SQL to the ledger. It is asked in a process of its own, over tables in that process's memory, which are filled
 * from what everybody may read, and only those that the question names. So it reaches nothing but them, whatever it says, and is
 * stopped by ending the process: no question can hold up the ledger, or anybody who writes to it.
 */
import { extname, parse } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { EventType, Failure } from '../../events/catalogue.ts';
import { readPages } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { signalGroup } from '../../process/process-group.ts';
import { startTethered, type Tethered } from '../../process/tethered-process.ts';
import type { SaidByWorker, ToldWorker } from './sql-lines.ts';
import { createRowMaker, typesOf } from './table-rows.ts';
import { type AnyRow, columnsOfTable, createTables, type TableCell, type TableName, tableNames } from './tables.ts';

export interface QueryTerms {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxRows: number;
  /** Only this session: everything else is as if it were not there. */
  readonly session?: SessionId | undefined;
}

export interface QueriedRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly TableCell[])[];
  /** There were more rows: which limit left them out. */
  readonly cutBy: 'queryRows' | 'queryBytes' | null;
  /** Sessions whose payloads were collected: of their events nothing is in the tables. */
  readonly collected: number;
}

type Reads = Pick<Ledger, 'read' | 'runs'>;

export async function askLedger(ledger: Reads, sql: string, options: QueryTerms): Promise<Result<QueriedRows, Failure>> {
  const trimmed = withoutEnd(sql);
  if (trimmed === '') return fail(usage('The question is empty', EXAMPLE));
  if (sql.length > limits.queryCharacters)
    return fail(
      usage(`The question has ${sql.length} characters, and ${limits.queryCharacters} are the limit (queryCharacters)`),
    );
  if (hasMore(trimmed)) return fail(usage('Only one statement can be asked at a time', 'take out everything behind the first ;'));
  const worker = startWorker(options);
  try {
    return await conversation(worker, ledger, trimmed, options);
  } finally {
    worker.end();
  }
}

async function conversation(
  worker: Worker,
  ledger: Reads,
  sql: string,
  options: QueryTerms,
): Promise<Result<QueriedRows, Failure>> {
  await worker.tell({
    ...{ kind: 'question', sql, schema: createTables(), maxRows: options.maxRows, maxBytes: limits.queryBytes },
    columns: Object.fromEntries(tableNames.map((name) => [name, columnsOfTable(name)])),
    memoryBytes: limits.queryMemoryBytes,
  });
  const planned = await worker.hears();
  if (planned.kind !== 'needs') return fail(failureOf(planned, sql, options));
  const filled = await fillTables(worker, ledger, planned.read, options);
  if (!filled.ok) return filled;
  await worker.tell({ kind: 'go' });
  const answer = await worker.hears();
  if (answer.kind !== 'answer') return fail(failureOf(answer, sql, options));
  const { columns, rows, more, cutBy } = answer;
  return ok({ columns, rows, cutBy: more ? (cutBy === 'rows' ? 'queryRows' : 'queryBytes') : null, collected: filled.value });
}

/** Gives how many sessions there was nothing to be had of. */
async function fillTables(
  worker: Worker,
  ledger: Reads,
  read: readonly string[],
  options: QueryTerms,
): Promise<Result<number, Failure>> {
  const needed = new Set(tableNames.filter((name) => read.some((one) => one.startsWith(`${name}.`))));
  if (needed.size === 0) return ok(0);
  const { session } = options;
  const runs = await ledger.runs({ limit: limits.queryEvents, ...present({ session }) });
  if (runs.length >= limits.queryEvents) return fail(tooMany());
  await worker.rows([...runRows(runs), ...sessionRows(runs)].filter(({ table }) => needed.has(table)));
  const types = neededTypes(needed);
  if (types !== 'all' && types.length === 0) return ok(0);
  const query = types === 'all' ? {} : { types };
  let left: number = limits.queryEvents;
  let collected = 0;
  for (const each of new Set(runs.map((row) => row.session))) {
    const maker = createRowMaker(needed, read.includes('events.payload'));
    try {
      for await (const page of readPages(ledger, { session: each, ...query })) {
        left -= page.length;
        if (left < 0) return fail(tooMany());
        if (worker.isOver()) break;
        await worker.rows(page.flatMap(maker.of));
      }
    } catch (error) {
      if (codeOf(error) !== 'ledger_collected') throw error;
      collected += 1;
    }
    await worker.rows(maker.rest());
  }
  return ok(collected);
}

function neededTypes(needed: ReadonlySet<TableName>): readonly EventType[] | 'all' {
  const types = new Set<EventType>();
  for (const name of needed) {
    if (name === 'runs' || name === 'sessions') continue;
    const ofTable = typesOf[name];
    if (ofTable === 'all') return 'all';
    for (const type of ['run.started' as const, ...ofTable]) types.add(type);
  }
  return [...types];
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function runRows(runs: readonly RunRow[]): readonly AnyRow[] {
  return runs.map(({ run, session, parent, agent, state, startedAt, endedAt }) => ({
    table: 'runs' as const,
    row: {
      ...{ run, session, parent, agent, state, started_at: iso(startedAt), ended_at: iso(endedAt) },
      seconds: endedAt === null ? null : (endedAt - startedAt) / 1_000,
    },
  }));
}

function sessionRows(runs: readonly RunRow[]): readonly AnyRow[] {
  return [...Map.groupBy(runs, ({ session }) => session)].map(([session, of]) => {
    const begun = of.map(({ startedAt }) => startedAt);
    const row = { session, runs: of.length, first_at: iso(Math.min(...begun)), last_at: iso(Math.max(...begun)) };
    return { table: 'sessions' as const, row };
  });
}

interface Worker {
  tell(line: ToldWorker): Promise<void>;
  rows(rows: readonly AnyRow[]): Promise<void>;
  hears(): Promise<SaidByWorker | { readonly kind: 'gone'; readonly late: boolean }>;
  isOver(): boolean;
  end(): void;
}

/** The neighbour with the same ending: sources run as they are, and so does what is built from them. */
const script = fileURLToPath(new URL(`./sql-worker${extname(import.meta.url)}`, import.meta.url));
const code = fileURLToPath(new URL('../..', import.meta.url));

function startWorker({ clock, timeoutMs }: QueryTerms): Worker {
  const started = startTethered(process.execPath, ['--permission', `--allow-fs-read=${code}`, script], {
    ...{ folder: parse(script).root, environment: {}, input: 'pipe' },
  });
  const { child } = started;
  const heard = lineByLine(started);
  let late = false;
  let over = false;
  const kill = (): void => {
    over = true;
    signalGroup(child, 'SIGKILL');
  };
  const forget = clock.after(timeoutMs, () => {
    late = true;
    kill();
  });
  const tell = async (line: ToldWorker): Promise<void> => {
    if (over || !child.stdin.writable) return;
    await new Promise<void>((resolve) => child.stdin.write(`${JSON.stringify(line)}\n`, () => resolve()));
  };
  return {
    tell,
    rows: async (rows) => {
      for (const [table, of] of Map.groupBy(rows, (one) => one.table)) {
        const columns = columnsOfTable(table);
        await tell({ kind: 'rows', table, rows: of.map(({ row }) => columns.map((one) => (row as CellsByName)[one] ?? null)) });
      }
    },
    hears: async () => (await heard()) ?? { kind: 'gone', late },
    isOver: () => over,
    end: () => {
      forget();
      kill();
      started.release();
    },
  };
}

type CellsByName = Readonly<Record<string, TableCell>>;

/** What the process says, a line at a time; `undefined` when it has ended. */
function lineByLine({ child }: Tethered): () => Promise<SaidByWorker | undefined> {
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => {
    const { done, value } = await lines.next();
    const parsed = done === true ? undefined : parseJson(value);
    // Written by the process that we started, and by nobody else.
    return parsed?.ok === true ? (parsed.value as unknown as SaidByWorker) : undefined;
  };
}

const EXAMPLE = 'ask something like: troupe query "SELECT agent, sum(usd) FROM costs GROUP BY agent"';
const TABLES = `the tables are: ${tableNames.join(', ')} (docs/query.md)`;

const usage = (message: string, fix = EXAMPLE): Failure => ({ code: 'usage', message, fix });

const tooMany = (): Failure => ({
  code: 'query_events',
  message: `The question is about more than ${limits.queryEvents} events (queryEvents)`,
  fix: 'ask about one session: --session <run or session>',
});

const onlySelect = (what: string): Failure => usage(`Only SELECT can be asked${what}`, TABLES);

type NoAnswer = Exclude<Awaited<ReturnType<Worker['hears']>>, { kind: 'needs' | 'answer' }>;

function failureOf(said: NoAnswer | SaidByWorker, sql: string, { timeoutMs }: QueryTerms): Failure {
  if (said.kind === 'gone' && said.late) {
    const fix = 'ask for less, about one session (--session), or give it longer: --timeout 5m';
    return { code: 'query_time', message: `The question was stopped after ${timeoutMs / 1_000} s (queryMs)`, fix };
  }
  // The store says how it would be done: a table is dropped by deleting what is known of it.
  const verb = /^\s*(create|drop|alter|reindex|replace)\b/i.exec(sql)?.[1]?.toUpperCase();
  if (said.kind === 'refused' && said.what !== null) return onlySelect(`, and ${verb ?? said.what} is not allowed`);
  if ((said.kind === 'refused' || said.kind === 'failed') && /authoriz/.test(said.message)) return onlySelect('');
  if (said.kind === 'refused') return usage(`This is not a question: ${said.message}`, TABLES);
  if (said.kind === 'failed') return memoryOr(said.message);
  return memoryOr('out of memory');
}

function memoryOr(message: string): Failure {
  if (!/out of memory|too big/.test(message)) return usage(`The question failed: ${message}`, TABLES);
  const most = `${limits.queryMemoryBytes / (1_024 * 1_024)} MiB`;
  const fix = 'ask for less, or about one session: --session <run or session>';
  return { code: 'query_memory', message: `The question needs more than ${most} of memory (queryMemoryBytes)`, fix };
}

/** Texts, names and comments of SQL, which may hold a semicolon that ends nothing. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** Without the semicolon at its end, and what follows that and says nothing. */
function withoutEnd(sql: string): string {
  const blanked = sql.replaceAll(QUOTED, (text) => (/^(--|\/\*)/.test(text) ? ' '.repeat(text.length) : 'x'.repeat(text.length)));
  const end = blanked.replace(/[;\s]+$/, '').length;
  return sql.slice(0, end).trim();
}

const hasMore = (sql: string): boolean => sql.replaceAll(QUOTED, '').includes(';');
