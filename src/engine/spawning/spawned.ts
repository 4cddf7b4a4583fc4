/**
 * The assistants that the runs of a driven session have spawned and that work beside them. An assistant ends with its parent
 * at the latest: whoever spawns waits for what it wants to have.
 */

import type { RunId } from '../../base/ids.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { type RunOrigin, spawnerOf } from '../../events/run-origin.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { NamedResult } from '../../patterns/verification.ts';
import type { AssistantLimits } from '../options.ts';
import { type Counted, spawnRefusal } from './bounds.ts';
import type { ChildRun } from './child-run.ts';
import type { Slots } from './slots.ts';

/** A run, as far as it matters who has spawned it. */
interface Kin {
  readonly run: RunId;
  readonly parent: Kin | undefined;
  readonly started: { readonly origin: RunOrigin };
}

export interface Assistant {
  readonly run: RunId;
  readonly agent: string;
  readonly child: ChildRun;
  status(): 'running' | 'finished' | 'failed';
  /** How it ended, once it has. */
  result(): Ended | undefined;
}

type Ended = NamedResult['result'];

export interface Spawned {
  note(parent: RunId, run: RunId, agent: string, child: ChildRun): void;
  /** Learns that one has ended which others work on. */
  apply(event: LedgerEvent): void;
  of(parent: RunId): readonly Assistant[];
  /** What the run was last told about its assistants. */
  told(parent: RunId, text: string): void;
  lastTold(parent: RunId): string | undefined;
  /** Why one more is too many, if it is. */
  refusal(parent: Kin): Failure | undefined;
}

export interface HasAssistants {
  /** The assistants that runs of this tree have spawned. */
  readonly spawned: Spawned;
  readonly slots: Slots;
}

const statusOf = (ended: Ended | undefined): ReturnType<Assistant['status']> =>
  ended === undefined ? 'running' : succeeded(ended) ? 'finished' : 'failed';

export function createSpawned(bounds: AssistantLimits): Spawned {
  const byParent = new Map<RunId, Assistant[]>();
  const lastTold = new Map<RunId, string>();
  const ended = new Map<string, Ended>();
  const of = (parent: RunId): Assistant[] => {
    const known = byParent.get(parent) ?? [];
    byParent.set(parent, known);
    return known;
  };
  return {
    of,
    note(parent, run, agent, child) {
      const result = (): Ended | undefined => ended.get(run);
      of(parent).push({ run, agent, child, result, status: () => statusOf(result()) });
      child.result.then(
        (result) => {
          ended.set(run, result);
        },
        // Interrupted: it goes on in another life.
        () => undefined,
      );
    },
    apply(event) {
      if (event.event_type === 'run.ended') ended.set(event.run_id, event.payload);
      if (event.event_type === 'run.reopened') ended.delete(event.run_id);
    },
    told: (parent, text) => void lastTold.set(parent, text),
    lastTold: (parent) => lastTold.get(parent),
    refusal: (parent) =>
      spawnRefusal(bounds, {
        kind: 'agent',
        depth: spawnDepth(parent),
        own: counted(of(parent.run)),
        inSession: counted([...byParent.values()].flat()),
      }),
  };
}

/** Assistants that ended while the run worked have told it what they found; those that it cuts off have told it nothing. */
export const answersOfAssistants = ({ spawned }: HasAssistants, { run }: { readonly run: RunId }): readonly NamedResult[] =>
  spawned.of(run).flatMap(({ agent, result }) => {
    const ended = result();
    return ended === undefined ? [] : [{ name: agent, result: ended }];
  });

const counted = (all: readonly Assistant[]): readonly Counted[] => all.map(({ status }) => ({ atWork: status() === 'running' }));

/** How many of the runs from here up were spawned. */
function spawnDepth(node: Kin): number {
  let depth = 0;
  for (let up: Kin | undefined = node; up !== undefined; up = up.parent) if (spawnerOf(up.started) !== undefined) depth += 1;
  return depth;
}
