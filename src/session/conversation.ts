/** The messages of one session as they grow, and how much of a model's context they fill. */
import type { Message, ToolResultPart, UserMessage } from '../events/messages.ts';
import { messageTokens, textTokens } from '../models/tokens.ts';
import { type ContextVerdict, condensable, digest, judgeContext } from './condense.ts';
import type { SessionInput } from './port.ts';

export interface Conversation {
  readonly messages: readonly Message[];
  /** Where the messages that no request has carried yet begin. */
  readonly newFrom: number;
  add(message: Message): void;
  /** A request with everything so far was made; the provider counted this many tokens, if it said so. */
  sent(inputTokens: number | undefined): void;
  judge(): ContextVerdict;
  /** Tokens that could still be added; negative when there are too many already. */
  roomTokens(): number;
  /** What condensing would replace, or `undefined` when it would not help. */
  digest(
    reference: (item: Message | ToolResultPart) => string | undefined,
  ): { readonly text: string; readonly keptFrom: Message } | undefined;
  /** Replaces everything before `keptFrom` by the request and the message that tells the rest. */
  replace(keptFrom: Message, summary: UserMessage): void;
}

export function createConversation(input: SessionInput): Conversation {
  const request: UserMessage = input.request;
  let messages: Message[] = [...input.history, request];
  // What was said before is carried by the run that this one continues.
  let newFrom = input.history.length;
  let counted = 0;
  let countedUpTo = 0;
  const overhead = textTokens(input.system);
  const room = Math.max(0, input.limits.contextWindow - input.limits.maxOutputTokens);

  const tokens = (): number => {
    let sum = countedUpTo === 0 ? overhead : counted;
    for (let index = countedUpTo; index < messages.length; index += 1) sum += messageTokens(messages[index] as Message);
    return sum;
  };

  return {
    get messages() {
      return messages;
    },
    get newFrom() {
      return newFrom;
    },
    add(message) {
      messages.push(message);
    },
    sent(inputTokens) {
      counted = inputTokens ?? tokens();
      countedUpTo = messages.length;
      newFrom = messages.length;
    },
    judge: () => judgeContext(tokens(), room),
    roomTokens: () => room - tokens(),
    digest(reference) {
      const found = condensable(messages, tokens(), room, messageTokens);
      if (found === undefined) return undefined;
      // What was said before this run belongs to others: it is condensed whole or not at all.
      const cut = Math.max(found, messages.indexOf(request));
      const keptFrom = messages[cut] as Message;
      const replaced = messages.slice(0, cut).filter((message) => message !== request);
      return { text: digest(replaced, reference), keptFrom };
    },
    replace(keptFrom, summary) {
      const unsent = messages.length - newFrom;
      const kept = messages.slice(messages.indexOf(keptFrom));
      messages = keptFrom === request ? [summary, ...kept] : [request, summary, ...kept];
      newFrom = messages.length - unsent;
      countedUpTo = 0;
    },
  };
}
