/** What a front-end sends: the whole thread each time, or answers to what a run asked. */
import { z } from 'zod';
import { fenced, fenceNote } from '../../base/fence.ts';
import { limits } from '../../base/limits.ts';
import type { UserMessage } from '../../events/messages.ts';

const id = z.string().min(1).max(limits.a2aIdCharacters);
const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({ role: z.string(), content: z.unknown().optional() });

export const runInput = z.looseObject({
  threadId: id,
  runId: id,
  messages: z.array(message).max(limits.chatMessages).default([]),
  context: z
    .array(z.looseObject({ description: z.string(), value: z.string() }))
    .max(100)
    .default([]),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string().max(1_000),
        status: z.enum(['resolved', 'cancelled']),
        payload: z.unknown().optional(),
      }),
    )
    .max(100)
    .optional(),
});
export type RunInput = z.infer<typeof runInput>;

/** What the user said since the agent spoke last; nothing when that is nothing. */
export function promptIn(
  { messages, context }: RunInput,
  nonce: string,
): { readonly input: UserMessage; readonly text: string } | undefined {
  const last = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const said = messages.slice(last + 1).filter(({ role }) => role === 'user');
  const text = said.map(({ content }) => textIn(content)).join('\n\n');
  if (text.trim() === '') return undefined;
  const about = context.map(({ description, value }) => fenced('context', nonce, `(${description})\n${value}`));
  const more = about.length === 0 ? '' : `\n\n${about.join('\n')}\n${fenceNote(nonce)}`;
  return { text, input: { role: 'user', content: [{ type: 'text', text: text + more }] } };
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = z.array(part).safeParse(content);
  return parts.success ? parts.data.flatMap(({ text }) => text ?? []).join('\n') : '';
}
