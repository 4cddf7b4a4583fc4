import { describe, expect, it } from 'vitest';
import type { RunMode, RunOrigin } from '../../events/run-origin.ts';
import type { Permission } from '../../permissions/rule-map.ts';
import type { DrivenRun } from './driven-run.ts';
import { runModeOf, underMode } from './run-mode.ts';

const runFrom = (origin: RunOrigin, parent?: DrivenRun): DrivenRun =>
  ({ started: { agent: 'a', origin, depth: 0 }, parent }) as unknown as DrivenRun;
const person = (mode?: RunMode): DrivenRun => runFrom({ kind: 'person', ...(mode && { mode }) });
const below = (parent: DrivenRun): DrivenRun => runFrom({ kind: 'call', parent: 'run_1' }, parent);

const terms = (mode: RunMode) => ({
  ...{ task: 'task-1', include: [], exclude: [], noTouch: [], package: 'event://1', mode },
  limits: { maxCliCalls: 1, maxDurationMs: 1, maxMemoryMb: 1 },
  place: { kind: 'in-place' as const, path: '/work' },
});
const task = (mode: RunMode, parent: DrivenRun): DrivenRun =>
  runFrom({ kind: 'task', parent: 'run_1', role: 'executor', terms: terms(mode) }, parent);

describe('the mode of a run', () => {
  it('holds for everything below', () => {
    expect(runModeOf(below(below(person('read-only'))))).toBe('read-only');
    expect(runModeOf(below(person('full')))).toBe('full');
    expect(runModeOf(below(person()))).toBeUndefined();
    expect(runModeOf(below(task('read-only', person('full'))))).toBe('read-only');
    expect(runModeOf(task('full', person('read-only')))).toBe('read-only');
    expect(runModeOf(task('full', person()))).toBeUndefined();
  });

  const tools = {
    write: { name: 'write' },
    shell: { name: 'shell' },
    read: { name: 'read', readOnly: true },
    looks: { name: 'mcp_x_look', readOnly: true, origin: {} },
    acts: { name: 'shell', origin: {} },
    agent: { name: 'reviewer', kind: 'agent' },
  };

  it.each<[keyof typeof tools, Permission, Permission]>([
    ['write', 'allow', 'deny'],
    ['shell', 'ask', 'deny'],
    ['acts', 'allow', 'deny'],
    ['read', 'allow', 'allow'],
    ['read', 'deny', 'deny'],
    ['looks', 'ask', 'ask'],
    ['agent', 'allow', 'allow'],
  ])('read-only closes what writes or runs: %s that is %s is %s', (tool, said, permission) => {
    expect(underMode('read-only', tools[tool], said)).toBe(permission);
  });

  it.each<[keyof typeof tools, Permission, Permission]>([
    ['write', 'ask', 'allow'],
    ['shell', 'ask', 'allow'],
    ['shell', 'deny', 'deny'],
    ['acts', 'ask', 'ask'],
    ['looks', 'ask', 'ask'],
  ])('full opens nothing that is denied, and nothing beyond the workspace: %s that is %s is %s', (tool, said, permission) => {
    expect(underMode('full', tools[tool], said)).toBe(permission);
  });
});
