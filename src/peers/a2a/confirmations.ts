/**
 * Leave that a peer asks for in data, as coding agents do that work with the tools of Gemini CLI: what it wants to do comes as
 * one piece of data for each call while it works, and the status that waits says nothing of it. The answer is data, too.
 */
import type { Part } from '@a2a-js/sdk';
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';

const call = z.object({
  status: z.string(),
  request: z.object({
    callId: z.string().min(1).max(limits.peerIdCharacters),
    name: z.string(),
    args: z.record(z.string(), z.unknown()).optional(),
  }),
  confirmationDetails: z.object({ title: z.string().optional(), command: z.string().optional() }).optional(),
});
type Call = z.infer<typeof call>;

const WAITS = 'awaiting_approval';

export interface Confirmations {
  /** Takes in what a message says of calls. */
  take(parts: readonly Part[]): void;
  /** Those that wait for leave: their ids, and in words what they are. */
  waiting(): { readonly ids: readonly string[]; readonly words: string } | undefined;
}

export function createConfirmations(): Confirmations {
  const calls = new Map<string, Call>();
  return {
    take(parts) {
      for (const { content } of parts) {
        if (content?.$case !== 'data') continue;
        const read = call.safeParse(content.value);
        if (!read.success) continue;
        const { callId } = read.data.request;
        if (read.data.status !== WAITS) calls.delete(callId);
        else if (calls.size < limits.a2aParts) calls.set(callId, read.data);
      }
    },
    waiting() {
      if (calls.size === 0) return undefined;
      const words = `It asks for leave:\n\n${[...calls.values()].map(wordsOf).join('\n\n')}`;
      return { ids: [...calls.keys()], words: startOf(words, limits.peerQuestionCharacters) };
    },
  };
}

/** What is approved is seen whole: the command as it is, or every argument. */
function wordsOf({ request: { name, args = {} }, confirmationDetails = {} }: Call): string {
  const { title, command } = confirmationDetails;
  const rest = Object.entries(args).filter(([, value]) => value !== command);
  const lines = rest.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [title === undefined ? name : `${name}: ${title}`, ...(command === undefined ? [] : [command]), ...lines].join('\n');
}

/** What such a peer takes for a yes, for a yes from now on, and for a no. */
const OUTCOMES = { allow: 'proceed_once', 'allow always': 'proceed_always', deny: 'cancel' } as const;

export const CONFIRMATION_CHOICES: readonly string[] = Object.keys(OUTCOMES);

const isChoice = (words: string): words is keyof typeof OUTCOMES => Object.hasOwn(OUTCOMES, words);

/** The answer to all of them. Words that are none of the choices are a no, and are told. */
export function confirmed(
  ids: readonly string[],
  answer: string,
): { readonly data: readonly Readonly<Record<string, string>>[]; readonly words?: string } {
  const said = answer.trim().toLowerCase();
  const yes = said === 'yes' ? 'allow' : said;
  const outcome = isChoice(yes) ? OUTCOMES[yes] : OUTCOMES.deny;
  const data = ids.map((callId) => ({ callId, outcome }));
  return isChoice(yes) || said === 'no' || said === '' ? { data } : { data, words: answer };
}
