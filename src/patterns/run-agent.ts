/**
 * One run of one agent: advisors, then the core, then the router's choice, then the handoff. The core is a plain session
 * unless the agent declares another. Patterns that this release only parses are named here and refused before a run starts.
 */
import type { AgentDefinition } from '../agents/definition.ts';
import type { UserMessage } from '../events/messages.ts';
import type { SessionResult } from '../session/port.ts';
import type { RunResult, Steps } from './steps.ts';

export interface AgentRun {
  readonly agent: AgentDefinition;
  readonly input: UserMessage;
  readonly steps: Steps;
  /** The agent's own session: turns until it reports. */
  session(input: UserMessage): Promise<SessionResult>;
}

const PATTERN_KEYS = ['agents', 'chat', 'advisors', 'router', 'handoff', 'team', 'group', 'dispatch', 'architect'] as const;

/** Keys that the agent declares and that cannot be run yet. */
export function notYet(agent: AgentDefinition): string[] {
  const patterns = PATTERN_KEYS.filter((key) => agent[key] !== undefined && agent[key] !== false);
  return agent.isolation === 'process' ? [...patterns, 'isolation: process'] : [...patterns];
}

export async function runAgent(run: AgentRun): Promise<RunResult> {
  const { status, report, claims, error } = await run.session(run.input);
  return { status, report, finalAgent: run.agent.name, claims, error };
}
