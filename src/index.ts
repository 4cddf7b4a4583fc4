/** The library: what a program that embeds Troupe can use. Everything exported here is meant to stay. */

import type { AgentDefinition } from './agents/definition/definition.ts';
import { systemClock } from './base/clock.ts';
import { openProject } from './project/open.ts';
import type { Project } from './project/project.ts';
import type { Tool } from './tools/port.ts';

export interface TroupeOptions {
  /** The project's folder: where troupe.yaml, agents/ and .troupe/ are. */
  readonly root: string;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Agents beside those in files. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  /** Tools beside the built-in ones; agents name them in `tools`. */
  readonly tools?: readonly Tool[] | undefined;
  /** The model of agents that name none. */
  readonly model?: string | undefined;
}

/** Opens a project for use from a program. Close it when done. */
export function createTroupe(options: TroupeOptions): Promise<Project> {
  const { root, env = process.env, agents, tools, model } = options;
  return openProject({ cwd: root, root, env, clock: systemClock, flags: { model } }, { agents, tools });
}

export type { AgentDefinition } from './agents/definition/definition.ts';
export { TroupeError } from './base/errors.ts';
export type { RunId, SessionId } from './base/ids.ts';
export type { Engine, OpenWait, RunEnd, RunHandle, StartRequest } from './engine/port.ts';
export type { LedgerEvent } from './events/envelope.ts';
export { type Message, userText } from './events/messages.ts';
export type { Ledger } from './ledger/port.ts';
export type { RunResult } from './patterns/steps.ts';
export type { Project } from './project/project.ts';
export { errorResult, type Tool, type ToolContext, type ToolOutcome, textResult } from './tools/port.ts';
