/**
 * Groups and folders in the ledger: read by folding, changed by one writer at a time. A change looks at what is there while it
 * holds the lease of the session, so two processes that want the same name cannot both get it.
 */
import { type Clock, sleep } from '../base/clock.ts';
import type { EventId, RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { readAll } from '../engine/record/read-all.ts';
import type { Failure, Payloads } from '../events/catalogue.ts';
import type { organisationEvents } from '../events/organisation.ts';
import type { Fence, Ledger, NewEvent } from '../ledger/port.ts';
import { foldOrganisation, groupOfSession, initialOrganisation, ORGANISATION, type Organisation } from '../projections/groups.ts';

export interface OrganisationNeeds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** The project's folder. */
  readonly root: string;
}

type OrganisationType = Exclude<keyof typeof organisationEvents, `prompt.${string}`>;
export type OrganisationChange = {
  [Type in OrganisationType]: { readonly type: Type; readonly payload: Payloads[Type] };
}[OrganisationType];

/** Looks at what is there, says what changes; `whileHeld` happens before anybody else may change anything. */
export interface OrganisationDecision<Value> {
  readonly changes: readonly OrganisationChange[];
  readonly value: Value;
  whileHeld?(): Promise<Result<void, Failure>>;
}

/** The session has no agent that runs: its one lease is what serialises the writers. */
const WRITER = 'run_organisation' as RunId;
const RETRY_MS = 20;

export async function readOrganisation(ledger: Ledger): Promise<Organisation> {
  const state = initialOrganisation();
  for (const event of await readAll(ledger, ORGANISATION)) foldOrganisation(state, event);
  return state;
}

/** Whose session this is, when it is a group's: nobody but the group begins a run in it, and nobody in one that was deleted. */
export async function ownerOfSession(
  ledger: Ledger,
  session: SessionId,
): Promise<{ readonly name: string; readonly deleted: boolean } | undefined> {
  const state = await readOrganisation(ledger);
  const group = groupOfSession(state, session);
  return group && { name: group.name, deleted: !state.groups.has(group.group) };
}

export async function changeOrganisation<Value>(
  needs: OrganisationNeeds,
  decide: (
    state: Organisation,
  ) => Result<OrganisationDecision<Value>, Failure> | Promise<Result<OrganisationDecision<Value>, Failure>>,
): Promise<Result<Value, Failure>> {
  const fence = await takeTurn(needs);
  if (fence === undefined) return fail(busy);
  try {
    const decided = await decide(await readOrganisation(needs.ledger));
    if (!decided.ok) return decided;
    const { changes, value, whileHeld } = decided.value;
    if (!(await write(needs, fence, changes))) return fail(busy);
    const after = await whileHeld?.();
    return after === undefined || after.ok ? ok(value) : after;
  } finally {
    await needs.ledger.release(fence).catch(() => undefined);
  }
}

async function takeTurn({ ledger, clock }: OrganisationNeeds): Promise<Fence | undefined> {
  const until = clock.elapsed() + limits.organisationWaitMs;
  for (let delay = RETRY_MS; ; delay = Math.min(delay * 2, limits.leaseRenewMs / 10)) {
    const lease = await ledger.acquire(ORGANISATION, WRITER);
    if (lease.kind === 'acquired') return lease.fence;
    if (clock.elapsed() > until) return undefined;
    await sleep(clock, delay);
  }
}

async function write(
  { ledger, clock, root }: OrganisationNeeds,
  fence: Fence,
  changes: readonly OrganisationChange[],
): Promise<boolean> {
  if (changes.length === 0) return true;
  const at = clock.now();
  const [first] = await ledger.read({ session: ORGANISATION, limit: 1 });
  const opening: NewEvent = {
    type: 'session.started',
    run: WRITER,
    actor: 'system',
    cause: null,
    payload: { title: 'groups and folders', workspace: root },
    at,
  };
  const cause: EventId | NewEvent = first?.event_id ?? opening;
  const events = changes.map((change): NewEvent => ({ ...change, run: WRITER, actor: 'user', cause, at }) as NewEvent);
  const outcome = await ledger.append({
    session: ORGANISATION,
    fence,
    events: first === undefined ? [opening, ...events] : events,
    sync: 'power',
  });
  // Collecting old sessions must never take the groups away.
  if (first === undefined) await ledger.pin(ORGANISATION, true);
  return outcome.kind === 'appended';
}

const busy: Failure = {
  code: 'organisation_busy',
  message: `Somebody else has been changing groups for ${limits.organisationWaitMs / 1000} seconds (limit organisationWaitMs).`,
  fix: 'Try again.',
};
