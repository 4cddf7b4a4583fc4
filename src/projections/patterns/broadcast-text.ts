/** A broadcast as a reader sees it. The fence is the reader's run, which the speaker cannot know. */
import { fenced } from '../../base/fence.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { broadcastTypes } from '../../events/pattern-events.ts';

type BroadcastType = (typeof broadcastTypes)[number];

export const isBroadcast = (event: LedgerEvent): event is EventOf<BroadcastType> =>
  broadcastTypes.some((type) => type === event.event_type);

export function broadcastText(broadcast: Payloads[BroadcastType], reader: string): string {
  const { type, memberId, message, turnCount, timestamp, final } = broadcast;
  const heading = `## TEAM BROADCAST\n\n${type} from ${memberId}, turn ${turnCount}, ${timestamp}`;
  // Said by the runtime, outside the fence: nobody waits for, or writes to, somebody who is gone.
  const gone = final === true ? `\n\nmember ${memberId} has left the team with this and can no longer be reached.` : '';
  return `${heading}\n\n${fenced('broadcast', reader.slice(-12), message)}${gone}`;
}
