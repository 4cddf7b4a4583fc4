/** The threads of a whole session, and assistants that are at work in any. */
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { createProcesses, type Process, processTypes } from '../../projections/processes.ts';
import { foldRunTree, initialRunTree } from '../../projections/run-tree.ts';
import { createSessionThreads } from '../../projections/threads.ts';
import { saidTo, threadsOf } from '../shown-threads.ts';
import { type Seer, visibleRuns } from '../sight.ts';

export async function readThreads(ledger: Pick<Ledger, 'read'>, session: SessionId, now: number) {
  const boxes = { sessionThreads: createSessionThreads(), processes: createProcesses() };
  const tree = initialRunTree();
  for await (const event of readEvents(ledger, { session })) {
    foldRunTree(tree, event);
    boxes.sessionThreads.apply(event);
    boxes.processes.apply(event);
  }
  const runs = [...tree.runs.values()];
  return { threads: threadsOf(boxes, runs, now), said: saidTo(boxes, runs, now) };
}

/** Spawned runs of the newest sessions that are not over, oldest first, and those that ended last. */
export async function readAssistants(ledger: Pick<Ledger, 'read' | 'runs'>, seer: Seer, now: number) {
  const roots = await visibleRuns(ledger, seer);
  const sessions = [...new Set(roots.map(({ session }: RunRow) => session))].slice(0, limits.assistantSessions);
  const found: ReturnType<typeof shownAssistant>[] = [];
  for (const session of sessions) {
    const processes = createProcesses();
    for await (const event of readEvents(ledger, { session, types: [...processTypes] })) processes.apply(event);
    for (const process of processes.all())
      if (process.spawnedBy !== null) found.push(shownAssistant({ ...process, spawnedBy: process.spawnedBy }, session, now));
  }
  return found.toSorted((left, right) => right.startedAt - left.startedAt).slice(0, limits.listedRuns);
}

function shownAssistant(process: Process & { readonly spawnedBy: string }, session: SessionId, now: number) {
  const { run, agent, parent, spawnedBy, status, startedAt, finishedAt, exitCode, pid, waits } = process;
  return {
    ...{ process: run, session, agent, parent, spawnedBy, status, startedAt, finishedAt, exitCode },
    ...{ pid: finishedAt === null ? pid : null, ageMs: Math.max(0, (finishedAt ?? now) - startedAt), waits: waits.length },
  };
}
