/**
 * The process that a question in SQL is asked in: a database in its memory that holds the tables of this one question, and
 * nothing else. What is not a plain SELECT over them is refused before it runs. Whoever asked ends the process in time.
 *
 * It is told, line by line: the question; rows for the tables that it said it needs; that there are no more. It answers with two
 * lines at most: which tables it needs, and what came of it.
 */
import { createInterface } from 'node:readline';
import { parseJson } from '../../base/json.ts';
import { sqliteConstants as constants, DatabaseSync } from '../../base/sqlite.ts';
import type { SaidByWorker, ToldWorker } from './sql-lines.ts';

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } = constants;

/** What would reach beyond the tables, or tell where this runs. */
const CLOSED_FUNCTIONS = new Set(['load_extension', 'readfile', 'writefile', 'edit', 'fts3_tokenizer', 'sqlite_log']);

const database = new DatabaseSync(':memory:', { allowExtension: false });
const say = (line: SaidByWorker): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
/** What is written here is ours while this is set: tables and their rows. */
let filling = true;
const refused = { what: undefined as string | undefined };
const read = new Set<string>();

function authorize(action: number, first: string | null, second: string | null): number {
  if (filling || action === SQLITE_SELECT || action === SQLITE_RECURSIVE) return SQLITE_OK;
  if (action === SQLITE_READ) {
    read.add(`${first}.${second}`);
    return SQLITE_OK;
  }
  if (action === SQLITE_FUNCTION && !CLOSED_FUNCTIONS.has((second ?? '').toLowerCase())) return SQLITE_OK;
  refused.what ??= action === SQLITE_FUNCTION ? `the function ${second}` : (actionNames.get(action) ?? 'this');
  return SQLITE_DENY;
}

const actionNames = new Map(
  Object.entries(constants)
    .filter(([name]) =>
      /^SQLITE_(CREATE|DROP|INSERT|UPDATE|DELETE|PRAGMA|ATTACH|DETACH|ALTER|REINDEX|ANALYZE|TRANS|SAVE)/.test(name),
    )
    .map(([name, code]) => [Number(code), name.replace('SQLITE_', '').replaceAll('_', ' ')]),
);

type Statement = ReturnType<typeof database.prepare>;
type Question = Extract<ToldWorker, { kind: 'question' }>;
let asked: { readonly statement: Statement; readonly question: Question } | undefined;

/** What each table is filled with. */
const inserts = new Map<string, Statement>();

function begin(question: Question): void {
  database.exec(`PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = ${question.memoryBytes}; PRAGMA trusted_schema = OFF`);
  database.exec(question.schema);
  for (const [name, columns] of Object.entries(question.columns))
    inserts.set(name, database.prepare(`INSERT INTO ${name} VALUES (${columns.map(() => '?').join(', ')})`));
  database.setAuthorizer(authorize);
  filling = false;
  try {
    const statement = database.prepare(question.sql);
    asked = { statement, question };
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    say({ kind: 'needs', read: [...read] });
  } catch (error) {
    say({ kind: 'refused', what: refused.what ?? null, message: messageOf(error) });
  }
}

function fill(table: string, rows: Extract<ToldWorker, { kind: 'rows' }>['rows']): void {
  const insert = inserts.get(table);
  filling = true;
  for (const row of rows) insert?.run(...row.map(whole));
  filling = false;
}

/** A number without a fraction is stored as such: it is shown as it is, and not as 1.0. */
const whole = <Value>(cell: Value): Value | bigint => (Number.isSafeInteger(cell) ? BigInt(cell as number) : cell);

function answer(): void {
  if (asked === undefined) return;
  const { statement, question } = asked;
  try {
    const columns = statement.columns().map(({ name }) => name);
    const rows: (string | number | null)[][] = [];
    let bytes = 0;
    let more = false;
    for (const row of statement.iterate() as Iterable<unknown>) {
      if (rows.length === question.maxRows || bytes > question.maxBytes) {
        more = true;
        break;
      }
      const cells = (row as readonly unknown[]).map(cellOf);
      bytes += cells.reduce<number>((sum, cell) => sum + String(cell).length, 0);
      rows.push(cells);
    }
    say({ kind: 'answer', columns, rows, more, cutBy: rows.length === question.maxRows ? 'rows' : 'bytes' });
  } catch (error) {
    say({ kind: 'failed', message: messageOf(error) });
  }
}

function cellOf(value: unknown): string | number | null {
  if (typeof value === 'bigint') return BigInt.asIntN(54, value) === value ? Number(value) : String(value);
  if (typeof value === 'number' || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`;
  return null;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

createInterface({ input: process.stdin }).on('line', (line) => {
  const parsed = parseJson(line);
  if (!parsed.ok) return;
  // Written by the process that started this one, and by nobody else.
  const told = parsed.value as unknown as ToldWorker;
  if (told.kind === 'question') begin(told);
  else if (told.kind === 'rows') fill(told.table, told.rows);
  else answer();
});
