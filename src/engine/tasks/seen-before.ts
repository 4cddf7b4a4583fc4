/**
 * How commands end where a task began, before anything was done: in a place of its own, which nobody else ever sees and which
 * goes again. The executor has had no hand in it.
 */
import { join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { BeforeWanted, RanBefore } from '../../patterns/task-support.ts';
import type { Evidence } from '../../tools/port.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import type { LedgerAccess, ProofAccess, TaskAccess, TimeAndIds } from '../options.ts';
import type { Writes } from '../record/writes.ts';

export type LooksBefore = TimeAndIds & LedgerAccess & Writes & ProofAccess & TaskAccess & Pick<HearsOutside, 'atWork'>;

export interface SeenBefore {
  readonly ran: readonly RanBefore[];
  readonly unknown?: string;
}

export async function seenBefore(
  tree: LooksBefore,
  { task, place, commands }: BeforeWanted,
  signal: AbortSignal,
  /** The folder of the run in a repository that was brought along. */
  below = '',
): Promise<SeenBefore> {
  const { places, verifier, session } = tree;
  if (place.kind === 'in-place' || places === undefined || verifier === undefined)
    return { ran: [], unknown: 'nobody here can look' };
  // What an earlier life has left there was perhaps changed by a command that was cut off.
  await places.remove?.({ ...place, path: places.where({ session, task: beforeTask(task) }) }, beforeTask(task));
  const made = await places.prepare({ folder: place.repo, session, task: beforeTask(task), base: place.base, patch: NOTHING });
  if (!made.ok) return { ran: [], unknown: made.error.message };
  try {
    return { ran: await tree.atWork.during(() => runThere(tree, join(made.value.path, below), commands, signal)) };
  } finally {
    await places.remove?.(made.value, beforeTask(task));
  }
}

const NOTHING = new Uint8Array();
const beforeTask = (task: string): string => `${task}-before`;

/** The first that fails says enough. */
async function runThere(
  tree: LooksBefore,
  workspace: string,
  commands: readonly string[],
  signal: AbortSignal,
): Promise<readonly RanBefore[]> {
  const until = tree.clock.elapsed() + limits.taskBeforeMs;
  const all: RanBefore[] = [];
  for (const command of commands) {
    const timeoutMs = Math.max(1, Math.floor(until - tree.clock.elapsed()));
    const ran = await tree.verifier?.run(command, { workspace, signal, redact: tree.redact, timeoutMs });
    const one: RanBefore =
      ran?.ok === true ? { command, ...endedThere(ran.value.evidence, ran.value.failure) } : { command, ended: 'missing' };
    all.push(one);
    if (one.ended === 'failed') break;
  }
  return all;
}

/** As shells say that there is no such command, or none that can be run. */
const NOT_THERE: ReadonlySet<number | null> = new Set([126, 127]);

function endedThere(evidence: readonly Evidence[], failure: string | undefined): Omit<RanBefore, 'command'> {
  const ran = evidence.find((one) => one.type === 'cli.run')?.payload;
  if (ran?.stopped !== undefined) return { ended: 'stopped' };
  if (failure !== undefined) return { ended: NOT_THERE.has(ran?.exitCode ?? null) ? 'missing' : 'failed' };
  const report = evidence.find((one) => one.type === 'test.report')?.payload;
  return { ended: 'passed', ...present({ tests: report?.tests }) };
}
