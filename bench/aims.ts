/** What the project promises about its own cost, as ratios to the floor, and which figures decide. */
import type { FigureName, WorkloadName } from './measurement.ts';

export interface Aim {
  readonly what: string;
  readonly workload: WorkloadName;
  readonly turns?: number;
  readonly figure: FigureName;
  /** The largest allowed ratio to the floor. */
  readonly atMost: number;
}

export const aims: readonly Aim[] = [
  { what: 'one agent, 10 turns, CPU', workload: 'w1', figure: 'cpuMsPerTurn', atMost: 1.5 },
  { what: 'one agent, 50 turns, CPU per turn', workload: 'w3', turns: 50, figure: 'cpuMsPerTurn', atMost: 1.5 },
  { what: 'one agent, 200 turns, CPU per turn', workload: 'w3', turns: 200, figure: 'cpuMsPerTurn', atMost: 1.5 },
  { what: 'one agent, 500 turns, CPU per turn', workload: 'w3', turns: 500, figure: 'cpuMsPerTurn', atMost: 1.5 },
  { what: 'bytes on disk after 500 turns', workload: 'w3', turns: 500, figure: 'diskBytes', atMost: 2 },
  { what: '200 runs, 50 at a time, CPU', workload: 'w2', figure: 'cpuMsPerTurn', atMost: 1.5 },
  { what: 'supervisor with 8 sub-agents, wall time', workload: 'w4', figure: 'wallMs', atMost: 1.5 },
  { what: '1,000 concurrent 3-turn runs, CPU', workload: 'w6', figure: 'cpuMs', atMost: 1.5 },
  { what: 'process start to first model request', workload: 'w5', figure: 'coldMs', atMost: 2.5 },
];
