/** What SQL may ask and what it may not: each question in a process of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendOrFail, givenRun, note } from '../../../test/conformance/ledger/support.ts';
import { answered, eventList, ROOT, SESSION, started, startedAt } from '../../../test/support/event-list.ts';
import { openTestLedger, SECRET, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { systemClock } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { askLedger, type QueryTerms } from './ask.ts';
import { columnsOfTable, tableNames, tables } from './tables.ts';

type Reads = Parameters<typeof askLedger>[0];

const row: RunRow = {
  ...{ run: ROOT, session: SESSION, parent: null, agent: 'fixer', state: 'completed', owner: null },
  ...{ startedAt: startedAt(0), endedAt: startedAt(90) },
};

function holding(events: readonly LedgerEvent[]): Reads {
  return {
    runs: async () => [row],
    read: async ({ types, after = 0 }) =>
      events.filter((one) => one.position > after && (types?.includes(one.event_type) ?? true)),
  };
}

/** A run that was refused a call, made one, was asked about one, failed once and changed a file. */
function worked(): readonly LedgerEvent[] {
  const list = eventList();
  list.add('session.started', { workspace: '/w' });
  started(list, 'fixer');
  list.add('model.request', { turn: 1, model: 'test/model', added: [] });
  list.add('model.failed', {
    turn: 1,
    model: 'test/model',
    attempt: 1,
    final: false,
    error: { kind: 'overloaded', message: 'busy' },
  });
  const calls = ['shell', 'write', 'nothing'].map((name, index) => ({
    type: 'tool-call' as const,
    id: `c${index}`,
    name,
    input: { index },
  }));
  const usage = { inputTokens: 100, outputTokens: 10 };
  const said = {
    turn: 1,
    finish: 'tool-calls',
    usage,
    requested: 'test/model',
    served: 'test/model',
    attempts: 2,
    durationMs: 1_500,
  } as const;
  list.add('model.response', {
    ...said,
    message: { role: 'assistant', content: calls },
    cost: { nanoUsd: 2_000_000, prices: 'test' },
  });
  list.add(
    'approval.asked',
    { wait: 'turn/1/tool/0/approval', tool: 'shell', input: {}, why: 'fixer wants to use shell' },
    { at: 10 },
  );
  const denied = { kind: 'denied', note: 'no' } as const;
  list.add('approval.answered', { wait: 'turn/1/tool/0/approval', answer: denied, by: 'ann', where: 'inbox' }, { at: 40 });
  const text = (words: string) => [{ type: 'text' as const, text: words }];
  const no = { id: 'c0', name: 'shell', content: text('Not run: no.'), isError: true, durationMs: 0 };
  list.add('tool.result', no, { step: 'turn/1/tool/0' });
  list.add('tool.call', { turn: 1, id: 'c1', name: 'write', replay: 'safe' }, { step: 'turn/1/tool/1' });
  const diff = { path: 'a.txt', before: null, after: 'ff', addedLines: 2, removedLines: 0, diff: '' };
  list.add('file.diff', diff, { step: 'turn/1/tool/1' });
  list.add('tool.result', { id: 'c1', name: 'write', content: text('Written.'), durationMs: 20 }, { step: 'turn/1/tool/1' });
  const away = {
    type: 'tool-result',
    id: 'c2',
    name: 'nothing',
    content: text('There is none.'),
    isError: true,
    turnedAway: true,
  } as const;
  list.add('model.request', { turn: 2, model: 'test/model', added: [{ message: { role: 'tool', content: [away] } }] });
  answered(list, 2);
  return list.events;
}

const options: QueryTerms = { clock: systemClock, timeoutMs: limits.queryMs, maxRows: 10 };

async function ask(sql: string, ledger: Reads = holding(worked()), more: Partial<QueryTerms> = {}) {
  const answer = await askLedger(ledger, sql, { ...options, ...more });
  if (!answer.ok) throw new TroupeError(answer.error.code, answer.error.message, { fix: answer.error.fix });
  return answer.value;
}

describe('a question', () => {
  it('has every table, filled with what happened', async () => {
    const sql = `SELECT 'calls', group_concat(tool || ' ' || outcome, ', ') FROM calls
      UNION ALL SELECT 'turns', group_concat(turn || ' ' || input_tokens || ' ' || coalesce(usd, 'unknown'), ', ') FROM turns
      UNION ALL SELECT 'costs', count(*) || ' ' || sum(usd) FROM costs
      UNION ALL SELECT 'waits', answer || ' by ' || by || ' after ' || seconds FROM waits
      UNION ALL SELECT 'files', path || ' +' || added || ' ' || source FROM files
      UNION ALL SELECT 'failures', kind || ' ' || attempt || ' ' || final FROM failures
      UNION ALL SELECT 'runs', agent || ' ' || state || ' ' || seconds FROM runs
      UNION ALL SELECT 'sessions', session || ' ' || runs FROM sessions
      UNION ALL SELECT 'events', count(*) || ' ' || sum(json_valid(payload)) FROM events;`;
    expect((await ask(sql)).rows).toEqual([
      ['calls', 'shell refused, write ok, nothing refused'],
      ['turns', '1 100 0.002, 2 100 unknown'],
      ['costs', '2 0.002'],
      ['waits', 'denied by ann after 30'],
      ['files', 'a.txt +2 tool'],
      ['failures', 'overloaded 1 0'],
      ['runs', 'fixer completed 90'],
      ['sessions', 'ses_test 1'],
      ['events', '13 13'],
    ]);
  });

  it('gets as many rows as were allowed, and is told that there were more', async () => {
    expect(await ask('SELECT position FROM events', undefined, { maxRows: 2 })).toMatchObject({
      rows: [[1], [2]],
      cutBy: 'queryRows',
    });
    expect(await ask("SELECT 9007199254740993, x'00ff', NULL, 1.5, 'a;b' -- ;")).toMatchObject({
      rows: [['9007199254740993', "x'00ff'", null, 1.5, 'a;b']],
      cutBy: null,
    });
  });

  it('reads of a session that was collected only its runs, and says so', async () => {
    const gone: Reads['read'] = async () => {
      throw new TroupeError('ledger_collected', 'gone');
    };
    const collected = { ...holding([]), read: gone };
    expect(await ask('SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM turns)', collected)).toMatchObject({
      rows: [[1, 0]],
      collected: 1,
    });
  });

  it('finds neither what is sealed nor a secret', async () => {
    await using opened = await sealedLedger();
    const { ledger } = opened;
    expect((await ask("SELECT payload FROM events WHERE type = 'step.recorded'", ledger)).rows).toEqual([
      ['{"value":"token [redacted:TEST_PASSWORD]"}'],
    ]);
    expect((await ask('SELECT name FROM sqlite_schema ORDER BY rowid', ledger)).rows.flat()).toEqual(tableNames);
  });
});

async function sealedLedger(): Promise<{ readonly ledger: Ledger } & AsyncDisposable> {
  const ledger = openTestLedger({ path: ':memory:' });
  const store = { ledger, another: async () => ledger, reopen: async () => undefined, secret: SECRET };
  const writer = await givenRun({ ...store, newSession: testIds.session, newRun: testIds.run });
  await appendOrFail(writer, [{ ...note(writer, `token ${SECRET}`), step: 'one' }]);
  return { ledger, [Symbol.asyncDispose]: () => ledger.close() };
}

describe('is refused', () => {
  it.each([
    ['', 'The question is empty'],
    [' ; -- nothing', 'The question is empty'],
    ['SELEC 1', 'This is not a question: near "SELEC": syntax error'],
    ['SELECT * FROM payload', 'This is not a question: no such table: payload'],
    ['SELECT 1; DELETE FROM runs', 'Only one statement can be asked at a time'],
    ['DELETE FROM runs', 'Only SELECT can be asked, and DELETE is not allowed'],
    ['drop table runs', 'Only SELECT can be asked, and DROP is not allowed'],
    ['CREATE TABLE x (y)', 'Only SELECT can be asked, and CREATE is not allowed'],
    ['INSERT INTO runs (run) VALUES (1)', 'Only SELECT can be asked, and INSERT is not allowed'],
    ["ATTACH '/etc/passwd' AS other", 'Only SELECT can be asked, and ATTACH is not allowed'],
    ['PRAGMA database_list', 'Only SELECT can be asked, and PRAGMA is not allowed'],
    ['SELECT * FROM pragma_database_list', 'Only SELECT can be asked'],
    ["VACUUM INTO '/tmp/copy.db'", 'Only SELECT can be asked'],
    ["SELECT load_extension('x')", 'Only SELECT can be asked, and the function load_extension is not allowed'],
    ["SELECT readfile('/etc/passwd')", 'This is not a question: no such function: readfile'],
    ['SELECT zeroblob(1000000001)', 'The question needs more than 1024 MiB of memory (queryMemoryBytes)'],
  ])('%s', async (sql, message) => {
    await expect(ask(sql)).rejects.toMatchObject({ message: expect.stringContaining(message), fix: expect.stringMatching(/./) });
  });

  it('when it does not come to an end', async () => {
    const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n';
    await expect(ask(endless, undefined, { timeoutMs: 500 })).rejects.toMatchObject({ code: 'query_time' });
  });

  it('when it is too long', async () => {
    const long = `SELECT '${'x'.repeat(limits.queryCharacters)}'`;
    await expect(ask(long)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('(queryCharacters)') });
  });

  it('when it is about too much', async () => {
    const many: Reads = { ...holding([]), runs: async () => new Array<RunRow>(limits.queryEvents).fill(row) };
    await expect(ask('SELECT count(*) FROM runs', many)).rejects.toMatchObject({ code: 'query_events' });
  });
});

it('docs/query.md has every table with its columns, and what they mean', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/query.md'), 'utf8');
  const missing = tableNames.flatMap((name) =>
    columnsOfTable(name)
      .map((column) => `| \`${column}\` | ${(tables[name].columns as Record<string, string>)[column]} |`)
      .filter((line) => !page.slice(page.indexOf(`### ${name}`)).includes(line)),
  );
  expect(missing).toEqual([]);
});
