/**
 * A tail keeps no events: it remembers a position and reads the next page, so a slow reader costs no memory, and nothing
 * can be lost or repeated. News only says when to look; now and then it looks without any.
 */
import type { Clock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger } from './port.ts';

export async function* followSession(
  read: Ledger['read'],
  session: SessionId,
  after: number,
  signal: AbortSignal,
  clock: Clock,
  listen: (wake: () => void) => () => void,
): AsyncGenerator<LedgerEvent, void> {
  let position = after;
  let news = false;
  let wake = (): void => undefined;
  const onNews = (): void => {
    news = true;
    wake();
  };
  const stop = listen(onNews);
  signal.addEventListener('abort', onNews);
  try {
    while (!signal.aborted) {
      news = false;
      const page = await read({ session, after: position });
      for (const event of page) {
        if (signal.aborted) return;
        position = event.position;
        yield event;
      }
      if (news || page.length === limits.readPageEvents) continue;
      await new Promise<void>((resolve) => {
        // Holds the process: somebody is waiting for the next event.
        const cancel = clock.after(limits.safetyCheckMs, resolve, 'hold');
        wake = () => {
          cancel();
          resolve();
        };
      });
    }
  } finally {
    stop();
    signal.removeEventListener('abort', onNews);
  }
}
