/** Every check, held and not held, against what is said to have come of a trial. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { ok } from '../base/result.ts';
import type { RunOutcome } from '../library/run-outcome.ts';
import { checkRun } from './checks.ts';
import { checksSchema } from './test-file.ts';

let workspace: string;
beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'troupe-checks-'));
  await writeFile(join(workspace, 'a.txt'), 'one\n');
  await writeFile(join(workspace, 'large.bin'), '');
  await truncate(join(workspace, 'large.bin'), limits.testedFileBytes + 1);
  await symlink('/etc/hosts', join(workspace, 'out'));
});
afterAll(() => rm(workspace, { recursive: true, force: true }));

const outcome = (more: object): RunOutcome =>
  ({
    ...{ run: 'run_1', session: 'ses_1', agent: 'a', finalAgent: 'a', status: 'completed' },
    report: { format: 'json', body: '{"n": 1}' },
    verification: { state: 'unverified', reasons: ['nothing was run'] },
    usage: { inputTokens: 70, outputTokens: 30, uncountedCalls: 0 },
    cost: { usd: 0.5, nanoUsd: 5e8, unknownCalls: 0 },
    ...more,
  }) as unknown as RunOutcome;

async function failures(checks: object, more: object = {}, durationMs = 2_000): Promise<readonly string[]> {
  const seen = { tools: new Set(['read']), agents: new Set(['a']), turns: 3 };
  const all = await checkRun({ outcome: outcome(more), seen, workspace, durationMs }, checksSchema.parse(checks), {
    proves: async (command) => ok({ failure: command === 'true' ? undefined : 'it ended with 1', output: '' } as never),
    ...{ timeoutMs: 1_000, signal: new AbortController().signal },
  });
  return all.flatMap(({ check, why }) => (why === null ? [] : [`${check}: ${why}`]));
}

const sum = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a check', () => {
  const unknown = { cost: { usd: 0, nanoUsd: 0, unknownCalls: 2 } };
  const uncounted = { usage: { inputTokens: 0, outputTokens: 0, uncountedCalls: 1 } };
  const table: readonly (readonly [checks: object, why: readonly string[], more?: object])[] = [
    [{}, []],
    [{}, ['status completed: it was failed: no'], { status: 'failed', error: { code: 'x', message: 'no' } }],
    [{ status: 'budget_exhausted' }, [], { status: 'budget_exhausted' }],
    [{ verification: 'verified' }, [], { verification: { state: 'verified' } }],
    [{ verification: 'verified' }, ['verification verified: it was unverified: nothing was run']],
    [{ answer: { schema: { type: 'object', required: ['n'] } } }, []],
    [
      { answer: { schema: { type: 'object', properties: { m: { type: 'number' } }, required: ['m'] } } },
      [expect.stringMatching(/^answer: .*m/)],
    ],
    [{ answer: { schema: {} } }, ['answer: it is not JSON'], { report: { format: 'markdown', body: 'No.' } }],
    [{ maxUsd: 0.5 }, []],
    [{ maxUsd: 0.49 }, ['maxUsd: it cost $0.5, and 0.49 is the limit']],
    [{ maxUsd: 5 }, ['maxUsd: the price of 2 calls is unknown'], unknown],
    [{ maxTokens: 100 }, []],
    [{ maxTokens: 99 }, ['maxTokens: it took 100, and 99 is the limit']],
    [{ maxTokens: 99 }, ['maxTokens: nobody counted the tokens of 1 call'], uncounted],
    [{ maxTurns: 3 }, []],
    [{ maxTurns: 2 }, ['maxTurns: it took 3, and 2 is the limit']],
    [{ maxTime: '2s' }, []],
    [{ maxTime: '1s' }, ['maxTime: it took 2s, and 1s is the limit']],
    [{ called: ['read'], notCalled: ['write'], agents: ['a'] }, []],
    [{ files: { 'a.txt': { sha256: sum('one\n') } } }, []],
    [{ files: { 'a.txt': { sha256: sum('two\n') } } }, [`file a.txt: its checksum is ${sum('one\n')}`]],
    [{ files: { out: {} } }, ['file out: it is a link that leads out of the workspace']],
    [{ files: { '.': {} } }, ['file .: it is no file']],
    [{ files: { 'large.bin': {} } }, [expect.stringContaining('testedFileBytes')]],
    [{ files: { 'a.txt': { absent: true } } }, ['file a.txt: it is there']],
    [{ commands: ['true'] }, []],
    [{ commands: ['true', 'false'] }, ['command false: it ended with 1']],
  ];
  const rows = table.map(([checks, why, more = {}]) => ({ checks, why, more, called: JSON.stringify(checks) }));
  it.each(rows)('$called', async ({ checks, why, more }) => {
    expect(await failures(checks, more)).toEqual(why);
  });
});
