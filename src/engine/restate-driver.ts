/** Hands runs over to Restate and follows them in the ledger. Nothing is driven in this process. */
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { RunRow } from '../ledger/port.ts';
import { buildTree } from './build-tree.ts';
import type { Driver } from './driver.ts';
import type { RunHandle } from './port.ts';
import { follow } from './restate-follow.ts';
import type { Ingress } from './restate-ingress.ts';
import { createSlots } from './slots.ts';
import type { EngineParts } from './tree.ts';

export function createRestateDriver(parts: EngineParts, ingress: Ingress): Driver {
  const stopped = new AbortController();
  const followed = new Map<RunId, RunHandle>();
  const slots = createSlots(1);
  const { ledger } = parts;

  const pokeAll = async (rows: readonly RunRow[], delayMs?: number): Promise<void> => {
    await Promise.all(rows.map(({ run }) => ingress.poke(run, delayMs)));
  };
  return {
    async drive(task) {
      const { session, run, fence } = task;
      const tree = buildTree({ ...task, parts, slots, watchers: new Set(), ending: () => undefined });
      // Should this process die after the next write, the run is started all the same.
      await ingress.startRootLater(session, run);
      const opening = await tree.writer.write(task.opening(tree.root(run, task.started)));
      await ledger.release(fence);
      await ingress.startRoot(session, run);
      if (task.events.length > 0) await pokeAll(await unfinished(parts, session));
      const after = 'kind' in opening ? 0 : (opening.at(-1)?.position ?? 0);
      const done = follow(parts, session, run, after, stopped.signal).finally(() => followed.delete(run));
      const handle: RunHandle = { session, run, done };
      followed.set(run, handle);
      return handle;
    },
    driving: (run) => followed.get(run),
    async foresee({ session }) {
      const rows = await unfinished(parts, session);
      await pokeAll(rows, limits.ingressLaterMs);
      return () => pokeAll(rows);
    },
    async stop() {
      stopped.abort();
      await Promise.all([...followed.values()].map(({ done }) => done));
    },
  };
}

async function unfinished({ ledger }: EngineParts, session: RunRow['session']): Promise<readonly RunRow[]> {
  return (await ledger.runs({ session })).filter(({ endedAt }) => endedAt === null);
}
