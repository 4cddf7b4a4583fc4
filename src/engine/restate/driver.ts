/** Hands runs over to Restate and follows them in the ledger. Nothing is driven in this process. */
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { NewEvent, RunRow } from '../../ledger/port.ts';
import type { Driver } from '../driver.ts';
import { failureOf } from '../failure-of.ts';
import { createSignals } from '../hearing/from-outside.ts';
import type { EngineOptions, LedgerAccess } from '../options.ts';
import type { ResumeOutcome, RunEnd, RunHandle } from '../port.ts';
import { UNFINISHED } from '../record/past.ts';
import { readAll } from '../record/read-all.ts';
import { timesReopened } from '../record/standing-events.ts';
import { buildTree } from '../run/build-tree.ts';
import { resultOfEnd } from '../run/drive-run.ts';
import { createSlots } from '../spawning/slots.ts';
import { follow } from './follow.ts';
import type { Ingress } from './ingress.ts';

export function createRestateDriver(options: EngineOptions, ingress: Ingress): Driver {
  const stopped = new AbortController();
  const followed = new Map<RunId, RunHandle>();
  const slots = createSlots(1);
  const { ledger } = options;

  const pokeAll = async (rows: readonly RunRow[], delayMs?: number): Promise<void> => {
    await Promise.all(rows.map(({ run }) => ingress.poke(run, delayMs)));
  };
  const foresee = async (session: SessionId): Promise<() => Promise<void>> => {
    const rows = await unfinished(options, session);
    await pokeAll(rows, limits.ingressLaterMs);
    return () => pokeAll(rows);
  };
  const followFrom = (session: SessionId, run: RunId, after: number): RunHandle => {
    // It is worked on elsewhere: that it cannot be followed from here says nothing about the run.
    const done = follow(options, session, run, after, stopped.signal)
      .catch((error: unknown): RunEnd => {
        const failure = failureOf(error);
        return { kind: 'interrupted', reason: failure.message, error: failure };
      })
      .finally(() => followed.delete(run));
    const handle: RunHandle = { session, run, done };
    followed.set(run, handle);
    return handle;
  };
  return {
    handsOver: true,
    async drive(task) {
      const { session, run, fence } = task;
      const tree = buildTree(options, { ...task, slots, watchers: new Set(), released: () => undefined });
      // Should this process die after the next write, the run is started all the same.
      await ingress.startRootLater(session, run);
      const opening = await tree.writer.write(task.opening(tree.root(run, task.started)));
      // Whoever is assigned the run takes the lease anyway, so neither has to wait for the other.
      // And it is recorded: if it cannot be started at once, it is started later.
      await Promise.allSettled([ledger.release(fence), ingress.startRoot(session, run, 0)]);
      return followFrom(session, run, 'kind' in opening ? 0 : (opening.at(-1)?.position ?? 0));
    },
    driving: async (run) => followed.get(run),
    async takeUp({ session, run }): Promise<ResumeOutcome> {
      const marks = await readAll(ledger, session, { run, types: [...MARKS] });
      const last = marks.at(-1);
      if (last === undefined) return { kind: 'unknown' };
      if (last.event_type === 'run.ended') return { kind: 'ended', result: resultOfEnd(run, last.payload) };
      const tell = await foresee(session);
      const events = goOn(await readAll(ledger, session, { types: ['run.signalled'] }), options.clock.now());
      if (events.length > 0) await ledger.append({ session, fence: null, events, sync: 'power' });
      await ingress.startRoot(session, run, timesReopened(marks));
      await tell();
      return { kind: 'resumed', handle: followFrom(session, run, last.position), takenOver: false };
    },
    foresee: ({ session }) => foresee(session),
    async stop() {
      stopped.abort();
      await Promise.all([...followed.values()].map(({ done }) => done));
    },
  };
}

/** What says how it stands with a run. */
const MARKS = ['run.started', 'run.resumed', 'run.paused', 'run.ended', 'run.reopened'] as const;

/** Takes back every pause that somebody has asked for in a session. */
function goOn(signals: readonly LedgerEvent[], at: number): NewEvent[] {
  const folded = createSignals(true);
  for (const event of signals) folded.apply(event);
  return [...folded.pauses()].map(([run, { event_id: cause }]) => {
    return { type: 'run.signalled', run, actor: 'user', cause, payload: { signal: 'resume' }, at };
  });
}

async function unfinished({ ledger }: LedgerAccess, session: SessionId): Promise<readonly RunRow[]> {
  return await ledger.runs({ session, states: UNFINISHED });
}
