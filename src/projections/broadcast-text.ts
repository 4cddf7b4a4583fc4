/** A broadcast as a reader in the team sees it. The fence is the reader's run, which the speaker cannot know. */
import { fenced } from '../base/fence.ts';
import type { Payloads } from '../events/catalogue.ts';

export function broadcastText(broadcast: Payloads['team.broadcast'], reader: string): string {
  const { type, memberId, message, turnCount, timestamp } = broadcast;
  const heading = `## TEAM BROADCAST\n\n${type} from ${memberId}, turn ${turnCount}, ${timestamp}`;
  return `${heading}\n\n${fenced('broadcast', reader.slice(-12), message)}`;
}
