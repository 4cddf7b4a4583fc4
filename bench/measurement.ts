/** The words of the results: workloads, figures and what came of a measurement. Shared by worker, runner and tables. */

export const workloadNames = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'crash'] as const;
export type WorkloadName = (typeof workloadNames)[number];

/** How many turns the runs of w3 have. */
export const growthTurns = [10, 50, 200, 500] as const;

export const figureNames = [
  'msPerTurn',
  'p95MsPerTurn',
  'cpuMsPerTurn',
  'runsPerSecond',
  'wallMs',
  'p95WallMs',
  'cpuMs',
  'delayedWallMs',
  'coldMs',
  'peakRssMb',
  'kbPerSession',
  'diskBytes',
  'writtenBytes',
  'peakInFlight',
  'serverCpuShare',
  'resultsOnDisk',
  'repeatedModelCalls',
  'repeatedToolCalls',
] as const;
export type FigureName = (typeof figureNames)[number];
/** A figure that the machine cannot give (such as bytes written, off Linux) is absent. */
export type Figures = { readonly [Name in FigureName]?: number };

/** What a worker process says about itself when it is done. */
export interface WorkerReport {
  readonly figures: Figures;
  /** Why the measurement does not count. Empty when it does. */
  readonly errors: readonly string[];
  readonly cpuTotalMs: number;
}

export type Outcome =
  | {
      readonly kind: 'measured';
      readonly figures: Figures;
      /** What other processes used of all CPUs meanwhile. */
      readonly foreignPercent?: number;
      /** More than one when the machine was not quiet enough; the one with the least foreign load is kept. */
      readonly attempts: number;
    }
  | { readonly kind: 'failed'; readonly errors: readonly string[] }
  /** Not tried. */
  | { readonly kind: 'missing'; readonly why: string };

export interface Row {
  readonly repetition: number;
  readonly workload: WorkloadName;
  /** Set for w3 only. */
  readonly turns?: number;
  readonly system: string;
  readonly outcome: Outcome;
}

export interface Results {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGib: number;
    readonly platform: string;
    readonly node: string;
    readonly sqlite: string;
  };
  readonly startedAt: string;
  readonly seconds: number;
  readonly mode: 'quick' | 'full';
  readonly repetitions: number;
  readonly quietPercent: number;
  readonly systems: readonly { readonly name: string; readonly keeps: string }[];
  readonly rows: readonly Row[];
}

/** How long to measure. Quick figures are good for a look, not for a claim. */
export interface Pace {
  readonly repetitions: number;
  readonly warmMs: number;
  readonly measureMs: number;
  readonly delayedRuns: number;
  readonly coldStarts: number;
  /** How long a look at the load of the machine takes, and how long to wait at most until it is quiet. */
  readonly lookMs: number;
  readonly waitMs: number;
  readonly attempts: number;
  /** No measurement takes longer. */
  readonly jobMs: number;
  /** After this no waiting, repeating or further repetition; what is not measured by then is reported as missing. */
  readonly totalMs: number;
}

export const paces: { readonly quick: Pace; readonly full: Pace } = {
  quick: {
    repetitions: 1,
    warmMs: 700,
    measureMs: 1_000,
    delayedRuns: 3,
    coldStarts: 4,
    lookMs: 300,
    waitMs: 1_500,
    attempts: 1,
    jobMs: 40_000,
    totalMs: 130_000,
  },
  full: {
    repetitions: 3,
    warmMs: 2_000,
    measureMs: 3_000,
    delayedRuns: 5,
    coldStarts: 8,
    lookMs: 1_000,
    waitMs: 15_000,
    attempts: 2,
    jobMs: 120_000,
    totalMs: 720_000,
  },
};
