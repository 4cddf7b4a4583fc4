/**
 * How much of a tool's answer the model is given. One result is small enough for a good many turns to fit into the window, and
 * the results of one turn together leave room for what was said before; the whole is in the ledger.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { limits } from '../../base/limits.ts';
import type { ToolResultPart } from '../../events/messages.ts';
import { loopLimits } from '../record/agent-setup.ts';

/** Other scripts than the Latin one have up to three tokens for two characters, and those have two or three bytes. */
const BYTES_PER_TOKEN = { ascii: 4, others: 2 };
/** What a text begins with tells which script it is in. */
const LOOKED_AT = 4_096;
/** Shares of the room for the conversation: of one result whose agent says nothing about it, and of all results of a turn. */
const ONE_RESULT = 1 / 20;
const ALL_RESULTS = 1 / 4;
/** Less than this tells nothing. */
const LEAST_BYTES = 512;

/** For one of `beside` calls of a turn. */
export function resultBytes(definition: AgentDefinition, beside: number, content: ToolResultPart['content']): number {
  const { contextWindow, maxOutputTokens } = loopLimits(definition);
  const room = Math.max(0, contextWindow - maxOutputTokens) * bytesPerToken(content);
  const wanted = definition.toolResponseMaxBytes ?? Math.min(limits.toolResponseMaxBytes, Math.floor(room * ONE_RESULT));
  return Math.max(Math.min(wanted, LEAST_BYTES), Math.min(wanted, Math.floor((room * ALL_RESULTS) / Math.max(1, beside))));
}

function bytesPerToken(content: ToolResultPart['content']): number {
  let ascii = 0;
  let all = 0;
  for (const part of content) {
    if (part.type !== 'text') continue;
    const text = part.text.slice(0, LOOKED_AT);
    for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) <= 0x7f) ascii += 1;
    all += Buffer.byteLength(text);
  }
  if (all === ascii) return BYTES_PER_TOKEN.ascii;
  return all / (ascii / BYTES_PER_TOKEN.ascii + (all - ascii) / BYTES_PER_TOKEN.others);
}
