/** What was seen of a trial beside its answer: who worked, what was called, in how many turns. */
import type { RunId, SessionId } from '../base/ids.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import { createTreesDoings } from '../projections/doings.ts';

export interface SeenOfRun {
  readonly tools: ReadonlySet<string>;
  /** The first one included. */
  readonly agents: ReadonlySet<string>;
  readonly turns: number;
}

/** Of a root run and those below it; its session may have others. */
export async function seenOf(ledger: Pick<Ledger, 'read'>, session: SessionId, root: RunId): Promise<SeenOfRun> {
  const tools = new Set<string>();
  const agents = new Set<string>();
  const doings = createTreesDoings();
  for await (const event of readEvents(ledger, { session, root })) {
    doings.apply(event);
    if (event.event_type === 'tool.call') tools.add(event.payload.name);
    if (event.event_type === 'run.started') agents.add(event.payload.agent);
  }
  const done = doings.of(root);
  return { tools, agents, turns: (done?.own.turns ?? 0) + (done?.below.turns ?? 0) };
}
