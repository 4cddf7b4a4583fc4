/**
 * Groups and folders in the ledger: read by folding, changed by one writer at a time. A change looks at what is there while it
 * holds the lease of the session, so two processes that want the same name cannot both get it.
 */
import type { Clock } from '../base/clock.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Sender } from '../engine/port.ts';
import { readAll } from '../engine/record/read-all.ts';
import type { Failure, Payloads } from '../events/catalogue.ts';
import type { organisationEvents } from '../events/organisation.ts';
import { asOnlyWriter, writeKept } from '../ledger/one-writer.ts';
import type { Ledger } from '../ledger/port.ts';
import { foldOrganisation, groupOfSession, initialOrganisation, ORGANISATION, type Organisation } from '../projections/groups.ts';

export interface OrganisationNeeds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** The project's folder. */
  readonly root: string;
  /** Who changes it, where they had to say so: it stands with what they change. */
  readonly person?: Sender | undefined;
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

const ORGANISATION_KEPT = {
  session: ORGANISATION,
  writer: 'run_organisation' as RunId,
  title: 'groups and folders',
  actor: 'user',
} as const;

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
  const kept = { ...needs, ...ORGANISATION_KEPT };
  const done = await asOnlyWriter(kept, async (fence) => {
    const decided = await decide(await readOrganisation(needs.ledger));
    if (!decided.ok) return decided;
    const { changes, value, whileHeld } = decided.value;
    if (!(await writeKept(kept, fence, changes.map(saidBy(needs.person))))) return fail(busy);
    const after = await whileHeld?.();
    return after === undefined || after.ok ? ok(value) : after;
  });
  return done.ok ? done.value : fail(busy);
}

/** What is tidied up is nobody's act. */
const saidBy =
  (person: Sender | undefined) =>
  (change: OrganisationChange): OrganisationChange =>
    person === undefined || change.type === 'group.cleaned'
      ? change
      : ({ ...change, payload: { ...change.payload, ...person } } as OrganisationChange);

const busy: Failure = {
  code: 'organisation_busy',
  message: `Somebody else has been changing groups for ${limits.organisationWaitMs / 1000} seconds (limit organisationWaitMs).`,
  fix: 'Try again.',
};
