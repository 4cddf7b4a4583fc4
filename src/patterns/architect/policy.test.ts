import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import type { RunResult } from '../steps.ts';
import type { CollectedWork } from '../task-support.ts';
import { acceptanceCommands, acceptanceLines } from './acceptance.ts';
import { failedBy, nextStep } from './policy.ts';
import { architectSettings, convergenceConfig } from './settings.ts';
import { snapshotOf } from './snapshot.ts';

const ended = (changes: Partial<RunResult> = {}): RunResult =>
  ({
    status: 'completed',
    report: { format: 'text', body: 'Done.' },
    ...{ finalAgent: 'hand', finalRun: 'run_1', turns: 1, verification: { state: 'unchecked' } },
    ...changes,
  }) as RunResult;

const seen: CollectedWork = { files: [], diff: '', undone: [], noticed: [], ran: [], tests: [], calls: 0 };

describe('what went wrong', () => {
  it.each([
    ['nothing', ended(), seen, undefined, undefined],
    ['too long', ended({ status: 'failed', error: { code: 'timed_out', message: 'late' } }), seen, undefined, 'timeout'],
    [
      'memory',
      ended({ status: 'failed', error: { code: 'limit', message: 'much', category: 'memory' } }),
      seen,
      undefined,
      'memory',
    ],
    [
      'calls',
      ended({ status: 'failed', error: { code: 'limit', message: 'many', category: 'cli_calls' } }),
      seen,
      undefined,
      'cli_calls',
    ],
    ['no progress', ended({ status: 'cancelled' }), seen, 'Nothing new.', 'stalled'],
    ['what was done before it could be stopped', ended({}), seen, 'Nothing new.', undefined],
    ['a crash', ended({ status: 'failed', error: { code: 'crashed', message: 'gone' } }), seen, undefined, 'error'],
    ['its acceptance', ended(), { ...seen, ran: [{ command: 'a', passed: false, why: 'no' }] }, undefined, 'error'],
  ])('is told apart: %s', (_what, result, collected, stalled, trigger) =>
    expect(failedBy(result, collected, stalled)?.trigger).toBe(trigger),
  );

  it('is the same for the same failing test, and another for another one', () => {
    const failing = (output: string) =>
      failedBy(ended(), { ...seen, ran: [{ command: 'node --test', passed: false, why: 'exit code 1', output }] }, undefined)
        ?.shape;
    expect(failing('ok 1\nnot ok 2 - greets\n# duration 12 ms')).toBe(failing('ok 1\nok 3\nnot ok 7 - greets\n# duration 99 ms'));
    expect(failing('not ok 2 - greets')).not.toBe(failing('not ok 2 - leaves'));
  });
});

const settings = architectSettings({ executor: 'a', fallbackExecutors: ['b'] });
const crash = { trigger: 'error', message: 'gone', shape: 'crashed: gone' } as const;
const at = { executor: 'a', next: 'b', errors: new Map<string, number>(), attempt: 1 };

describe('what happens then', () => {
  it('is another try, until the same error has come often enough', () => {
    const first = nextStep(settings, crash, at);
    expect(first).toMatchObject({ kind: 'retry', policy: { action: 'retry', error: { count: 1 } } });
    const second = nextStep(settings, crash, { ...at, errors: first.errors, attempt: 2 });
    expect(second).toMatchObject({ kind: 'downgrade', policy: { trigger: 'repeated_error', to: 'b', error: { count: 2 } } });
    expect(nextStep(settings, { ...crash, shape: 'another' }, { ...at, errors: first.errors, attempt: 2 })).toMatchObject({
      kind: 'retry',
    });
  });

  it('is no other try with an executor that is not there', () => {
    const error = { code: 'executor_unavailable', message: 'It is not installed.' };
    const gone = failedBy(ended({ status: 'failed', error }), seen, undefined);
    if (gone === undefined) throw new Error('it failed');
    expect(nextStep(settings, gone, at)).toMatchObject({ kind: 'downgrade', policy: { trigger: 'error', to: 'b' } });
    expect(nextStep(settings, gone, { ...at, next: undefined })).toMatchObject({ kind: 'cancel', policy: { trigger: 'error' } });
  });

  it('is for the architect to say, when the work was done and is not good', () =>
    expect(nextStep(settings, { ...crash, unmet: true }, at).kind).toBe('tell'));

  it.each(['timeout', 'memory', 'cli_calls', 'cost', 'stalled'] as const)('is a hard stop for %s', (trigger) => {
    expect(nextStep(settings, { ...crash, trigger }, at)).toMatchObject({
      kind: 'cancel',
      policy: { trigger, action: 'cancel_and_report' },
    });
    const down = architectSettings({ executor: 'a', failurePolicy: { onTimeout: 'downgrade_executor' } });
    expect(nextStep(down, { ...crash, trigger }, at)).toMatchObject({ kind: 'downgrade', policy: { trigger } });
    const less = architectSettings({ executor: 'a', failurePolicy: { onTimeout: 'shrink_scope' } });
    expect(nextStep(less, { ...crash, trigger }, at)).toMatchObject({ kind: 'shrink', policy: { trigger } });
  });

  it('ends after so many attempts, whatever the errors are', () =>
    expect(nextStep(settings, crash, { ...at, attempt: limits.taskAttempts })).toMatchObject({ kind: 'cancel' }));
});

it('the limits are recorded under their names, with what holds where nothing is said', () =>
  expect(convergenceConfig(settings)).toEqual({
    limits: {
      max_clarify_rounds_per_task: 3,
      max_cli_calls_per_task: 8,
      max_cli_duration_seconds: 900,
      max_cli_memory_mb: 4096,
      max_same_error_retries: 2,
      context_summarize_threshold: 200,
      max_seconds_without_progress: 300,
    },
    failure_policy: { on_repeated_error: 'downgrade_executor', on_timeout: 'cancel_and_report' },
    summarization: { mode: 'event_level', keep_original_refs: true },
  }));

describe('a line of the acceptance', () => {
  it.each([
    ['is a command between backticks', ['`npm test` passes'], [], ['npm test']],
    ['speaks of a command that is to be run', ['go test ./... passes'], ['go test ./...'], ['go test ./...']],
    ['is judged otherwise', ['new command is documented'], [], []],
    ['speaks of no longer word', ['npm test-all passes'], ['npm test'], ['npm test']],
  ])('%s', (_what, lines, verify, commands) => expect(acceptanceCommands(acceptanceLines(lines, verify))).toEqual(commands));

  it('is added for a command that no line speaks of', () =>
    expect(acceptanceLines(['it is documented'], ['npm test'])).toEqual([
      { line: 'it is documented' },
      { line: '`npm test` passes', command: 'npm test' },
    ]));
});

describe('what is known', () => {
  const known = Array.from({ length: 200 }, (_one, index) => ({
    ref: { run: 'run_1', step: `${index}`, type: 'task.judged' },
    text: `fact ${index}`,
  }));

  it('is bounded: the request, and the newest of the rest', () => {
    const { events, left, context } = snapshotOf(known, { task: 'task-1', attempt: 1 });
    expect(events).toHaveLength(limits.snapshotEvents);
    expect(left).toBe(200 - limits.snapshotEvents);
    expect(context.startsWith('fact 0\n\nfact 137')).toBe(true);
    expect(context.endsWith('fact 199')).toBe(true);
  });

  it('has the same hash when it is made again, and another one otherwise', () => {
    const hash = (some: typeof known) => snapshotOf(some, { task: 'task-1', attempt: 1 }).hash;
    expect(hash(known)).toBe(hash(structuredClone(known)));
    expect(hash(known)).not.toBe(hash(known.slice(0, -1)));
  });

  it('is cut where it is too long', () => {
    const long = [{ ref: known[0]?.ref as (typeof known)[0]['ref'], text: 'x'.repeat(100_000) }];
    expect(snapshotOf(long, { task: 'task-1', attempt: 1 }).context.length).toBeLessThan(limits.snapshotCharacters + 200);
  });
});
