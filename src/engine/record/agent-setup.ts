/**
 * Everything a run needs to know about its agent, fixed when it starts and recorded, so that a resumed run goes on with
 * the prompt, the tools and the models it began with even if the file has changed since.
 */

import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { hasOwnModels } from '../../agents/definition/executor.ts';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Budget, Payloads, Report } from '../../events/catalogue.ts';
import type { LoopLimits } from '../../loop/port.ts';
import { convergenceOf, type Pattern } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import type { Tool } from '../../tools/port.ts';

export interface AgentSetup {
  readonly definition: AgentDefinition;
  readonly system: string;
  readonly models: readonly string[];
  readonly tools: readonly Tool[];
}

export function setupPayload(setup: AgentSetup, patterns: readonly Pattern[] = registeredPatterns): Payloads['session.config'] {
  const { prompt: _prompt, ...definition } = setup.definition;
  return {
    agent: setup.definition.name,
    source: setup.definition.source,
    definition: { ...definition, models: setup.models } as unknown as Json,
    system: setup.system,
    tools: setup.tools.map(({ name, description, inputSchema, replay }) => ({ name, description, inputSchema, replay })),
    ...present({ config: convergenceOf(patterns, setup.definition) }),
  };
}

/** The definition as it was when the run started. The prompt is the expanded one. */
export function recordedDefinition(payload: Payloads['session.config']): AgentDefinition {
  return { ...(payload.definition as unknown as AgentDefinition), prompt: payload.system };
}

const ANY = Number.MAX_SAFE_INTEGER;

export function loopLimits(definition: AgentDefinition): LoopLimits {
  return {
    maxTurns: definition.maxTurns ?? (hasOwnModels(definition) ? limits.peerExchanges : limits.maxTurns),
    turnsBefore: 0,
    maxToolCallsPerTurn: definition.maxToolCallsPerTurn ?? limits.maxToolCallsPerTurn,
    // What an agent elsewhere, or an executor, keeps in mind is its own affair.
    contextWindow: hasOwnModels(definition) ? ANY : (definition.contextWindow ?? limits.contextWindowTokens),
    maxOutputTokens: definition.maxOutputTokens ?? limits.maxOutputTokens,
    loopNudgeAt: limits.loopNudgeAt,
    loopStopAt: limits.loopStopAt,
  };
}

export function outputContract(definition: AgentDefinition): { readonly format: Report['format']; readonly schema?: Json } {
  const schema = definition.output?.schema as Json | undefined;
  const format = definition.output?.format ?? (schema === undefined ? 'markdown' : 'json');
  return { format, ...present({ schema }) };
}

export function budgetOf(definition: AgentDefinition): Budget | undefined {
  if (definition.budget === undefined) return undefined;
  const { wall, allowUnknownPrices: _allowed, ...rest } = definition.budget;
  return wall === undefined ? rest : { ...rest, wallMs: wall };
}
