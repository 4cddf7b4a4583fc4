/** Bounds of agents: their files, the groups that they come in, one of them at work, looking for one. */
import { KIB, MIB, MINUTE } from './units.ts';

export const agentLimits = {
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
  groupSessionsKept: 1_000,
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

  // search
  searchQueryCharacters: 2_000,
  searchTerms: 32,
  searchResults: 100,
  searchCandidates: 500,
} as const;
