/**
 * Whom a message is for and in whose thread it lies. A message to a process lies in that process's thread, a message to one's
 * parent in one's own (A3). Only a process that the sender may use, and that takes part in the thread it names, can be meant.
 */
import { type RunId, threadOf } from '../../base/ids.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Party } from '../../events/assistants.ts';
import type { Failure } from '../../events/catalogue.ts';
import { hasEnded, type Process, type Processes } from '../../projections/processes.ts';
import { type Access, type FamilyMember, mayUse, parentOf } from './family.ts';

export interface Recipient {
  readonly to: Party;
  /** The run in whose thread the message lies. */
  readonly owner: RunId;
}

export function recipientOf(access: Access, name: string, processes: Processes): Result<Recipient, Failure> {
  const { caller, owner } = access;
  const self = caller.kind === 'run' ? caller.member : undefined;
  const parent = parentAsRecipient(self);
  const parentIsMeant = parent !== undefined && parent.to.assistant === name;
  // In one's own thread, one's parent comes before a sibling of the same name, which has a thread of its own.
  if (parentIsMeant && (owner.run === self?.run || owner.run === parent.to.run)) return ok(parent);
  if (owner.run !== self?.run && owner.agent === name) return ok(toProcess(owner));

  const others = relatives(access, processes);
  const named = others.filter(({ agent }) => agent === name);
  const atWork = named.filter((one) => !hasEnded(one)).map(toProcess);
  const live = parentIsMeant ? [parent, ...atWork] : atWork;
  // One that has ended is only meant when nobody else can be, and then the answer is that it has ended.
  const candidates = live.length > 0 ? live : named.slice(-1).map(toProcess);
  const [only] = candidates;
  if (only === undefined) return fail(nobody(name, others, parent?.to));
  return candidates.length === 1 ? ok(only) : fail(ambiguous(name, candidates));
}

function parentAsRecipient(self: FamilyMember | undefined): Recipient | undefined {
  const parent = self === undefined ? undefined : parentOf(self);
  return self === undefined || parent === undefined ? undefined : { to: parent, owner: self.run };
}

/** Everybody else in the thread whom the caller may write to: each has a thread of its own. */
function relatives({ caller, owner }: Access, processes: Processes): readonly Process[] {
  const self = caller.kind === 'run' ? caller.member : undefined;
  const isOther = ({ run }: Process): boolean => run !== self?.run && run !== self?.parent;
  const takesPart = (one: Process): boolean => mayUse({ kind: 'run', member: one }, owner);
  return [...processes.all()].filter((one) => isOther(one) && mayUse(caller, one) && takesPart(one));
}

const toProcess = ({ run, agent }: Pick<Process, 'run' | 'agent'>): Recipient => ({ to: { assistant: agent, run }, owner: run });

function nobody(name: string, others: readonly Process[], parent: Party | undefined): Failure {
  const atWork = others.filter((one) => !hasEnded(one)).map((one) => `${one.agent} (thread_id ${threadOf(one.run)})`);
  const all = parent === undefined ? atWork : [`${parent.assistant} (your parent, in your own thread)`, ...atWork];
  return {
    code: 'unknown_assistant',
    message: `Nobody called ${brief(name)} can be reached in this thread.`,
    fix: all.length === 0 ? 'Name the assistant whose thread_id you use.' : `You can write to: ${all.join(', ')}.`,
  };
}

function ambiguous(name: string, candidates: readonly Recipient[]): Failure {
  const threads = candidates.map(({ owner }) => threadOf(owner)).join(', ');
  const message = `Several are called ${brief(name)}.`;
  return { code: 'ambiguous_assistant', message, fix: `Use the thread_id of the one that you mean: ${threads}.` };
}

const brief = (name: string): string => JSON.stringify(name.slice(0, 100));
