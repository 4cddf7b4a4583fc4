/** Arguments, options, ids and answers: what a person types, and what is made of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { TroupeError } from '../../base/errors.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { RunEnd } from '../../engine/port.ts';
import { standingOf, stateOf } from '../../front/standing.ts';
import type { RunRow } from '../../ledger/port.ts';
import { requestText } from '../../projections/request-text.ts';
import { askPerson, confirmApproval, parseText } from '../drive/ask-person.ts';
import { createDesk } from '../drive/desk.ts';
import { matchRuns } from '../drive/find-run.ts';
import { parsePermission } from '../drive/whole-request.ts';
import { asCalled, callOf, requestAsCalled } from '../terminal/command.ts';
import { exitCodeOfEnd, exitCodeOfError, exitCodeOfStatus } from '../terminal/exit-codes.ts';
import { collectVariable, parseCount, parseUsd } from '../terminal/parse-option.ts';
import { decodePrompt, readPrompt } from '../terminal/read-prompt.ts';
import { wantsColour, wantsMotion } from '../terminal/terminal.ts';
import { waitLines } from '../view/run-summary.ts';
import { createSilentView } from '../view/run-view.ts';
import { tableLines } from '../view/table.ts';
import { completionScript } from './completion.ts';
import { createProgram, explain, runProgram } from './program.ts';

function row(run: string, more: Partial<RunRow> = {}): RunRow {
  const base = {
    session: 'ses_one' as SessionId,
    parent: null,
    agent: 'a',
    state: 'completed',
    startedAt: 0,
    endedAt: 1,
    owner: null,
  } as const;
  return { run: run as RunId, ...base, ...more };
}

describe('finding a run by what was typed', () => {
  const rows = [
    row('run_01newchild7777', { parent: 'run_01newabc999' as RunId }),
    row('run_01newabc999'),
    row('run_01old1abc999'),
  ];
  it.each([
    ['last', ['run_01newabc999']],
    ['run_01newabc999', ['run_01newabc999']],
    ['01newc', ['run_01newchild7777']],
    ['run_01old', ['run_01old1abc999']],
    ['1abc999', ['run_01old1abc999']],
    ['abc999', ['run_01newabc999', 'run_01old1abc999']],
    ['ses_one', ['run_01newabc999']],
    ['999', []],
    ['run_', []],
    ['nothing', []],
  ])('%s', (text, found) => expect(matchRuns(rows, text).map((one) => one.run)).toEqual(found));

  it('a run that claims to run but that nobody drives was interrupted', () => {
    expect(stateOf(row('run_1', { state: 'running' }))).toBe('interrupted');
    expect(stateOf(row('run_1', { state: 'running', owner: { id: 'x', pid: 1, host: 'h' } }))).toBe('running');
    expect(stateOf(row('run_1', { state: 'waiting' }))).toBe('waiting');
    expect(standingOf(row('run_1', { state: 'running' }), ['a question below it'])).toBe('waiting');
    expect(standingOf(row('run_1', { state: 'running' }), [])).toBe('interrupted');
    expect(standingOf(row('run_1', { state: 'paused' }), ['a question below it'])).toBe('paused');
  });
});

describe('exit codes', () => {
  it('follow the end of the run', () => {
    const statuses = ['completed', 'failed', 'completed_unverified', 'budget_exhausted', 'cancelled'] as const;
    expect(statuses.map((status) => exitCodeOfStatus(status))).toEqual([0, 1, 3, 4, 130]);
    expect(exitCodeOfStatus('failed', { code: 'executor_unavailable', message: '' })).toBe(6);
    const ended = (state: 'verified' | 'unchecked') =>
      ({ kind: 'ended', result: { status: 'completed', verification: { state } } }) as unknown as RunEnd;
    expect([exitCodeOfEnd(ended('verified')), exitCodeOfEnd(ended('unchecked'))]).toEqual([0, 0]);
    expect([exitCodeOfEnd(ended('verified'), 'verified'), exitCodeOfEnd(ended('unchecked'), 'verified')]).toEqual([0, 3]);
    expect(exitCodeOfEnd({ kind: 'waiting', waits: [] }, 'verified')).toBe(5);
    expect(exitCodeOfEnd({ kind: 'waiting', waits: [] })).toBe(5);
    expect(exitCodeOfEnd({ kind: 'interrupted', reason: '' })).toBe(130);
    expect(['usage', 'no_model', 'unknown_agent', 'budget_exhausted', 'bug', 'held'].map(exitCodeOfError)).toEqual([
      2, 2, 2, 4, 1, 1,
    ]);
    expect(['ledger_address', 'ledger_missing', 'ledger_io', 'ledger_corrupt'].map(exitCodeOfError)).toEqual([2, 2, 1, 1]);
  });
});

describe('prompts of a run', () => {
  it('come from the argument, stdin or the person', async () => {
    expect(await readPrompt(testTerminal(), 'hello')).toBe('hello');
    const half = new TextEncoder().encode('né');
    expect(await readPrompt(testTerminal({ input: [half.subarray(0, 2), half.subarray(2)] }), '-')).toBe('né');
    expect(await readPrompt(testTerminal({ interactive: true, answers: ['typed'] }), undefined)).toBe('typed');
    await expect(readPrompt(testTerminal(), undefined)).rejects.toThrow('There is no prompt');
  });

  it('are text, and not too long', async () => {
    expect(decodePrompt(Uint8Array.of(0xc3))).toMatchObject({ ok: false, error: { message: expect.stringContaining('UTF-8') } });
    expect(decodePrompt(Uint8Array.of(65, 0))).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('binary') },
    });
    expect(decodePrompt(new TextEncoder().encode(' \n'))).toMatchObject({ ok: false });
    const block = new Uint8Array(limits.promptBytes / 2 + 1).fill(65);
    await expect(readPrompt(testTerminal({ input: [block, block] }), '-')).rejects.toThrow('promptBytes');
  });
});

describe('answers that are typed', () => {
  it.each([
    ['y', { kind: 'approved' }],
    ['YES', { kind: 'approved' }],
    ['always', { kind: 'approved', remember: true }],
    ['no', { kind: 'denied' }],
    ['no not on main', { kind: 'denied', note: 'not on main' }],
    ['no, because it is Friday', { kind: 'denied', note: 'because it is Friday' }],
    ['No: not on main.', { kind: 'denied', note: 'not on main.' }],
    ['no.', { kind: 'denied' }],
    ['yes.', { kind: 'approved' }],
    ['yes, but ask Bob first', undefined],
    ['', undefined],
    ['maybe', undefined],
  ])('permission: %s', (typed, answer) => expect(parsePermission(typed)).toEqual(answer));

  it('may name a choice by its number', () => {
    expect(parseText('2', ['red', 'blue'])).toEqual({ kind: 'text', text: 'blue' });
    expect(parseText('7', ['red', 'blue'])).toEqual({ kind: 'text', text: '7' });
    expect(parseText(' ', [])).toBeUndefined();
  });

  it('are asked for again until they are clear, and never forced', async () => {
    const wait = {
      run: 'run_abcdef' as RunId,
      agent: 'fixer',
      wait: 'w',
      kind: 'permission',
      question: 'Use shell?',
      tool: 'shell',
      input: {},
      missing: 0,
      request: 'Use shell?',
      shown: '0123456789abcdef',
      askedAt: '2026-01-01T00:00:00.000Z',
    } as const;
    const asked = (answers: readonly string[]) => {
      const terminal = testTerminal({ answers });
      const desk = createDesk(terminal, createSilentView(terminal.progress), new AbortController().signal);
      return askPerson(desk, terminal.progress, wait, async () => undefined);
    };
    expect(await asked(['hm', '', 'n'])).toEqual({ kind: 'denied' });
    expect(await asked([])).toBeUndefined();
    // What they make of a call is allowed once: a rule would be about the one that was asked for.
    const changed = ['edit', '{"command":"ls"}', 'always', 'always project'];
    expect(await asked([...changed, 'no'])).toEqual({ kind: 'denied' });
    expect(await asked([...changed, 'yes'])).toEqual({ kind: 'approved', whole: true, input: { command: 'ls' } });
    // Where it was said already whether it is remembered, nothing else is meant by it.
    const terminal = testTerminal({ answers: ['always'] });
    const desk = createDesk(terminal, createSilentView(terminal.progress), new AbortController().signal);
    expect(await confirmApproval(desk, terminal.progress, wait, { kind: 'approved' })).toBe(false);
    expect(waitLines([wait], 'troupe')).toEqual([
      'Use shell?',
      '  troupe approve abcdef --shown 01234567',
      '  troupe deny abcdef --note "why not"',
    ]);
  });
});

describe('options of commands', () => {
  it('say what would be right', () => {
    expect(collectVariable('b=x=y', { a: '1' })).toEqual({ a: '1', b: 'x=y' });
    expect(() => collectVariable('novalue')).toThrow('key=value');
    expect(() => parseCount('0')).toThrow('whole number');
    expect([parseUsd('0.50'), parseUsd('$2')]).toEqual([0.5, 2]);
    expect(() => parseUsd('-1')).toThrow('dollars');
  });

  it('colour and motion are for people who want them', () => {
    expect(wantsColour(true, {}, [])).toBe(true);
    expect(wantsColour(true, { NO_COLOR: '1' }, [])).toBe(false);
    expect(wantsColour(true, { FORCE_COLOR: '1' }, ['--no-color'])).toBe(false);
    expect(wantsColour(false, { FORCE_COLOR: '1' }, [])).toBe(true);
    expect(wantsColour(true, { TERM: 'dumb' }, [])).toBe(false);
    expect([wantsMotion(true, {}), wantsMotion(true, { CI: 'true' }), wantsMotion(false, {})]).toEqual([true, false, false]);
  });
});

describe('the program', () => {
  it.each([
    ['list', 'troupe agents list'],
    ['status', 'troupe ps'],
    ['stop', 'troupe cancel'],
    ['agnets', 'agents'],
  ])('knows what is meant by %s', async (word, meant) => {
    const terminal = testTerminal();
    expect(await runProgram([word], terminal)).toBe(2);
    expect(terminal.written.progress).toContain(`(Did you mean ${meant}`);
    expect(terminal.written.progress.match(/Did you mean/g)).toHaveLength(1);
  });

  it('leads its help with examples, for every command', async () => {
    const terminal = testTerminal();
    expect(await runProgram(['--help'], terminal)).toBe(0);
    expect(terminal.written.out).toMatch(/^Examples:/);
    // It is cut by hand, and has to fit an ordinary window.
    expect(terminal.written.out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const names = createProgram(terminal, () => async () => undefined).commands.map((command) => command.name());
    for (const name of names) {
      const one = testTerminal();
      expect(await runProgram([name, '--help'], one)).toBe(0);
      expect(one.written.out).toMatch(/^Example:\n {2}\S/);
    }
    expect(names).toMatchInlineSnapshot(`
      [
        "init",
        "new",
        "check",
        "run",
        "demo",
        "chat",
        "ps",
        "sessions",
        "inbox",
        "show",
        "logs",
        "export",
        "import",
        "cost",
        "why",
        "blame",
        "context",
        "query",
        "replay",
        "diff",
        "models",
        "measure",
        "doctor",
        "resume",
        "retry",
        "fork",
        "cancel",
        "pause",
        "send",
        "attach",
        "answer",
        "approve",
        "deny",
        "apply",
        "test",
        "eval",
        "tasks",
        "permissions",
        "ledger",
        "forget",
        "telemetry",
        "artifacts",
        "groups",
        "agents",
        "servers",
        "executors",
        "presets",
        "mcp",
        "acp",
        "serve",
        "console",
        "worker",
        "cluster",
        "completion",
        "complete",
      ]
    `);
  });

  it('helps with a mistyped command', async () => {
    const terminal = testTerminal();
    expect(await runProgram(['resum'], terminal)).toBe(2);
    expect(terminal.written.progress).toContain('Did you mean resume?');
  });

  it('turns failures into words, an object and a code', () => {
    const terminal = testTerminal();
    const code = explain(new TroupeError('usage', 'No\u001b[2J.', { fix: 'do so' }), ['ps', '--json'], terminal);
    expect(code).toBe(2);
    expect(terminal.written.progress).toBe('error: No.\n  fix: do so\n');
    expect(terminal.written.out).toContain('"code": "usage"');
  });

  it('says in a line of its own what failed where a program reads lines, a mistyped option included', async () => {
    const terminal = testTerminal();
    explain(new TroupeError('bug', 'No.', { fix: 'do so' }), ['run', 'a', '--jsonl'], terminal);
    expect(terminal.written.out).toBe('{"error":{"code":"bug","message":"No.","fix":"do so"}}\n');
    const mistyped = testTerminal();
    expect(await runProgram(['run', '--jsonl', '--nosuch'], mistyped)).toBe(2);
    expect(JSON.parse(mistyped.written.out)).toMatchObject({ error: { code: 'usage' } });
    expect(mistyped.written.out.trimEnd()).not.toContain('\n');
  });

  it('completes words that a shell would run safely', () => {
    const words = [['run', "it's a run"]] as const;
    expect(completionScript('fish', words)).toContain("-d 'it\\'s a run'");
    expect(completionScript('tcsh', words)).toBeUndefined();
  });

  it('aligns tables and cuts them to the screen', () => {
    expect(
      tableLines(
        ['A', 'LONG'],
        [
          ['日本', 'x'],
          ['b', 'yyyyyyyyyy'],
        ],
        12,
      ),
    ).toEqual(['A     LONG', '日本  x', 'b     yyyyy…']);
  });
});

describe('how it is called', () => {
  it('is how advice names commands, whoever wrote it', () => {
    const call = './troupe -C notes';
    expect(asCalled('See `troupe check`, troupe.yaml and ./troupe ps; troupe resume ab.', call)).toBe(
      'See `./troupe -C notes check`, troupe.yaml and ./troupe ps; ./troupe -C notes resume ab.',
    );
    const terminal = testTerminal();
    explain(new TroupeError('unknown_run', 'No run', { fix: 'see: troupe ps --all' }), ['show'], terminal, './troupe');
    expect(terminal.written.progress).toBe('error: No run\n  fix: see: ./troupe ps --all\n');
  });

  it('is in what a question has no room for, and never in what is asked for', () => {
    const command = `troupe show last\n${'x'.repeat(limits.requestCharacters)}`;
    const { text } = requestText({ input: { command }, run: 'run_01abcdef' });
    const shown = requestAsCalled(text, './troupe');
    expect(shown).toMatch(/^ {2}\| troupe show last\n/);
    expect(shown).toMatch(/`\.\/troupe show abcdef --request` prints all of it/);
    expect(requestAsCalled(`asks to use shell: ${text.slice(-200)}`, './troupe')).toContain('`./troupe show');
  });

  it('is said of each problem of a file once that it is an error', () => {
    const terminal = testTerminal();
    explain(new TroupeError('config', 'troupe.yaml:3:1: error: unknown key "modle"'), ['ps'], terminal);
    expect(terminal.written.progress).toBe('troupe.yaml:3:1: error: unknown key "modle"\n');
  });

  it('is in every line that is printed', () => {
    const cli = join(import.meta.dirname, '..');
    const files = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.test)\.ts$/.test(name));
    expect(files.length).toBeGreaterThan(100);
    const printed = /\.(?:line|prose)\(\s*[`'"][^`'"]*(?<![\w./-])troupe [a-z]/;
    expect(files.filter((name) => printed.test(readFileSync(join(cli, name), 'utf8')))).toEqual([]);
  });

  it('names the folder so that a shell takes it for one word', () => {
    const called = (cwd: string): string => callOf({ cwd, terminal: testTerminal({ cwd: '/elsewhere' }) });
    expect(called('/elsewhere')).toBe('troupe');
    expect(called('/srv/notes')).toBe('troupe -C /srv/notes');
    expect(called("/srv/Anna's notes")).toBe("troupe -C '/srv/Anna'\\''s notes'");
  });
});
