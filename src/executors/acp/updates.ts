/** What an executor tells while it works, in our words. Kinds that nobody knows are left out, as the protocol asks for. */

import { chunkUpdate, modeUpdate, offeredFacts, planUpdate, toolCallSaid, usageSaid } from '../acp-wire/schemas.ts';
import type { ExecutorUpdate } from '../port.ts';
import type { Calls } from './calls.ts';
import { modeOption } from './choices.ts';

/** `undefined`: nothing to tell. `lost`: it was something, and could not be taken. */
export function updateOf(kind: string, raw: unknown, calls: Calls): ExecutorUpdate | 'lost' | undefined {
  switch (kind) {
    case 'agent_message_chunk':
      return said('text', raw);
    case 'agent_thought_chunk':
      return said('thought', raw);
    case 'tool_call':
    case 'tool_call_update': {
      const parsed = toolCallSaid.safeParse(raw);
      const call = parsed.success ? calls.said(parsed.data) : undefined;
      return call === undefined ? 'lost' : { kind: 'call', call };
    }
    case 'plan': {
      const parsed = planUpdate.safeParse(raw);
      if (!parsed.success) return 'lost';
      return { kind: 'plan', entries: parsed.data.entries.map(({ content: text, ...rest }) => ({ text, ...rest })) };
    }
    case 'current_mode_update': {
      const parsed = modeUpdate.safeParse(raw);
      return parsed.success ? { kind: 'mode', mode: parsed.data.currentModeId } : 'lost';
    }
    case 'config_option_update': {
      const parsed = offeredFacts.safeParse(raw);
      const mode = parsed.success ? modeOption(parsed.data)?.currentValue : undefined;
      return typeof mode === 'string' ? { kind: 'mode', mode } : undefined;
    }
    case 'usage_update':
      return usage(raw);
    default:
      return undefined;
  }
}

function said(kind: 'text' | 'thought', raw: unknown): ExecutorUpdate | 'lost' | undefined {
  const parsed = chunkUpdate.safeParse(raw);
  if (!parsed.success) return 'lost';
  const { text } = parsed.data.content;
  // Images and links in an answer are nothing that can be told as text.
  return text === undefined || text === '' ? undefined : { kind, text };
}

function usage(raw: unknown): ExecutorUpdate | 'lost' {
  const parsed = usageSaid.safeParse(raw);
  if (!parsed.success) return 'lost';
  const { used, size, cost } = parsed.data;
  return { kind: 'usage', used, size, ...(cost?.currency === 'USD' ? { costUsd: cost.amount } : {}) };
}
