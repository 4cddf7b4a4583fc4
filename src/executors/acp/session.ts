/**
 * One session of an executor: prompts one after the other, each followed by somebody or by nobody for a while. Whatever ends
 * it, the prompt that is under way has an end too, and everything that is open is answered.
 */
import type { Clock } from '../../base/clock.ts';
import { assert } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { prompted } from '../acp-wire/schemas.ts';
import type { ExecutorEnd, ExecutorSession, ExecutorUpdate, PromptEnded, PromptHandlers } from '../port.ts';
import { blocksOf } from './blocks.ts';
import { createEnding, type SessionEnding } from './ending.ts';
import { executorFailureOf, malformed } from './failures.ts';
import type { OpenedSession } from './handshake.ts';
import { createTurn, type PromptTurn } from './turn.ts';

export interface LiveSession {
  isAlive(): boolean;
  /** It ended, with all that it started. */
  readonly gone: Promise<void>;
  /** As whoever opens it has it, now and later. */
  as(restored: ExecutorSession['restored']): ExecutorSession;
  end(): Promise<ExecutorEnd>;
}

export interface SessionNeeds extends Pick<ExecutorSession, 'touched'> {
  readonly clock: Clock;
  redact(text: string): string;
}

export function createSession(opened: OpenedSession, needs: SessionNeeds): LiveSession {
  const { peer, link, session, state, about } = opened;
  const { follower } = state;
  const ending = createEnding(opened, needs.clock);
  let stopListening = (): void => undefined;

  const follow = (turn: PromptTurn, handlers: PromptHandlers): Promise<PromptEnded> => {
    ending.come();
    stopListening();
    follower.attach(handlers);
    const { signal } = handlers;
    const onAbort = (): void => cancel(turn, opened, ending, needs.clock);
    signal.addEventListener('abort', onAbort, { once: true });
    stopListening = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    return new Promise((resolve) => {
      void turn.done.then((ended) => {
        // Whoever left it is not told: the next one is.
        if (!follower.isAttached(handlers)) return;
        stopListening();
        follower.detach();
        state.turn = undefined;
        resolve(ended);
      });
    });
  };

  const prompt: ExecutorSession['prompt'] = async (content, handlers) => {
    assert(state.turn === undefined || state.turn.isOver(), 'a session is prompted once at a time');
    const turn = createTurn();
    const { blocks, notices } = blocksOf(content, opened.takesImages);
    state.calls.clear();
    follower.clear();
    peer.renew();
    state.turn = turn;
    const done = follow(turn, handlers);
    for (const notice of notices) tell(opened, turn.notice(notice));
    void ask(turn, blocks, opened, ending, needs.redact);
    return await done;
  };

  const leave = (): void => {
    stopListening();
    follower.detach();
    ending.wait();
  };

  return {
    ...{ isAlive: ending.isAlive, end: ending.end, gone: link.gone },
    as: (restored) => ({
      ...{ session, restored, about: { ...about, ...present({ mode: state.mode }) }, prompt, leave, end: ending.end },
      ...present({ touched: needs.touched }),
      resume: (handlers) => (state.turn === undefined ? undefined : follow(state.turn, handlers)),
    }),
  };
}

function tell({ state }: OpenedSession, updates: readonly ExecutorUpdate[]): void {
  for (const update of updates) state.follower.tell({ what: 'update', update });
}

async function ask(
  turn: PromptTurn,
  blocks: readonly object[],
  opened: OpenedSession,
  ending: SessionEnding,
  redact: (text: string) => string,
): Promise<void> {
  const { entry, peer, state, session, logins } = opened;
  state.costBefore = state.costUsd;
  const answer = await opened.prompt({ sessionId: session, prompt: blocks });
  const said = answer.ok ? prompted.safeParse(answer.value) : undefined;
  // What it left running is over with the prompt, and is told before its end.
  await state.terminals.stopAll();
  if (said?.success === true) return turn.ended(said.data, costSince(opened));
  if (answer.ok) return turn.failed(malformed(entry, 'a prompt'));
  if (ending.hasBegun() && answer.error.kind === 'closed') return turn.cancelled();
  const failure = await executorFailureOf(answer.error, {
    ...{ entry, doing: 'a prompt', redact, logins, end: ending.end },
    flood: async () => (await peer.closed)?.message,
  });
  if (turn.isCancelled() && failure.why === 'error') turn.cancelled();
  else turn.failed(failure);
}

/** It tells what the whole session cost so far. Of one from an earlier life that may be more than was ever told here. */
function costSince({ state: { costUsd, costBefore }, restored }: OpenedSession): number | undefined {
  if (costUsd === undefined || (costBefore === undefined && restored === 'loaded')) return undefined;
  return Math.max(0, costUsd - (costBefore ?? 0));
}

function cancel(turn: PromptTurn, opened: OpenedSession, ending: SessionEnding, clock: Clock): void {
  if (turn.isOver() || turn.isCancelled()) return;
  turn.cancel();
  opened.peer.notify('session/cancel', { sessionId: opened.session });
  void opened.state.terminals.stopAll();
  const forget = clock.after(limits.executorCancelMs, () => {
    if (turn.isOver()) return;
    tell(opened, turn.notice(`It did not stop within ${limits.executorCancelMs / 1000} s (executorCancelMs), and was ended.`));
    void ending.endNow();
  });
  void turn.done.then(forget);
}
