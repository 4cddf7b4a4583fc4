/**
 * Who is who. A thread is open to its owner, the owner's parent, its siblings and its children, and to nobody else (A2). A run
 * takes part in this when it was spawned, or as the parent of those that it has spawned itself.
 *
 * What never changes of a run is remembered. Whether an id is unknown or belongs to strangers cannot be told from outside.
 */

import { type EventId, type RunId, type SessionId, threadOwner } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createRecentlyUsed } from '../../base/recently-used.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Party } from '../../events/assistants.ts';
import type { Failure } from '../../events/catalogue.ts';
import { parentRun, spawnerOf } from '../../events/run-origin.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { Caller } from '../port.ts';

/** A run's place in its family. */
export interface Kin {
  readonly run: RunId;
  readonly parent: RunId | null;
  /** The agent or client that spawned it; `null` when it was not spawned. */
  readonly spawnedBy: string | null;
}

export interface FamilyMember extends Kin {
  readonly session: SessionId;
  readonly agent: string;
  /** Its `run.started`: what a message to it follows from. */
  readonly started: EventId;
}

/** A caller whose run is known. */
export type Known = { readonly kind: 'client'; readonly name: string } | { readonly kind: 'run'; readonly member: FamilyMember };

type Asking = { readonly kind: 'client'; readonly name: string } | { readonly kind: 'run'; readonly member: Kin };

/** A caller, and the process that it may look at or write to. */
export interface Access {
  readonly caller: Known;
  readonly owner: FamilyMember;
}

export interface Family {
  toProcess(caller: Caller, process: string): Promise<Result<Access, Failure>>;
  toThread(caller: Caller, thread: string): Promise<Result<Access, Failure>>;
}

export function createFamily(ledger: Ledger): Family {
  const members = createRecentlyUsed<string, FamilyMember>(limits.familyMembersKept);

  const find = async (run: string): Promise<FamilyMember | undefined> => {
    const known = members.get(run);
    if (known !== undefined || !/^run_[0-9a-z]+$/.test(run)) return known;
    const found = await readMember(ledger, run as RunId);
    if (found !== undefined) members.set(run, found);
    return found;
  };

  const access = async (caller: Caller, run: string | undefined): Promise<Access | undefined> => {
    const owner = run === undefined ? undefined : await find(run);
    const known = caller.kind === 'client' ? caller : await knownRun(caller.run);
    if (owner === undefined || known === undefined || !mayUse(known, owner)) return undefined;
    return { caller: known, owner };
  };
  const knownRun = async (run: RunId): Promise<Known | undefined> => {
    const member = await find(run);
    return member === undefined ? undefined : { kind: 'run', member };
  };

  return {
    async toProcess(caller, process) {
      const found = await access(caller, process);
      return found === undefined ? fail(unknownProcess(process)) : ok(found);
    },
    async toThread(caller, thread) {
      const found = await access(caller, threadOwner(thread));
      return found === undefined ? fail(unknownThread(thread)) : ok(found);
    },
  };
}

async function readMember(ledger: Ledger, run: RunId): Promise<FamilyMember | undefined> {
  const [row] = await ledger.runs({ run, limit: 1 });
  if (row === undefined) return undefined;
  const [event] = await ledger.read({ session: row.session, run, types: ['run.started'], limit: 1 });
  if (event?.event_type !== 'run.started') return undefined;
  const parent = parentRun(event.payload);
  return {
    run,
    session: row.session,
    agent: event.payload.agent,
    // As it was written, also if there is no such run: a child that has lost its parent is nobody else's.
    parent: parent === undefined ? null : (parent as RunId),
    spawnedBy: spawnerOf(event.payload)?.by ?? null,
    started: event.event_id,
  };
}

/** A2, exactly. */
export function mayUse(caller: Asking, owner: Kin): boolean {
  if (owner.spawnedBy === null) return false;
  if (caller.kind === 'client') return isClientParent(caller.name, owner);
  const { member } = caller;
  if (member.run === owner.run || member.run === owner.parent) return true;
  return member.spawnedBy !== null && (member.parent === owner.run || areSiblings(member, owner));
}

function isClientParent(name: string, { parent, spawnedBy }: Kin): boolean {
  return parent === null && spawnedBy === name;
}

/** Of the same run, or both spawned by the same client. */
function areSiblings(one: Kin, other: Kin): boolean {
  return one.parent === other.parent && (one.parent !== null || one.spawnedBy === other.spawnedBy);
}

/** Whoever spawned a run, as a party in its thread. */
export function parentOf({ parent, spawnedBy }: Kin): Party | undefined {
  if (spawnedBy === null) return undefined;
  return parent === null ? { assistant: spawnedBy } : { assistant: spawnedBy, run: parent };
}

export function partyOf(caller: Known): Party {
  return caller.kind === 'client' ? { assistant: caller.name } : { assistant: caller.member.agent, run: caller.member.run };
}

function unknownProcess(process: string): Failure {
  return {
    code: 'unknown_process',
    message: `There is no process ${brief(process)} that you take part in.`,
    fix: 'Use a process_id that spawn_assistant gave to you or to your parent.',
  };
}

function unknownThread(thread: string): Failure {
  return {
    code: 'unknown_thread',
    message: `There is no thread ${brief(thread)} that you take part in.`,
    fix: 'Use your own thread_id, or one that spawn_assistant gave to you or to your parent.',
  };
}

const brief = (id: string): string => JSON.stringify(id.slice(0, 60));
