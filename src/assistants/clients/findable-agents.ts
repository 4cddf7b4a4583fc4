/** The agents that somebody can find: all, or those that a client, and whoever works for it, may spawn. */
import type { Registry, RegistryItem } from '../../agents/registry/registry.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { ok } from '../../base/result.ts';
import { mayBeSpawned } from '../../engine/spawning/client-rights.ts';
import type { ClientRights } from '../../events/assistants.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { Assistants, Caller } from '../port.ts';

export interface FindingNeeds {
  readonly ledger: Pick<Ledger, 'runs' | 'read'>;
  registry(): Promise<Registry>;
}

export function createFinding({ ledger, registry }: FindingNeeds): Pick<Assistants, 'list' | 'search'> {
  return {
    async list(caller, { page, pageSize }) {
      const rights = await rightsOf(ledger, caller);
      const all = await registry();
      if (rights?.spawn === undefined) {
        const { items, total } = await all.list({ page, pageSize });
        return ok({ items: items.map(asAssistant), totalItems: total });
      }
      const { items } = await all.list({ page: 1, pageSize: Number.MAX_SAFE_INTEGER });
      const known = items.filter(({ name }) => mayBeSpawned(rights, name));
      return ok({ items: known.slice((page - 1) * pageSize, page * pageSize).map(asAssistant), totalItems: known.length });
    },
    async search(caller, { query, limit }) {
      const rights = await rightsOf(ledger, caller);
      const found = await (await registry()).search(query, rights?.spawn === undefined ? limit : limits.searchResults);
      const known = found.filter(({ name }) => mayBeSpawned(rights, name));
      return ok(known.slice(0, limit).map(asAssistant));
    },
  };
}

/** Those of a client, or of the client for whom a run works. */
async function rightsOf(ledger: FindingNeeds['ledger'], caller: Caller): Promise<ClientRights | undefined> {
  if (caller.kind === 'client') return caller.rights;
  const spawned = await spawnedRoot(ledger, caller.run);
  return spawned?.rights;
}

/** How the run at the top of this one's tree was spawned, if it was. */
export async function spawnedRoot(
  ledger: FindingNeeds['ledger'],
  run: RunId,
): Promise<{ readonly by: string; readonly rights?: ClientRights | undefined } | undefined> {
  let [row] = await ledger.runs({ run, limit: 1 });
  for (let up = row?.parent ?? null; up !== null; up = row?.parent ?? null) [row] = await ledger.runs({ run: up, limit: 1 });
  if (row === undefined) return undefined;
  const [started] = await ledger.read({ session: row.session, run: row.run, types: ['run.started'], limit: 1 });
  const origin = started?.event_type === 'run.started' ? started.payload.origin : undefined;
  return origin?.kind === 'client' ? origin : undefined;
}

const asAssistant = ({ id, name, description, tags }: RegistryItem) => ({ id, name, description, tags: [...tags] });
