/** The two measurements that are taken from outside of the worker: the cold start, and what survives a SIGKILL. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pace, WorkerReport } from './measurement.ts';
import { filesIn, quantile } from './meter.ts';
import { type FakeServer, runWorker, withFolder } from './processes.ts';

/** Process start to first model request, several times. The first start only warms the page cache. */
export async function probeColdStart(server: FakeServer, pace: Pace, system: string): Promise<WorkerReport> {
  const waits: number[] = [];
  const memory: number[] = [];
  const processor: number[] = [];
  for (let index = 0; index < pace.coldStarts; index += 1) {
    await server.control.ask('/reset');
    const startedAtMs = Number(process.hrtime.bigint()) / 1e6;
    const report = await withFolder((folder) =>
      runWorker(server.origin, pace, { system, workload: 'w5', folder, timeoutMs: pace.jobMs }),
    );
    const { requests, firstRequestAtMs } = await server.control.stats();
    const errors = [...report.errors, ...(requests === 1 ? [] : [`the server saw ${requests} model requests, not 1`])];
    if (errors.length > 0) return { ...report, errors };
    processor.push(report.cpuTotalMs);
    if (index === 0) continue;
    waits.push(firstRequestAtMs - startedAtMs);
    memory.push(report.figures.peakRssMb ?? Number.NaN);
  }
  const cpuTotalMs = processor.reduce((sum, one) => sum + one, 0);
  const figures = { coldMs: quantile(waits, 0.5), cpuMs: quantile(processor, 0.5), peakRssMb: quantile(memory, 0.5) };
  return { figures, errors: [], cpuTotalMs };
}

/** Kills a run of ten turns while its seventh model call is under way, looks what is on disk, and resumes it. */
export function probeCrash(server: FakeServer, pace: Pace, system: string): Promise<WorkerReport> {
  return withFolder(async (folder) => {
    const job = { system, folder, timeoutMs: pace.jobMs };
    await server.control.ask('/stall/on');
    await server.control.ask('/reset');
    let child: ChildProcess | undefined;
    let over = false;
    const killed = runWorker(server.origin, pace, {
      ...job,
      workload: 'crash',
      onStart: (started) => {
        child = started;
        child.on('exit', () => {
          over = true;
        });
      },
    });
    while (!over && (await server.control.stats()).stalled === 0) await delay(20);
    child?.kill('SIGKILL');
    const report = await killed;
    if (over && child?.signalCode !== 'SIGKILL') return report;

    const resultsOnDisk = countResults(folder);
    await server.control.ask('/stall/off');
    await server.control.ask('/reset');
    const resumed = await runWorker(server.origin, pace, { ...job, workload: 'resume' });
    await server.control.ask('/stall/on');
    return { ...resumed, figures: { ...resumed.figures, resultsOnDisk } };
  });
}

/** How many of the tool's results a folder holds, found by the marks in their text. */
function countResults(folder: string): number {
  const pages = new Set<string>();
  for (const file of filesIn(folder)) {
    for (const match of readFileSync(file, 'latin1').matchAll(/MARK-(\d+)-/g)) if (match[1] !== undefined) pages.add(match[1]);
  }
  return pages.size;
}
