/** Bounds of models, their accounts and providers. */
import { MIB, MINUTE, SECOND } from './units.ts';

export const modelLimits = {
  modelResponseBytes: 32 * MIB,
  retryBaseMs: 500,
  retryMaxMs: 60 * SECOND,
  retryPauseMs: 30 * SECOND,
  outagePatienceMs: 5 * MINUTE, // agent: outagePatience
  outageFailures: 200,
  accountConcurrency: 1_000,
  quotaLeaseMs: 5 * SECOND,
  quotaRenewMs: 1 * SECOND,
  quotaRetryMs: 250,
  quotaGapMs: 25,
  quotaTurnMs: 2 * SECOND,
  modelConnections: 1_000,
  modelConnectMs: 10 * SECOND,
  modelIdleMs: 3 * MINUTE,
  modelProbeMs: 1 * SECOND,
  modelErrorCharacters: 300,
  modelListMs: 5 * SECOND,
  modelsListed: 1_000,
  // OpenAI takes no fewer.
  doctorAnswerTokens: 16,
  doctorModelMs: 20 * SECOND,
  doctorModels: 8,
  doctorPeers: 8,
  doctorPeerMs: 10 * SECOND,
  doctorExecutors: 4,
  doctorExecutorMs: 30 * SECOND,
  repairCharacters: 1 * MIB,
  repairDepth: 100,
  scriptFileBytes: 4 * MIB,
  scriptReplies: 10_000,
} as const;
