/**
 * What reaches a driven session from outside: answers, and signals to cancel, pause or go on. They are events in the
 * ledger like everything else; this is the part of them that runs look at.
 */
import type { RunId, SessionId } from '../base/ids.ts';
import { type Answer, type EventType, inboundTypes } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger } from '../ledger/port.ts';

export interface Inbox {
  answer(run: RunId, wait: string): Answer | undefined;
  /** Whether somebody approved this tool for the rest of the session. */
  approvedForSession(tool: string): boolean;
  cancelled(run: RunId): string | undefined;
  /** The reason, when this run was asked to pause and the session has not been taken up since. */
  pauseAsked(run: RunId): string | undefined;
  /** Reads what has come since; the callback is called when anything had. */
  refresh(): Promise<void>;
  apply(event: LedgerEvent): void;
}

/**
 * `shared`: others work on runs of this session, so what they broadcast, and that they end, comes in from outside too; and that
 * one run was taken up says nothing about the others.
 */
export function createInbox(
  ledger: Ledger,
  session: SessionId,
  onNews: (news: readonly LedgerEvent[]) => void,
  shared = false,
): Inbox {
  const types: readonly EventType[] = shared ? [...inboundTypes, 'team.broadcast', 'run.ended'] : inboundTypes;
  const answers = new Map<string, Answer>();
  const asked = new Map<string, string>();
  const remembered = new Set<string>();
  const cancels = new Map<string, string>();
  const pauses = new Map<string, string>();
  let seen = 0;

  const apply = (event: LedgerEvent): void => {
    const key = 'wait' in event.payload ? `${event.run_id} ${event.payload.wait}` : '';
    if (event.event_type === 'approval.asked') asked.set(key, event.payload.tool);
    else if (event.event_type === 'approval.answered') {
      answers.set(key, event.payload.answer);
      const tool = asked.get(key);
      if (event.payload.answer.kind === 'approved' && event.payload.answer.remember === true && tool !== undefined)
        remembered.add(tool);
    } else if (event.event_type === 'run.resumed') {
      if (!shared) pauses.clear();
    } else if (event.event_type === 'run.signalled') {
      const reason = event.payload.reason ?? 'asked from outside';
      if (event.payload.signal === 'cancel') cancels.set(event.run_id, reason);
      else if (event.payload.signal === 'pause') pauses.set(event.run_id, reason);
      else pauses.delete(event.run_id);
    }
    seen = Math.max(seen, event.position);
  };

  return {
    apply,
    answer: (run, wait) => answers.get(`${run} ${wait}`),
    approvedForSession: (tool) => remembered.has(tool),
    cancelled: (run) => cancels.get(run),
    pauseAsked: (run) => pauses.get(run),
    async refresh() {
      const news = await ledger.read({ session, after: seen, types });
      for (const event of news) apply(event);
      if (news.length > 0) onNews(news);
    },
  };
}
