/**
 * Sub-agents that have answered and can be asked again. Such a child is nothing but its conversation in the ledger; what is
 * kept here is which ones a run may ask, and how many turns they have left. A run that goes on with an earlier one's
 * conversation may ask that one's children, too.
 */

import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { Cut } from '../record/past.ts';

export type Child = NonNullable<Payloads['tool.result']['child']>;

/** Where a run stands: below whom, and whose conversation it goes on with. */
interface Standing {
  readonly parent?: string | undefined;
  readonly continues?: string | undefined;
}

export interface AskableAgents {
  apply(event: LedgerEvent): void;
  began(run: string, started: Standing): void;
  /** Notes that a run's child has answered. */
  note(run: string, child: Child): void;
  find(run: string, id: string): Child | undefined;
  /** Asks a child when all that the run asked it before is answered. */
  inTurn<Answer>(run: string, id: string, ask: () => Promise<Answer>): Promise<Answer>;
  /** From now on the child that answered last in this run cannot be asked. */
  dismiss(answeredIn: string): void;
  /** The children that a run may name: its own, and those of the conversation it goes on with. */
  own(run: string): Child[];
  /** Which children below a run can be asked, to be told to a life that does not read about them. */
  state(run: string): Pick<Cut, 'held' | 'begun'>;
  restore(state: Pick<Cut, 'held' | 'begun'>): void;
  /** The children that a conversation and the runs below it can still ask, all the way down. */
  below(run: string): Child[];
}

export interface AsksAgain {
  readonly askable: AskableAgents;
}

export function createAskableAgents(): AskableAgents {
  const children = new Map<string, Map<string, Child>>();
  const begun = new Map<string, Standing>();

  /** The run and those whose conversation it goes on with. */
  const conversation = (run: string): Set<string> => {
    const runs = new Set<string>();
    for (let at: string | undefined = run; at !== undefined; at = begun.get(at)?.continues) runs.add(at);
    return runs;
  };
  const holder = (run: string, id: string): Map<string, Child> | undefined => {
    for (const at of conversation(run)) {
      const held = children.get(at);
      if (held?.has(id) === true) return held;
    }
    return undefined;
  };
  const within = (run: string, tops: ReadonlySet<string>): boolean => {
    for (let at: string | undefined = run; at !== undefined; at = begun.get(at)?.parent) if (tops.has(at)) return true;
    return false;
  };
  const note = (run: string, child: Child): void => {
    const known = holder(run, child.id) ?? children.get(run);
    if (known === undefined) children.set(run, new Map([[child.id, child]]));
    else known.set(child.id, child);
  };
  const asked = new Map<string, Promise<unknown>>();
  const inTurn: AskableAgents['inTurn'] = (run, id, ask) => {
    const before = asked.get(`${run} ${id}`) ?? Promise.resolve();
    // When the one before was interrupted, this one is too: it is asked again when the run is taken up again.
    const answer = before.then(ask);
    answer.catch(() => undefined);
    asked.set(`${run} ${id}`, answer);
    return answer;
  };
  const began: AskableAgents['began'] = (run, { parent, continues }) => void begun.set(run, { parent, continues });
  const dismiss = (answeredIn: string): void => {
    for (const held of children.values()) for (const child of held.values()) if (child.run === answeredIn) held.delete(child.id);
  };
  return {
    began,
    note,
    inTurn,
    dismiss,
    find: (run, id) => holder(run, id)?.get(id),
    state(run) {
      const tops = conversation(run);
      const below = [...children].filter(([caller]) => within(caller, tops));
      const held = below.flatMap(([caller, own]) =>
        [...own.values()].flatMap((child) => (child.chat ? [{ run: caller, child }] : [])),
      );
      const places = new Map<string, Standing>();
      for (const { run: caller } of held)
        for (let at: string | undefined = caller; at !== undefined && !places.has(at); at = begun.get(at)?.parent)
          places.set(at, begun.get(at) ?? {});
      return { held, begun: [...places].map(([of, { parent, continues }]) => placeOf(of, parent, continues)) };
    },
    restore(state) {
      for (const { run, parent, continues } of state.begun) began(run, { parent, continues });
      for (const { run, child } of state.held) note(run, child);
    },
    own: (run) => [...conversation(run)].flatMap((at) => [...(children.get(at)?.values() ?? [])]).filter((child) => child.chat),
    below(run) {
      const tops = conversation(run);
      const held = [...children].filter(([caller]) => within(caller, tops)).flatMap(([, own]) => [...own.values()]);
      return held.filter((child) => child.chat);
    },
    apply(event) {
      if (event.event_type === 'run.started')
        began(event.run_id, { parent: parentRun(event.payload), continues: event.payload.continues });
      else if (event.event_type === 'tool.result' && event.payload.child !== undefined) note(event.run_id, event.payload.child);
      else if (event.event_type === 'agent.dismissed') dismiss(event.payload.run);
    },
  };
}

const placeOf = (run: string, parent: string | undefined, continues: string | undefined): Cut['begun'][number] => ({
  run,
  ...present({ parent, continues }),
});
