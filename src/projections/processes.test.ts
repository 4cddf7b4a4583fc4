import { describe, expect, it } from 'vitest';
import type { RunStatus } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { runStatus } from '../events/run-status.ts';
import { createProcesses } from './processes.ts';

const event = (event_type: string, payload: object, second: number, run_id = 'run_1'): LedgerEvent =>
  ({ event_type, payload, run_id, timestamp: `2026-01-01T00:00:0${second}.000Z`, position: second }) as unknown as LedgerEvent;

const started = event('run.started', { agent: 'coder', origin: { kind: 'assistant', parent: 'run_0', by: 'lead' }, depth: 1 }, 0);
const ended = (status: RunStatus): LedgerEvent => event('run.ended', { status }, 5);
const processAfter = (...events: readonly LedgerEvent[]) => {
  const processes = createProcesses();
  for (const one of events) processes.apply(one);
  return processes.find('run_1');
};

describe('a process', () => {
  it('starts, runs once it is hosted or asks its model, and ends for good', () => {
    const hosted = event('process.started', { pid: 7, attempt: 1 }, 1);
    const asked = event('model.request', { turn: 1, model: 'm', added: [] }, 2);
    expect(processAfter(started)).toMatchObject({
      status: 'starting',
      agent: 'coder',
      parent: 'run_0',
      spawnedBy: 'lead',
      pid: null,
    });
    expect(processAfter(started, hosted)).toMatchObject({ status: 'running', pid: 7, finishedAt: null });
    expect(processAfter(started, asked)).toMatchObject({ status: 'running', pid: null });
    const gone = event('process.ended', { pid: 7, exitCode: 1, signal: null, why: 'crashed' }, 3);
    expect(processAfter(started, hosted, gone)).toMatchObject({ status: 'running', pid: null });
    const again = event('process.started', { pid: 8, attempt: 2 }, 4);
    expect(processAfter(started, hosted, again, gone)).toMatchObject({ status: 'running', pid: 8 });
    expect(processAfter(started, ended('completed'), hosted, asked, ended('failed'))).toMatchObject({
      status: 'finished',
      exitCode: 0,
    });
  });

  it.each([
    ['completed', 'finished', 0],
    ['completed_unverified', 'finished', 3],
    ['failed', 'failed', 1],
    ['budget_exhausted', 'failed', 4],
    ['cancelled', 'failed', 130],
  ] as const)('that ends %s is %s with exit code %i', (status, expected, exitCode) => {
    expect(runStatus.options).toHaveLength(5);
    const finishedAt = Date.parse('2026-01-01T00:00:05.000Z');
    expect(processAfter(started, ended(status))).toMatchObject({ status: expected, exitCode, finishedAt });
  });

  it('names what it waits for until it is answered or over', () => {
    const asks = event('approval.asked', { wait: 'a', tool: 'shell', input: {}, why: '' }, 1);
    const wonders = event('task.clarify', { wait: 'b', question: '?' }, 2);
    const answer = event('approval.answered', { wait: 'a', answer: { kind: 'approved' } }, 3);
    expect(processAfter(started, asks, wonders)?.waits).toEqual(['a', 'b']);
    expect(processAfter(started, asks, wonders, answer)?.waits).toEqual(['b']);
    expect(processAfter(started, asks, wonders, ended('cancelled'))?.waits).toEqual([]);
  });

  it('that was not spawned is known as such, and one without a beginning not at all', () => {
    const root = event('run.started', { agent: 'lead', origin: { kind: 'person' }, depth: 0 }, 0);
    expect(processAfter(root)).toMatchObject({ spawnedBy: null, parent: null });
    expect(processAfter(ended('completed'))).toBeUndefined();
  });
});
