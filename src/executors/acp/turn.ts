/** One prompt, from its question to its end: what was said, bounded, and what it cost. */
import { Buffer } from 'node:buffer';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Usage } from '../../events/messages.ts';
import { headOf } from '../../tools/bounded.ts';
import type { Prompted } from '../acp-wire/schemas.ts';
import type { ExecutorFailure, ExecutorUpdate, PromptEnded } from '../port.ts';

export interface PromptTurn {
  readonly done: Promise<PromptEnded>;
  /** Aborted when it is over or cancelled: nothing that is asked for it has to be answered then. */
  readonly over: AbortSignal;
  isOver(): boolean;
  /** Takes an update, and gives what of it is passed on. */
  take(update: ExecutorUpdate): readonly ExecutorUpdate[];
  /** Once for each kind. */
  notice(text: string, kind?: string): readonly ExecutorUpdate[];
  cancel(): void;
  isCancelled(): boolean;
  ended(said: Prompted, costUsd: number | undefined): void;
  cancelled(): void;
  failed(failure: ExecutorFailure): void;
}

export function createTurn(): PromptTurn {
  const over = new AbortController();
  const noticed = new Set<string>();
  let settled = false;
  let isCancelled = false;
  let text = '';
  const bytes = { text: 0, thought: 0 };
  let updates = 0;
  let resolve: (ended: PromptEnded) => void = () => undefined;
  const done = new Promise<PromptEnded>((given) => {
    resolve = given;
  });
  const settle = (ended: PromptEnded): void => {
    if (settled) return;
    settled = true;
    over.abort();
    resolve(ended);
  };
  const notice = (said: string, kind = said): readonly ExecutorUpdate[] => {
    if (noticed.has(kind)) return [];
    noticed.add(kind);
    return [{ kind: 'notice', text: said }];
  };
  const said = (kind: 'text' | 'thought', piece: string): readonly ExecutorUpdate[] => {
    const room = limits.executorAnswerBytes - bytes[kind];
    bytes[kind] += Buffer.byteLength(piece);
    const taken = bytes[kind] <= limits.executorAnswerBytes ? piece : headOf(piece, Math.max(0, room));
    if (kind === 'text') text += taken;
    const told: readonly ExecutorUpdate[] = taken === '' ? [] : [{ kind, text: taken }];
    if (taken.length === piece.length) return told;
    const what = kind === 'text' ? 'says' : 'thinks';
    return [
      ...told,
      ...notice(`It ${what} more than ${limits.executorAnswerBytes} bytes (executorAnswerBytes): the rest is left out.`),
    ];
  };
  return {
    ...{ done, over: over.signal, notice },
    isOver: () => settled,
    take(update) {
      if (update.kind === 'text' || update.kind === 'thought') return said(update.kind, update.text);
      updates += 1;
      if (updates <= limits.executorTurnUpdates) return [update];
      return notice(`It tells of more than ${limits.executorTurnUpdates} things (executorTurnUpdates): the rest is left out.`);
    },
    cancel() {
      isCancelled = true;
      over.abort();
    },
    isCancelled: () => isCancelled,
    ended: (answer, costUsd) =>
      settle({
        ...{ kind: 'ended', stop: answer.stopReason, text, cut: bytes.text > limits.executorAnswerBytes },
        ...present({ usage: usageOf(answer), costUsd }),
      }),
    cancelled: () => settle({ kind: 'ended', stop: 'cancelled', text, cut: bytes.text > limits.executorAnswerBytes }),
    failed: (failure) => settle({ kind: 'failed', text, ...failure }),
  };
}

/** As the field for it has it, or as one that had none puts it. */
function usageOf({ usage, _meta: meta }: Prompted): Usage | undefined {
  const counted = meta?.quota?.token_count;
  const said = {
    inputTokens: usage?.inputTokens ?? counted?.input_tokens,
    cacheReadTokens: usage?.cachedReadTokens,
    cacheWriteTokens: usage?.cachedWriteTokens,
    outputTokens: usage?.outputTokens ?? counted?.output_tokens,
    reasoningTokens: usage?.thoughtTokens,
  };
  const known = present(said);
  return Object.keys(known).length === 0 ? undefined : known;
}
