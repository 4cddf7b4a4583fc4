/** A request that became a turn, and what both endpoints do with it: follow it to its rest, or give it up when nobody is left. */
import { fail, ok, type Result } from '../../base/result.ts';
import { type ChatNews, followTurn, giveUp, type RestedTurn } from '../../front/chat/follow.ts';
import type { HeardWords } from '../../front/chat/heard-words.ts';
import { type FoundConversation, recognised, type SaidBefore } from '../../front/chat/said-before.ts';
import { beginTurn, type ChatTurn } from '../../front/chat/turn.ts';
import type { EdgeRequest } from '../edges/edge.ts';
import { notDone, type OpenAiFailure } from './errors.ts';
import type { OpenAiNeeds } from './needs.ts';

export interface TakenTurn {
  readonly turn: ChatTurn;
  /** What an earlier turn came to that its program has not heard. */
  readonly unseen?: string | undefined;
  /** Follows it until it rests. To be called once. */
  follow(signal: AbortSignal): AsyncGenerator<ChatNews, RestedTurn>;
  /** What is still under way when nobody listens any more is ended. Twice is as good as once. */
  close(): void;
}

/** `words`: whether they are wanted as they come. `find` says where the request belongs. */
export async function taken(
  { chat, onError }: OpenAiNeeds,
  { caller }: EdgeRequest,
  words: boolean,
  find: () => Promise<Result<FoundConversation, OpenAiFailure>>,
): Promise<Result<TakenTurn, OpenAiFailure>> {
  const heard: HeardWords | undefined = words ? chat.hear() : undefined;
  const begun = await chat.inTurn(`caller ${caller.name}`, async (): Promise<Result<Begun, OpenAiFailure>> => {
    const found = await find();
    if (!found.ok) return found;
    const outcome = await beginTurn(chat, caller, found.value.prompt);
    if (!outcome.ok) return fail(notDone(outcome.error));
    return outcome.value.before ? fail(notDone(AT_ONCE)) : ok({ turn: outcome.value, unseen: found.value.unseen });
  });
  if (!begun.ok) {
    heard?.close();
    return begun;
  }
  const { turn, unseen } = begun.value;
  let isOver = false;
  return ok({
    turn,
    unseen,
    async *follow(signal) {
      const rested = yield* followTurn(chat, turn, heard, AbortSignal.any([signal, chat.stopping]));
      isOver = rested.rest.kind !== 'left';
      return rested;
    },
    close() {
      heard?.close();
      if (isOver) return;
      isOver = true;
      giveUp(chat, turn, caller.name).catch(onError);
    },
  });
}

interface Begun {
  readonly turn: ChatTurn;
  readonly unseen: string | undefined;
}

const AT_ONCE = { why: 'late', code: 'at_once', message: 'Another server has just been asked the same. Ask again.' } as const;

export const bySaid =
  ({ chat }: OpenAiNeeds, { caller }: EdgeRequest, said: SaidBefore) =>
  async (): Promise<Result<FoundConversation, OpenAiFailure>> =>
    ok(await recognised(chat, caller, said));
