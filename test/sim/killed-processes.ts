/** Lives of processes that are killed on their way: by how far they got, never by the time they had. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Budget } from '../../src/events/catalogue.ts';
import { programOf, ROOM_FOR_THE_YOUNG } from '../support/programs/programs.ts';

const MAIN = await programOf(join(import.meta.dirname, 'killed-process-main.ts'));

/** What a life was doing when it said that it may be killed. */
export const moments = ['before a commit', 'after a commit', 'before an effect', 'after an effect', 'in a model call'] as const;
export type Moment = (typeof moments)[number];

export interface ProcessPlan {
  readonly folder: string;
  readonly runs: number;
  /** The number of its first run. */
  readonly firstRun?: number;
  /** Shared by all processes on the folder. */
  readonly budget?: Budget;
  /** It may be killed after this many steps, and stands still so many steps further. */
  readonly death?: { readonly after: number; readonly further: number };
}

export type ProcessEnd = { readonly kind: 'killed'; readonly moment: string } | { readonly kind: 'ended' };

/** Plays one life: it is killed as soon as it says that it has got far enough, unless it comes to its end before. */
export function runUntilKilled(plan: ProcessPlan): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...ROOM_FOR_THE_YOUNG, MAIN, JSON.stringify(plan)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let complaint = '';
    let said = '';
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    child.stdout.on('data', (chunk) => {
      said += chunk;
      child.kill('SIGKILL');
    });
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve({ kind: 'killed', moment: said.trim().replace(/^now /, '') });
      else if (code === 0) resolve({ kind: 'ended' });
      else reject(new Error(`the process failed with ${code ?? signal}: ${complaint}`));
    });
  });
}
