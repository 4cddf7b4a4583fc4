/**
 * One tool call: the signal that ends it, and the progress that is told while it waits.
 *
 * Progress is sent only to a client that gave a token, and its number only grows. While nothing happens it is repeated now
 * and then, because many clients give up on a call that is silent for a minute.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { AssistantCallOptions } from '../../assistants/port.ts';
import { isJsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { CallerConnection, McpNeeds } from './needs.ts';

/** The `_meta` key with which a client makes a call and its repetition one. */
export const IDEMPOTENCY_META_KEY = 'troupe/idempotencyKey';

export interface ToolCall {
  readonly options: AssistantCallOptions;
  /** The caller called it off, as opposed to: the server stops, or the connection broke. */
  wasCancelled(): boolean;
  end(): void;
}

export function beginCall(needs: McpNeeds, connection: CallerConnection, context: ServerContext): ToolCall {
  const { signal, _meta: meta } = context.mcpReq;
  const ending = AbortSignal.any([signal, needs.stopping, ...(connection.gone === undefined ? [] : [connection.gone])]);
  const progress = createProgress(needs, context);
  return {
    options: { signal: ending, onProgress: progress.tell, idempotencyKey: idempotencyKey(meta) },
    wasCancelled: () => signal.aborted && connection.abortMeansCancel && !needs.stopping.aborted,
    end: progress.end,
  };
}

interface Progress {
  tell(progress: { readonly done: number; readonly message: string }): void;
  end(): void;
}

function createProgress({ clock }: McpNeeds, { mcpReq }: ServerContext): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { tell: () => undefined, end: () => undefined };
  let last = -1;
  let lastMessage = 'still waiting';
  let ended = false;
  let takeBack = (): void => undefined;

  const tell: Progress['tell'] = ({ done, message }) => {
    if (ended) return;
    last = done > last ? done : last + 1;
    lastMessage = message;
    const params = { progressToken, progress: last, message };
    // Whoever has gone hears nothing more: that is no failure of the call.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    takeBack();
    takeBack = clock.after(limits.mcpProgressMs, () => tell({ done: last + 1, message: lastMessage }));
  };
  takeBack = clock.after(limits.mcpProgressMs, () => tell({ done: 0, message: lastMessage }));
  return {
    tell,
    end: () => {
      ended = true;
      takeBack();
    },
  };
}

function idempotencyKey(meta: unknown): string | undefined {
  const key = isJsonObject(meta) ? meta[IDEMPOTENCY_META_KEY] : undefined;
  return typeof key === 'string' && key.length > 0 && key.length <= limits.idempotencyKeyCharacters ? key : undefined;
}
