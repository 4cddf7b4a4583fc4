/**
 * What is said between an agent and a model, in our own words. The ledger stores these, models translate them at their edge.
 * Without the schemas, which a process that only passes messages on need not load.
 */
import type { AssistantMessage, ToolCallPart, UserMessage } from './message-schemas.ts';

export type {
  AssistantMessage,
  CallCost,
  ImagePart,
  Message,
  PeerParts,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  Usage,
  UserMessage,
} from './message-schemas.ts';

/** A message of nothing but text. */
export const userText = (text: string): UserMessage => ({ role: 'user', content: [{ type: 'text', text }] });

export function textOf(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  let text = '';
  for (const part of parts) if (part.type === 'text') text += part.text ?? '';
  return text;
}

export function toolCallsOf(answer: AssistantMessage): ToolCallPart[] {
  return answer.content.filter((part): part is ToolCallPart => part.type === 'tool-call');
}
