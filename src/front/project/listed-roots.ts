/**
 * Root runs of the whole ledger, page by page, newest first: for lists that go on where the page before ended, and that show some
 * states only. How a run stands is more than what the index knows: what may stand so is looked at, and the rest is not.
 */
import type { z } from 'zod';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import type { runStanding } from '../shapes/runs.ts';

/** How a root run stands, in one word. */
type Standing = z.infer<typeof runStanding>;

export interface ListQuery {
  readonly limit: number;
  /** The run that the page before ended with. */
  readonly before?: RunId | undefined;
  /** Only those that stand so. */
  readonly states?: readonly Standing[] | undefined;
  /** Only those that whoever asks may see. */
  sees?(row: RunRow): Promise<boolean>;
}

/** What the index says of runs that may stand so. */
function indexed(states: readonly Standing[]): readonly RunRow['state'][] {
  return [...new Set(states.flatMap((state) => MAY_BE[state] ?? [state as RunRow['state']]))];
}

/** A root whose process is gone counts as running in the index; and one that waits may wait for the sake of a run below it. */
const MAY_BE: Partial<Record<Standing, readonly RunRow['state'][]>> = {
  interrupted: ['running', 'waiting'],
  waiting: ['waiting', 'running'],
  running: ['running', 'waiting'],
  // Of what is driven, here: of nothing in a list.
  lost: [],
};

/** Those that may be listed; whoever goes through them says when they have enough. */
export async function* listedRoots(
  ledger: Pick<Ledger, 'runs'>,
  { before, states, sees, session }: Omit<ListQuery, 'limit'> & { readonly session?: SessionId | undefined },
): AsyncGenerator<RunRow, void> {
  const narrowed = present({ session, states: states && indexed(states) });
  for (let last = before; ; ) {
    const page = await ledger.runs({ roots: true, limit: limits.listPage, ...narrowed, ...present({ before: last }) });
    for (const row of page) if (sees === undefined || (await sees(row))) yield row;
    last = page.at(-1)?.run;
    if (page.length < limits.listPage || last === undefined) return;
  }
}
