/**
 * The tables that SQL is asked over: their columns and what each means. They are made for one question from what everybody may
 * read of the ledger, so there is nothing else to be found: no seal, no secret, nothing that was collected.
 */

export interface DescribedTable {
  readonly about: string;
  /** Column by column what it means. */
  readonly columns: Readonly<Record<string, string>>;
}

const at = 'when, as 2026-11-18T12:00:00.000Z';
const whose = { session: 'the session', run: 'the run', agent: 'its agent' } as const;
const event = 'the event that says so';

export const tables = {
  sessions: {
    about: 'a row for each session',
    columns: {
      session: 'its id',
      runs: 'how many runs',
      first_at: 'when its first run began',
      last_at: 'when its last run began',
    },
  },
  runs: {
    about: 'a row for each run, child runs too',
    columns: {
      run: 'its id',
      session: 'the session',
      parent: 'the run that needed it; null for a root run',
      agent: 'its agent',
      state: 'running, waiting, paused, parked, completed, completed_unverified, failed, budget_exhausted, cancelled',
      started_at: at,
      ended_at: 'the same; null while it has not ended',
      seconds: 'from its start to its end',
    },
  },
  events: {
    about: 'a row for each event',
    columns: {
      event: 'its id',
      session: 'the session',
      position: 'its place in the session, from 1',
      run: 'the run',
      parent: 'the event that caused it',
      at,
      actor: 'who did it',
      type: 'its type, as in events.md',
      tool: 'the tool, where there is one',
      step: 'the step, such as turn/3/tool/0',
      payload: 'what it says, as JSON, redacted',
    },
  },
  turns: {
    about: 'a row for each answer of a model',
    columns: {
      ...whose,
      turn: 'which turn of the run',
      at,
      model: 'the model that answered',
      finish: 'why it stopped: stop, length, tool-calls, …',
      attempts: 'how often it was asked',
      input_tokens: 'as the provider counted them; null when it did not',
      output_tokens: 'the same',
      cached_tokens: 'those of the input that came from its cache',
      usd: 'what it cost; null when nobody knows',
      seconds: 'how long it took',
      text: 'what it said, without calls',
      event,
    },
  },
  calls: {
    about: 'a row for each tool call that a model asked for',
    columns: {
      ...whose,
      turn: 'which turn of the run',
      at,
      tool: 'the tool',
      outcome:
        'ok, error, refused (it was not made), in_doubt, open (no result yet), ended (the run ended with it or before a result)',
      seconds: 'how long it took; null without a result',
      input: 'what it was called with, as JSON, redacted',
      result: 'what came back, its text',
      step: 'the step, such as turn/3/tool/0',
      event: 'the event with the result, or the end of the run; null while it is open',
    },
  },
  costs: {
    about: 'a row for everything that was spent: answers, and what failed and may have been charged for',
    columns: {
      ...whose,
      model: 'the model',
      at,
      day: 'the day, as 2026-11-18, in UTC',
      input_tokens: 'as they were counted',
      output_tokens: 'the same',
      cached_tokens: 'the same',
      usd: 'what it cost; null when nobody knows',
      answered: '1 for an answer, 0 for what ended without one',
      event,
    },
  },
  failures: {
    about: 'a row for each attempt at a model that failed',
    columns: {
      ...whose,
      turn: 'which turn of the run',
      at,
      model: 'the model that was asked',
      attempt: 'which attempt, from 1',
      kind: 'rate_limited, overloaded, timeout, …',
      message: 'what it said',
      final: '1 when nothing more was tried',
      event,
    },
  },
  waits: {
    about: 'a row for each permission and question that somebody was asked',
    columns: {
      ...whose,
      wait: 'its name within the run',
      kind: 'permission or question',
      tool: 'of a permission, the tool',
      question: 'what was asked',
      asked_at: at,
      answered_at: 'the same; null while it is open',
      answer: 'approved, denied, expired, or the text',
      by: 'who answered',
      place: 'where: terminal, inbox, command, …',
      seconds: 'how long it waited; null while it is open',
      event: 'the event with the question',
    },
  },
  files: {
    about: 'a row for each change of a file that the runtime saw',
    columns: {
      ...whose,
      path: 'the file',
      at,
      source: 'tool, command, or outside (somebody else, before a command)',
      added: 'lines that came',
      removed: 'lines that went',
      before: 'the SHA-256 before; null when there was none',
      after: 'the SHA-256 after; null when it was removed',
      step: 'the step, such as turn/3/tool/0',
      event,
    },
  },
} as const satisfies Readonly<Record<string, DescribedTable>>;

export type TableName = keyof typeof tables;

export type TableCell = string | number | null;

/** One row, by its columns. */
export type RowOf<Name extends TableName> = Readonly<Record<keyof (typeof tables)[Name]['columns'], TableCell>>;

export type AnyRow = { [Name in TableName]: { readonly table: Name; readonly row: RowOf<Name> } }[TableName];

export const tableNames = Object.keys(tables) as readonly TableName[];

export const columnsOfTable = (name: TableName): readonly string[] => Object.keys(tables[name].columns);

/** Without types: a column takes what it is given. */
export const createTables = (): string =>
  tableNames
    .map(
      (name) =>
        `CREATE TABLE ${name} (${columnsOfTable(name)
          .map((one) => `"${one}"`)
          .join(', ')});`,
    )
    .join('\n');
