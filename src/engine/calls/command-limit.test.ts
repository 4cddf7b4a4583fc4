/** What commands of a task may use, whoever runs them for it. */
import { describe, expect, it } from 'vitest';
import { handClock } from '../../../test/support/hand-clock.ts';
import { limits } from '../../base/limits.ts';
import { TaskLimitOver } from '../hearing/stop-reason.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { createCommandLimit } from './command-limit.ts';

const shell = { name: 'shell' };

/** A run, as far as it is looked at; `before`: commands of an earlier life. */
function run(name: string, parent: DrivenRun | undefined, origin: unknown, before = 0): DrivenRun {
  const past = Array.from({ length: before }, () => ({ event_type: 'tool.call', payload: { name: 'shell' } }));
  const made = { run: `run_${name}`, parent, started: { agent: name, origin }, journal: { past }, abort: new AbortController() };
  return made as unknown as DrivenRun;
}

function task(before = 0) {
  const terms = { task: 'task-1', limits: { maxCliCalls: 3, maxDurationMs: 1, maxMemoryMb: 100 } };
  const hand = run('hand', run('chief', undefined, { kind: 'person' }), { kind: 'task', terms }, before);
  return { hand, helper: run('helper', hand, { kind: 'call' }) };
}

describe('commands of a task', () => {
  it('are counted together, whoever it calls and in whatever life', () => {
    const { hand, helper } = task(1);
    const clock = handClock();
    const [own, below] = [createCommandLimit({ clock }, hand), createCommandLimit({ clock }, helper)];
    expect([own.refusal(shell), below.refusal({ name: 'read' }), below.refusal(shell)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    // The loop of a run may begin again in one life.
    expect(createCommandLimit({ clock }, hand).refusal(shell)).toBe(
      'Not run: hand wanted to run more than 3 commands (max_cli_calls) and was stopped.',
    );
    expect(hand.abort.signal.reason).toMatchObject({ category: 'cli_calls' });
  });

  it('use memory together, and too much of it ends the task', async () => {
    const { hand, helper } = task();
    const clock = handClock();
    const used = new Map([[11, 60]]);
    const tree = { clock, executorMemory: async (pid: number) => used.get(pid) };
    const own = createCommandLimit(tree, hand).processes('turn/1/tool/0');
    const below = createCommandLimit(tree, helper).processes('turn/2/tool/0');
    expect([own?.mark, below?.mark]).toEqual(['run_hand/turn/1/tool/0', 'run_helper/turn/2/tool/0']);
    const second = async (): Promise<void> => {
      clock.advance(limits.executorMemoryEveryMs);
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    };
    const ended = own?.began(11);
    below?.began(12);
    await second();
    used.set(12, 41);
    ended?.();
    await second();
    expect(hand.abort.signal.aborted).toBe(false);
    own?.began(11);
    await second();
    expect(hand.abort.signal.reason).toBeInstanceOf(TaskLimitOver);
    expect(String(hand.abort.signal.reason)).toContain('hand used more than 100 MiB of memory for its commands (maxMemory)');
  });

  it('outside of a task are not followed, and where nobody knows the memory only marked', () => {
    const clock = handClock();
    const free = createCommandLimit({ clock, executorMemory: async () => 1 }, run('free', undefined, { kind: 'person' }, 99));
    expect([free.refusal(shell), free.processes('turn/1/tool/0')]).toEqual([undefined, undefined]);
    const followed = createCommandLimit({ clock }, task().hand).processes('turn/1/tool/0');
    expect(followed?.mark).toBe('run_hand/turn/1/tool/0');
    expect(followed?.began(11)()).toBeUndefined();
  });
});
