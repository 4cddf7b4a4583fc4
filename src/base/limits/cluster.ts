/** Bounds of the engine on many machines. */
import { MINUTE, SECOND } from './units.ts';

export const clusterLimits = {
  ingressAttempts: 8,
  ingressRetryMs: 50,
  ingressMs: 10 * SECOND,
  ingressLaterMs: 3 * SECOND,
  restateInactivityMs: 5 * SECOND,
  restateAbortMs: 60 * MINUTE,
  restateRetryMs: 100,
  restateRetryMaxMs: 10 * SECOND,
  restateAttempts: 10_000_000,
  workerConcurrency: 100, // option: worker --concurrency
  workerRequestsPerConnection: 10,
  workerDrainMs: 30 * SECOND,
  registerAttempts: 60,
  registerRetryMs: 1 * SECOND,
  stallCheckMs: 1 * SECOND,
  clusterWorkers: 64,
  workerRestarts: 100,
  workerRestartMs: 1 * SECOND,
  deploymentsShown: 100,
  clockSkewMs: 5 * SECOND,
  serverStartAttempts: 1_800,
  serverStartMs: 100,
  quietCheckMs: 50,
  quietCheckMaxMs: 2 * SECOND,
} as const;
