/**
 * Every bound in the product, in one place. Where a user may raise one, the name of the setting is beside it, and the
 * error that reports the limit names it too.
 */
const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

export const limits = {
  // agent files
  agentFileBytes: 1 * MIB,
  includeDepth: 8,
  agentFilesPerFolder: 5_000,

  // one agent (frontmatter keys of the same meaning override these)
  maxTurns: 10,
  maxToolCallsPerTurn: 10,
  maxRetries: 5,
  llmTimeoutMs: 10 * MINUTE,
  toolTimeoutMs: 5 * MINUTE,
  toolResponseMaxBytes: 12_288,
  contextWindowTokens: 131_072,
  maxOutputTokens: 4_096,
  loopNudgeAt: 3,
  loopStopAt: 5,

  // runs
  runDepth: 16,
  promptBytes: 4 * MIB,

  // ledger
  payloadInlineBytes: 64 * KIB,
  payloadBytes: 64 * MIB,
  appendQueueEvents: 100_000,
  readPageEvents: 1_000,
  leaseMs: 15 * SECOND,
  leaseRenewMs: 5 * SECOND,
  busyWaitMs: 5 * SECOND,

  // models
  modelResponseBytes: 32 * MIB,
  retryBaseMs: 500,
  retryMaxMs: 60 * SECOND,
  accountConcurrency: 64,

  // tools
  toolOutputBytes: 8 * MIB,
  readFileBytes: 16 * MIB,
  searchFiles: 20_000,
  searchMatches: 500,
  listEntries: 2_000,
  fetchBytes: 5 * MIB,
  fetchRedirects: 5,
  mcpStartMs: 30 * SECOND,
  mcpToolsPerServer: 500,
} as const;
