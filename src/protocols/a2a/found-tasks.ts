/**
 * The tasks of a caller. A task is a root run that came by A2A; whose it is stands in the event that began it and never changes,
 * so that it is read once. A task of somebody else is answered like one that there is none of.
 */
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createRecentlyUsed } from '../../base/recently-used.ts';
import type { RunState } from '../../events/catalogue.ts';
import type { PeerRequest } from '../../events/run-origin.ts';
import { nothingLeft } from '../../ledger/pages.ts';
import type { RunRow } from '../../ledger/port.ts';
import type { A2aNeeds, Scope } from './needs.ts';

/** A run that came by A2A, and who asked for it. */
export interface FoundTask {
  /** What the peer calls it: the run's id, or `<run>.2` when the run went on after its end. */
  readonly id: string;
  readonly run: RunId;
  readonly session: SessionId;
  readonly agent: string;
  /** What the peer calls the conversation. */
  readonly context: string;
  readonly asked: PeerRequest;
  readonly by: string;
}

export interface TaskFinder {
  find(scope: Scope, id: string): Promise<FoundTask | undefined>;
  /** The newest of the caller, with the rows that say how they stand. */
  list(scope: Scope): Promise<readonly ListedTask[]>;
  /** How many tasks of this caller are under way, whatever tenant they came with. */
  underWay(caller: string): Promise<number>;
  /** One that this process has just begun: it need not be read. */
  begun(run: Begun, asked: PeerRequest, by: string): FoundTask;
  /** Whose the run of this row is; nothing when it did not come by A2A. */
  of(row: RunRow): Promise<FoundTask | undefined>;
}

export interface ListedTask {
  readonly row: RunRow;
  readonly found: FoundTask;
  /** It went on after an end: its row says how its last task stands, and the others have to be folded. */
  readonly wentOn: boolean;
}

type Begun = Pick<FoundTask, 'run' | 'session' | 'agent'>;

const foundTask = ({ run, session, agent }: Begun, asked: PeerRequest, by: string): FoundTask => ({
  ...{ id: run, run, session, agent, context: asked.context ?? session, asked, by },
});

/** Whoever has not ended yet. */
export const UNDER_WAY: readonly RunState[] = ['running', 'waiting', 'paused', 'parked'];

export function createTaskFinder({ ledger }: Pick<A2aNeeds, 'ledger'>): TaskFinder {
  const known = createRecentlyUsed<RunId, FoundTask | { readonly other: true }>(limits.a2aOriginsKept);

  const went = createRecentlyUsed<string, boolean>(limits.a2aOriginsKept);

  /** Looked up once for each end. */
  const wentOn = async ({ run, session, endedAt }: RunRow): Promise<boolean> => {
    const name = `${run} ${endedAt}`;
    const known = went.get(name);
    if (known !== undefined) return known;
    const [reopened] = await ledger.read({ session, run, types: ['run.reopened'], limit: 1 }).catch(nothingLeft);
    went.set(name, reopened !== undefined);
    return reopened !== undefined;
  };
  const read = async ({ run, session, agent }: RunRow): Promise<FoundTask | { readonly other: true }> => {
    const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 }).catch(nothingLeft);
    const origin = started?.event_type === 'run.started' ? started.payload.origin : undefined;
    if (started === undefined || origin?.kind !== 'client' || origin.a2a === undefined) return { other: true };
    const { a2a: asked, by } = origin;
    return foundTask({ run, session, agent }, asked, by);
  };
  const of = async (row: RunRow): Promise<FoundTask | undefined> => {
    const before = known.get(row.run);
    const found = before ?? (await read(row));
    if (before === undefined) known.set(row.run, found);
    return 'other' in found ? undefined : found;
  };
  return {
    of,
    begun(run, asked, by) {
      const found = foundTask(run, asked, by);
      known.set(run.run, found);
      return found;
    },
    async find(scope, id) {
      const run = /^(run_[0-9a-z]{1,40})(\.\d{1,6})?$/.exec(id)?.[1];
      const [row] = run === undefined ? [] : await ledger.runs({ run: run as RunId, limit: 1 });
      const found = row === undefined || row.parent !== null ? undefined : await of(row);
      return found !== undefined && isOwn(found, scope) ? { ...found, id } : undefined;
    },
    async underWay(caller) {
      let count = 0;
      for (const row of await ledger.runs({ roots: true, limit: limits.a2aTasksListed, states: UNDER_WAY }))
        if ((await of(row))?.by === caller) count += 1;
      return count;
    },
    async list(scope) {
      const rows = await ledger.runs({ roots: true, limit: limits.a2aTasksListed });
      const listed: ListedTask[] = [];
      for (const row of rows) {
        const found = await of(row);
        if (found === undefined || !isOwn(found, scope)) continue;
        listed.push({ row, found, wentOn: row.endedAt !== null && (await wentOn(row)) });
      }
      return listed;
    },
  };
}

const isOwn = ({ by, asked }: FoundTask, { caller, tenant }: Scope): boolean =>
  by === caller.name && (asked.tenant ?? '') === tenant;
