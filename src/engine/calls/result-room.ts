/**
 * How much of a tool's answer the model is given. One result is small enough for a good many turns to fit into the window, and
 * the results of one turn together leave room for what was said before; the whole is in the ledger.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { limits } from '../../base/limits.ts';
import { loopLimits } from '../record/agent-setup.ts';

const BYTES_PER_TOKEN = 4;
/** Shares of the room for the conversation: of one result whose agent says nothing about it, and of all results of a turn. */
const ONE_RESULT = 1 / 20;
const ALL_RESULTS = 1 / 4;
/** Less than this tells nothing. */
const LEAST_BYTES = 512;

/** For one of `beside` calls of a turn. */
export function resultBytes(definition: AgentDefinition, beside: number): number {
  const { contextWindow, maxOutputTokens } = loopLimits(definition);
  const room = Math.max(0, contextWindow - maxOutputTokens) * BYTES_PER_TOKEN;
  const wanted = definition.toolResponseMaxBytes ?? Math.min(limits.toolResponseMaxBytes, Math.floor(room * ONE_RESULT));
  return Math.max(Math.min(wanted, LEAST_BYTES), Math.min(wanted, Math.floor((room * ALL_RESULTS) / Math.max(1, beside))));
}
