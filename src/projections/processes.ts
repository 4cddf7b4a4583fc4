/**
 * The processes of one session: its runs as somebody outside watches them, with a status, an exit code and the child process
 * that hosts them. Folded event by event; the records in it are replaced, never changed.
 */

import type { RunId } from '../base/ids.ts';
import type { EventType, RunStatus, Verification } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { parentRun, spawnerOf } from '../events/run-origin.ts';
import { succeeded } from '../events/succeeded.ts';

export interface Process {
  readonly run: RunId;
  readonly agent: string;
  readonly parent: RunId | null;
  /** The agent or client that spawned it; `null` when it was not spawned: then it has no thread of its own. */
  readonly spawnedBy: string | null;
  readonly status: 'starting' | 'running' | 'finished' | 'failed';
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly exitCode: number | null;
  /** What its answer was found to be worth, once it has finished. */
  readonly verification: Verification | null;
  /** The child process that hosts it at the moment. */
  readonly pid: number | null;
  /** Names of open waits: somebody has to answer before it can go on. */
  readonly waits: readonly string[];
}

export interface Processes {
  apply(event: LedgerEvent): void;
  find(run: string): Process | undefined;
  /** In the order in which they started. */
  all(): Iterable<Process>;
}

/** What has to be read to know the processes. */
export const processTypes = [
  ...(['run.started', 'run.ended', 'run.reopened', 'process.started', 'process.ended', 'model.request'] as const),
  ...(['approval.asked', 'task.clarify', 'approval.answered'] as const),
] as const satisfies readonly EventType[];

/** What a shell would see. */
const EXIT_CODES: Readonly<Record<RunStatus, number>> = {
  completed: 0,
  completed_unverified: 3,
  failed: 1,
  budget_exhausted: 4,
  cancelled: 130,
};

export const hasEnded = ({ status }: Pick<Process, 'status'>): boolean => status === 'finished' || status === 'failed';

export function createProcesses(): Processes {
  const byRun = new Map<string, Process>();
  return {
    find: (run) => byRun.get(run),
    all: () => byRun.values(),
    apply(event) {
      const known = byRun.get(event.run_id);
      if (event.event_type === 'run.started') {
        if (known === undefined) byRun.set(event.run_id, begun(event));
        return;
      }
      if (known === undefined) return;
      const next = after(known, event);
      if (next !== known) byRun.set(event.run_id, next);
    },
  };
}

function begun(event: EventOf<'run.started'>): Process {
  const parent = parentRun(event.payload);
  return {
    run: event.run_id,
    agent: event.payload.agent,
    parent: parent === undefined ? null : (parent as RunId),
    spawnedBy: spawnerOf(event.payload)?.by ?? null,
    status: 'starting',
    startedAt: Date.parse(event.timestamp),
    finishedAt: null,
    exitCode: null,
    verification: null,
    pid: null,
    waits: [],
  };
}

function after(process: Process, event: LedgerEvent): Process {
  switch (event.event_type) {
    case 'process.started':
      return { ...process, ...atWork(process), pid: event.payload.pid };
    case 'process.ended':
      return process.pid === event.payload.pid ? { ...process, pid: null } : process;
    case 'model.request':
      return process.status === 'starting' ? { ...process, status: 'running' } : process;
    case 'approval.asked':
    case 'task.clarify':
      return { ...process, waits: [...process.waits.filter((wait) => wait !== event.payload.wait), event.payload.wait] };
    case 'approval.answered':
      return { ...process, waits: process.waits.filter((wait) => wait !== event.payload.wait) };
    case 'run.ended':
      return hasEnded(process) ? process : ended(process, event);
    case 'run.reopened':
      return { ...process, status: 'running', finishedAt: null, exitCode: null, verification: null };
    default:
      return process;
  }
}

const atWork = (process: Process): Pick<Process, 'status'> => ({ status: hasEnded(process) ? process.status : 'running' });

function ended(process: Process, event: EventOf<'run.ended'>): Process {
  const { status, verification } = event.payload;
  const finished = succeeded({ status });
  return {
    ...process,
    status: finished ? 'finished' : 'failed',
    verification: finished ? verification : null,
    finishedAt: Date.parse(event.timestamp),
    exitCode: EXIT_CODES[status],
    waits: [],
  };
}
