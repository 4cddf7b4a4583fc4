/** The library: what a program that embeds Troupe can use, as docs/library.md shows it. All that is exported is meant to stay. */

// First, before what such a Node would fail at.
import './base/node-version.ts';

export { type AgentDraft, defineAgent } from './agents/definition/define-agent.ts';
export type { AgentDefinition } from './agents/definition/definition.ts';
export type { ArtifactArchive, ArtifactScope, LookupProblem, Resolved } from './artifacts/archive.ts';
export type { FoundArtifact, RecordedEnvironment, StoredArtifact } from './artifacts/port.ts';
export { TroupeError } from './base/errors.ts';
export type { RunId, SessionId } from './base/ids.ts';
export type { Json } from './base/json.ts';
export type {
  Engine,
  LivePiece,
  OpenWait,
  PermissionWait,
  QuestionWait,
  ResumeTerms,
  RunEnd,
  RunHandle,
  StartRequest,
} from './engine/port.ts';
export type { Answer, Failure, Report, RunStatus, Verification } from './events/catalogue.ts';
export type { LedgerEvent } from './events/envelope.ts';
export type { ArtifactType } from './events/evidence.ts';
export type { Budget } from './events/going-on.ts';
export type { Message, UserMessage } from './events/message-schemas.ts';
export { userText } from './events/messages.ts';
export type { Ledger } from './ledger/port.ts';
export type { CompanyOptions, Decision, ResumeOptions, RunOptions, TextSource, TroupeOptions } from './library/run-options.ts';
export type { EndedRun, RunCost, RunFacts, RunOutcome, RunUsage, StoppedRun, WaitingRun } from './library/run-outcome.ts';
export { createTroupe, run, type Troupe } from './library/troupe.ts';
export type { RunResult } from './patterns/steps.ts';
export { defineTool, type InputSchema, type ToolDraft } from './tools/define-tool.ts';
export { errorResult, type OrdinaryTool, type ToolContext, type ToolOutcome, textResult } from './tools/port.ts';
