/**
 * Every bound in the product, in one place. Behind one that a user may change stands where: a key of an agent file (`agent:`), a
 * key of `troupe.yaml`, or an option of a command (`option:`); `test/limits.test.ts` holds this against the real ones. All others
 * are fixed.
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
  agentFilesPerFolder: 12_000,

  // presets and Squad teams
  presetsPerFile: 1_000,
  presetTextCharacters: 100_000,
  presetWorkerTurns: 40,
  charterCharacters: 4_000,
  groupWorkers: 100,
  squadAgentFolders: 500,

  // one agent
  maxTurns: 10, // agent: maxTurns
  maxToolCallsPerTurn: 10, // agent: maxToolCallsPerTurn
  maxRetries: 5, // agent: maxRetries
  llmTimeoutMs: 10 * MINUTE, // agent: llmTimeout
  toolTimeoutMs: 5 * MINUTE, // agent: toolTimeout
  toolResponseMaxBytes: 12_288, // agent: toolResponseMaxBytes
  contextWindowTokens: 131_072, // agent: contextWindow
  maxOutputTokens: 4_096, // agent: maxOutputTokens
  plausibleTokens: 100_000_000,
  loopNudgeAt: 3,
  loopStopAt: 5,
  conversationMessages: 200,
  conversationsKept: 32,
  conversationTokensKept: 4_000_000,
  pastsKept: 32,
  pastCharactersKept: 16 * MIB,

  // runs
  runDepth: 16,
  groupNudges: 3,
  verificationReasons: 20,
  verificationReasonCharacters: 500,
  claimCharacters: 200,
  reflectIterations: 5, // agent: group.maxIterations
  reflectErrors: 3,
  evaluationTurns: 2,
  reflectBackOffMs: 2 * SECOND,
  workerTimeoutMs: 10 * MINUTE, // agent: group.workerTimeout
  collectTimeoutMs: 15 * MINUTE, // agent: group.collectTimeout
  choiceConfidence: 0.7, // agent: dispatch.confidenceThreshold
  choiceAttempts: 3, // agent: dispatch.maxAttempts
  choiceTemperature: 0.3, // agent: dispatch.temperature
  choiceOutputTokens: 500, // agent: dispatch.maxOutputTokens
  dispatchTimeoutMs: 30 * SECOND, // agent: dispatch.timeout
  dispatchRetries: 2, // agent: dispatch.retries
  dispatchRetryMs: 1 * SECOND, // agent: dispatch.retryDelay
  dispatchRetriesMax: 10,
  dispatchTemplateCharacters: 20_000,
  dispatchClarifications: 3,
  dispatchQuestions: 5,
  catalogueCharacters: 1_000,
  catalogueExamples: 5,
  catalogueExampleCharacters: 200,
  runsRecalled: 1_000,
  choicesRecalled: 100,
  contextCharacters: 8_000,
  broadcastBytes: 256 * KIB,
  promptBytes: 4 * MIB,
  savedGroups: 1_000,
  groupNameCharacters: 100,
  queuedPrompts: 100,
  organisationWaitMs: 60 * SECOND,
  gitMs: 2 * MINUTE,

  // assistants and runners
  assistantsActive: 8, // troupe.yaml: assistants.active
  assistantsPerParent: 16, // troupe.yaml: assistants.perParent
  assistantsPerSession: 64, // troupe.yaml: assistants.perSession
  assistantDepth: 5, // troupe.yaml: assistants.depth
  assistantLifetimeMs: 24 * 60 * MINUTE, // troupe.yaml: assistants.lifetime
  assistantWaitMs: 4 * MINUTE,
  messageBytes: 64 * KIB,
  messagesPerThread: 10_000,
  messagesPerRead: 200,
  messagesPerTurn: 50,
  messagesUnheard: 100,
  contextAssistants: 10,
  messageSessionsKept: 64,
  messageCharactersKept: 64 * MIB,
  familyMembersKept: 10_000,
  idleCheckMs: 1 * SECOND,
  takeUpAfterMs: 2 * SECOND,
  waitProgressMs: 1 * SECOND,
  runnerMemoryMiB: 256, // troupe.yaml: assistants.memory
  runnerWarm: 1, // troupe.yaml: assistants.warm
  runnerRestarts: 3, // troupe.yaml: assistants.restarts
  runnerLineBytes: 64 * MIB,
  runnerStartMs: 2 * MINUTE,
  runnerGraceMs: 10 * SECOND,
  runnerGarbageBytes: 8 * KIB,
  runnerPendingCalls: 1_000,

  // search
  searchQueryCharacters: 2_000,
  searchTerms: 32,
  searchResults: 100,
  searchCandidates: 500,

  // servers
  httpBodyBytes: 4 * MIB,
  httpHeadersMs: 30 * SECOND,
  httpConnections: 512,
  resourceBytes: 1 * MIB,
  resourceLines: 1_000,
  listPage: 100,
  listedRuns: 1_000,
  mcpProgressMs: 15 * SECOND,
  idempotencyKeyCharacters: 200,
  serverStopMs: 3 * SECOND,
  callersPerServer: 1_000,
  tokenCharacters: 1_000,

  // tasks
  taskHistory: 50,
  taskMessageCharacters: 64_000,
  taskResultCharacters: 1_000_000,
  taskAnswerCharacters: 8_000,
  taskFiles: 500,
  taskSelections: 100,
  taskCharacters: 16 * MIB,
  taskDepth: 64,
  taskTtlMs: 24 * 60 * MINUTE, // troupe.yaml: tasks.ttl
  taskRunsFollowed: 1_000,
  taskRunsBehind: 10_000,
  taskCatchUp: 1_000,
  taskCatchUpPage: 50,
  taskCatchUpMs: 1 * MINUTE,
  taskRoundMs: 25,
  taskCloseMs: 1 * SECOND,
  redisConnectMs: 5 * SECOND,
  redisCommandMs: 5 * SECOND,
  redisRetryMs: 250,
  redisRetryMaxMs: 10 * SECOND,
  redisScanCount: 1_000,
  redisScanKeys: 10_000,

  // A2A
  a2aAgents: 1_000,
  a2aIdCharacters: 200,
  a2aParts: 50,
  a2aTasksPerCaller: 100,
  a2aTasksListed: 10_000,
  a2aPage: 100,
  a2aStreamsPerCaller: 100,
  a2aStreamStuckMs: 60 * SECOND,
  a2aStreamTextCharacters: 64 * KIB,
  a2aEarlyPieces: 10_000,
  a2aBlockingMs: 30 * MINUTE,
  a2aCancelMs: 10 * SECOND,
  a2aFilesPerTask: 20,
  a2aPushConfigs: 10,
  a2aPushUrlCharacters: 2_000,
  a2aPushMs: 10 * SECOND,
  a2aPushAttempts: 8,
  a2aPushRetryMs: 1 * SECOND,
  a2aPushRetryMaxMs: 60 * SECOND,
  a2aPushAtATime: 50,
  a2aCardSeconds: 60,
  a2aFoldsKept: 64,
  a2aOriginsKept: 20_000,

  // cards of agents that live elsewhere
  cardBytes: 1 * MIB,
  cardDepth: 32,
  cardInterfaces: 100,
  cardSkills: 1_000,
  cardMs: 10 * SECOND,
  cardFreshMs: 60 * MINUTE,
  cardKeptMs: 24 * 60 * MINUTE,
  cardsKept: 500,
  cardReasonCharacters: 500,

  // agents that live elsewhere
  peerUrlCharacters: 2_000,
  peerIdCharacters: 500,
  peerMessageBytes: 1 * MIB,
  peerAnswerBytes: 1 * MIB,
  peerArtifacts: 50,
  peerArtifactBytes: 1 * MIB,
  peerQuestionCharacters: 4_000,
  peerReasonCharacters: 2_000,
  peerExchanges: 20,
  peerStreamBytes: 64 * MIB,
  peerStreamEvents: 20_000,
  peerSilenceMs: 60 * SECOND,
  peerCallMs: 30 * SECOND,
  peerPollMs: 1 * SECOND,
  peerPollMaxMs: 30 * SECOND,
  peerAttempts: 5,
  peerRetryMs: 500,
  peerRetryMaxMs: 10 * SECOND,
  peerCancelMs: 10 * SECOND,
  peerHistory: 20,
  peerTasksListed: 50,

  // the engine on many machines
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
  rebuildAttempts: 10,
  memoEntries: 20_000,
  safetyCheckMs: 2 * SECOND,
  secretLength: 8,
  databaseConnectMs: 30 * SECOND,
  databaseRetryMs: 30 * SECOND,
  databaseLockMs: 30 * SECOND,
  databaseQueryMs: 60 * SECOND,
  databaseIdleMs: 5 * SECOND,
  databaseReaders: 4,
  appendBatchLocks: 400,
  appendBatchBytes: 16 * MIB,
  copyPageEvents: 500,
  copyPageNames: 1_000,
  bucketMs: 10 * SECOND,
  bucketBodyMs: 60 * SECOND,
  bucketRemoveMs: 3 * SECOND,
  bucketAttempts: 10,
  bucketPatienceMs: 30 * SECOND,
  bucketRetryMs: 100,
  bucketRetryMaxMs: 2 * SECOND,
  bucketPageKeys: 1_000,
  bucketPages: 100_000,
  bucketAnswerBytes: 4 * MIB,

  // models
  modelResponseBytes: 32 * MIB,
  retryBaseMs: 500,
  retryMaxMs: 60 * SECOND,
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
  repairCharacters: 1 * MIB,
  repairDepth: 100,
  scriptFileBytes: 4 * MIB,
  scriptReplies: 10_000,

  // tools
  toolOutputBytes: 8 * MIB,
  readFileBytes: 16 * MIB,
  /** How long a change of a file waits for those of other processes. */
  fileLockMs: 30 * SECOND,
  searchFiles: 20_000,
  searchMatches: 500,
  listEntries: 2_000,
  fetchBytes: 5 * MIB,
  fetchRedirects: 5,
  mcpStartMs: 30 * SECOND,
  mcpToolsPerServer: 500,
  foreignServers: 200,
  watchedFolders: 64,
  watchRuns: 100,
  watchSettleMs: 150,
  watchSettleMaxMs: 2 * SECOND,
  allowedServers: 10_000,
  serverPieces: 1_000,
  serverFolders: 8,
  serverFiles: 1_000,
  mcpProbeMs: 5 * SECOND,
  mcpMessageBytes: 16 * MIB,
  mcpStderrBytes: 8 * KIB,
  imageBytes: 5 * MIB,
  readLines: 2_000,
  readLineCharacters: 2_000,
  pathCharacters: 4_096,
  walkEntries: 200_000,
  /** Protected files that are looked at before and after a command. */
  watchedFiles: 2_000,
  searchMs: 20 * SECOND,
  searchFileBytes: 4 * MIB,
  diffBytes: 16 * KIB,
  diffEdits: 400,
  shellTextBytes: 256 * KIB,
  ruleCharacters: 4_000,
  rememberedRules: 1_000,
  stopGraceMs: 2 * SECOND,
  fingerprintFiles: 50_000,
  fingerprintBytes: 512 * MIB,
  fingerprintTextBytes: 256 * KIB,
  fingerprintTextsBytes: 32 * MIB,
  fingerprintPrograms: 10_000,
  programBytes: 4 * MIB,
  noticedChanges: 2_000,
  /** Workspaces whose files are remembered. */
  watchedPlaces: 256,
  scriptBytes: 64 * KIB,
  summaryLineCharacters: 2_000,
  verifyCommands: 20,
  verifyCharacters: 10_000,
  verifyRetries: 5,
  verifyMs: 10 * MINUTE, // agent, troupe.yaml: verify.timeout
  fetchMs: 60 * SECOND,

  // command line
  projectSearchDepth: 64,
  runLookup: 10_000,
  completedRuns: 50,
  permissionSessions: 20,
  measuredRequests: 1_000,
  measuredFileBytes: 4 * MIB,
  notificationCharacters: 200,
  notificationMs: 5_000,
  liveFramesPerSecond: 10,
  liveTextCharacters: 16_384,
  questionsPerRun: 1_000,
  keysWaiting: 10_000,
  chatHistory: 100,
  attachedFiles: 20,
  attachedFileBytes: 256 * KIB,
  requestCharacters: 16_000,
  editedBytes: 4 * MIB,
  renderedCharacters: 100_000,
  renderedSigns: 2_000,
  exportTextCharacters: 1_000_000,
  attachColumns: 40,
  attachRows: 10,
  attachEntries: 200,
  attachLookMs: 2_000,
  inboxLookMs: 250,
  inboxTakeUpMs: 1_500,
  /** So many characters of its hash stand for what was shown, at the least. */
  shownCharacters: 8,
} as const;
