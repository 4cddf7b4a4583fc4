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
  frontmatterBytes: 64 * KIB,
  frontmatterDepth: 64,
  frontmatterAliases: 100,
  includeDepth: 8,
  includesPerAgent: 200,
  diagnosticsPerFile: 100,
  agentFilesPerFolder: 5_000,

  // presets and Squad teams
  presetsPerFile: 1_000,
  presetTextCharacters: 100_000,
  presetWorkerTurns: 40,
  charterCharacters: 4_000,
  groupWorkers: 100,
  squadAgentFolders: 500,

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
  groupNudges: 3,
  reflectIterations: 5,
  reflectErrors: 3,
  reflectBackOffMs: 2 * SECOND,
  workerTimeoutMs: 10 * MINUTE,
  collectTimeoutMs: 15 * MINUTE,
  contextCharacters: 8_000,
  broadcastBytes: 256 * KIB,
  promptBytes: 4 * MIB,
  savedGroups: 1_000,
  groupNameCharacters: 100,
  queuedPrompts: 100,
  organisationWaitMs: 60 * SECOND,
  gitMs: 2 * MINUTE,

  // assistants and runners (the settings of `assistants` in troupe.yaml override these)
  assistantsActive: 8,
  assistantsPerParent: 16,
  assistantsPerSession: 64,
  assistantDepth: 5,
  assistantLifetimeMs: 24 * 60 * MINUTE,
  assistantWaitMs: 4 * MINUTE,
  messageBytes: 64 * KIB,
  messagesPerThread: 10_000,
  messagesPerRead: 200,
  messagesPerTurn: 50,
  contextAssistants: 10,
  runnerMemoryMiB: 256,
  runnerWarm: 1,
  runnerRestarts: 3,
  runnerLineBytes: 64 * MIB,
  runnerStartMs: 30 * SECOND,
  runnerGarbageBytes: 8 * KIB,

  // search
  searchQueryCharacters: 2_000,
  searchTerms: 32,
  searchResults: 100,

  // servers
  httpBodyBytes: 4 * MIB,
  httpHeadersMs: 30 * SECOND,
  httpConnections: 512,
  resourceBytes: 1 * MIB,
  listPage: 100,

  // ledger
  payloadInlineBytes: 64 * KIB,
  payloadBytes: 64 * MIB,
  appendQueueEvents: 100_000,
  readPageEvents: 1_000,
  leaseMs: 15 * SECOND,
  leaseRenewMs: 5 * SECOND,
  busyWaitMs: 5 * SECOND,
  busyBlockMs: 2,
  appendBatchEvents: 2_000,
  memoEntries: 20_000,
  safetyCheckMs: 2 * SECOND,
  secretLength: 8,

  // models
  modelResponseBytes: 32 * MIB,
  retryBaseMs: 500,
  retryMaxMs: 60 * SECOND,
  accountConcurrency: 1_000,
  modelConnections: 1_000,
  modelConnectMs: 10 * SECOND,
  modelIdleMs: 3 * MINUTE,
  modelProbeMs: 1 * SECOND,
  modelErrorCharacters: 300,
  repairCharacters: 1 * MIB,
  repairDepth: 100,
  scriptFileBytes: 4 * MIB,
  scriptReplies: 10_000,

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
  mcpProbeMs: 5 * SECOND,
  mcpMessageBytes: 16 * MIB,
  mcpStderrBytes: 8 * KIB,
  imageBytes: 5 * MIB,
  readLines: 2_000,
  readLineCharacters: 2_000,
  pathCharacters: 4_096,
  walkEntries: 200_000,
  searchMs: 20 * SECOND,
  searchFileBytes: 4 * MIB,
  diffBytes: 16 * KIB,
  diffEdits: 400,
  shellTextBytes: 256 * KIB,
  stopGraceMs: 2 * SECOND,
  fetchMs: 60 * SECOND,

  // command line
  projectSearchDepth: 64,
  runLookup: 10_000,
  liveFramesPerSecond: 10,
  liveTextCharacters: 16_384,
  questionsPerRun: 1_000,
} as const;
