/** Everything in the project that waits for a person, whoever runs it and however deep it is. */
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { OpenWait } from '../engine/port.ts';
import type { RunRow } from '../ledger/port.ts';
import type { Project } from '../project/project.ts';

/** Something that waits, and where it stands. */
export interface InboxItem {
  readonly wait: OpenWait;
  readonly session: SessionId;
  readonly root: RunId;
  /** The agents from the root down to who asks. */
  readonly path: readonly string[];
  readonly ageMs: number;
}

/** Oldest first. */
export async function readInbox(
  { ledger, engine }: Pick<Project, 'ledger' | 'engine'>,
  now: number,
): Promise<readonly InboxItem[]> {
  const rows = await ledger.runs({ states: ['waiting', 'running', 'paused', 'parked'], limit: limits.runLookup });
  const sessions = new Map(rows.map(({ session, run }) => [session, run]));
  const items: InboxItem[] = [];
  for (const [session, run] of sessions) {
    for (const wait of await engine.waits(run)) {
      const line = lineageOf(rows, wait.run);
      const ageMs = Math.max(0, now - Date.parse(wait.askedAt));
      items.push({ wait, session, root: line[0]?.run ?? wait.run, path: line.map(({ agent }) => agent), ageMs });
    }
  }
  return items.sort((left, right) => right.ageMs - left.ageMs);
}

/** One name for what waits. */
export const inboxKey = ({ wait: { run, wait } }: Pick<InboxItem, 'wait'>): string => `${run} ${wait}`;

/** From the root down. What has not ended has nothing above it that has. */
function lineageOf(rows: readonly RunRow[], run: RunId): readonly RunRow[] {
  const line: RunRow[] = [];
  for (let up: RunId | null = run; up !== null; ) {
    const row = rows.find((one) => one.run === up);
    if (row === undefined) break;
    line.unshift(row);
    up = row.parent;
  }
  return line;
}

/** The same for programs. */
export const inboxValue = ({ wait, session, root, path, ageMs }: InboxItem) => ({ ...wait, session, root, path, ageMs });
