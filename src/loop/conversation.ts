/** The messages of one loop as they grow, and how much of a model's context they fill. */
import type { Message, ToolResultPart, UserMessage } from '../events/messages.ts';
import { messageTokens, textTokens } from '../models/tokens.ts';
import { beforeLastTurn, type ContextVerdict, condensable, digest, digestTokens, judgeContext } from './condense.ts';
import type { Condensing, LoopInput } from './port.ts';

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
  /** What condensing would leave, or `undefined` when it would not help. `asked`: it is wanted although there is room. */
  condensed(
    reference: (item: Message | ToolResultPart) => string | undefined,
    asked: boolean,
  ): Pick<Condensing, 'text' | 'leads' | 'kept' | 'unsent'> | undefined;
  /** From now on the conversation is what was left, with the message that tells the rest. */
  replace(left: Pick<Condensing, 'leads' | 'kept' | 'unsent'>, summary: UserMessage): void;
}

export function createConversation(input: LoopInput): Conversation {
  const { request, from } = input;
  let messages: Message[] = from === undefined ? [...input.history, request] : [...from.messages];
  // What was said before is carried by the run that this one continues.
  let newFrom = from === undefined ? input.history.length : from.messages.length - from.unsent;
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
    judge: () => judgeContext(tokens(), room, messages.length),
    roomTokens: () => room - tokens(),
    condensed(reference, asked) {
      const all = { messages, request, total: tokens(), room, tokensOf: messageTokens };
      const cut = (asked ? beforeLastTurn(all) : undefined) ?? condensable(all);
      if (cut === undefined) return undefined;
      const gone = messages.slice(0, cut).filter((message) => message !== request);
      const leads = messages.indexOf(request) < cut ? [request] : [];
      const unsent = messages.length - newFrom;
      return { text: digest(gone, reference, digestTokens(room)), leads, kept: messages.slice(cut), unsent };
    },
    replace({ leads, kept, unsent }, summary) {
      messages = [...leads, summary, ...kept];
      newFrom = messages.length - unsent;
      countedUpTo = 0;
    },
  };
}
