/**
 * One turn's tool calls: handed over together, in the order they were asked, and answered in it. Which of them run beside each
 * other is for the tools to say. Calls that cannot be run (too many,
 * broken arguments, no such tool) get an error result, so that every call has exactly one result.
 */
import type { ToolCallPart, ToolResultPart } from '../events/messages.ts';
import type { ToolSpec } from '../models/port.ts';
import type { LoopTools } from './port.ts';
import { malformedArguments, tooManyCalls, unknownTool } from './prompts.ts';

export async function runToolCalls(
  turn: number,
  calls: readonly ToolCallPart[],
  offered: readonly ToolSpec[],
  tools: LoopTools,
  maxCalls: number,
): Promise<ToolResultPart[]> {
  const names = new Set(offered.map((spec) => spec.name));
  const started = calls.map((call, index): Promise<ToolResultPart> => {
    const refusal = refuse(call, index, names, maxCalls);
    return refusal === undefined ? tools.call(turn, index, call, calls.length) : Promise.resolve(refusal);
  });
  // All are let finish before a failure of the runtime itself is passed on: nothing may go on behind the caller's back.
  const settled = await Promise.allSettled(started);
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

function refuse(call: ToolCallPart, index: number, names: ReadonlySet<string>, maxCalls: number): ToolResultPart | undefined {
  if (index >= maxCalls) return turnedAway(call, tooManyCalls(maxCalls));
  if (call.malformed !== undefined) return turnedAway(call, malformedArguments(call.malformed));
  if (!names.has(call.name)) return turnedAway(call, unknownTool(call.name, [...names]));
  return undefined;
}

const turnedAway = (call: ToolCallPart, message: string): ToolResultPart => ({ ...errorPart(call, message), turnedAway: true });

export function errorPart(call: ToolCallPart, message: string): ToolResultPart {
  return { type: 'tool-result', id: call.id, name: call.name, content: [{ type: 'text', text: message }], isError: true };
}
