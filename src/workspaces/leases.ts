/**
 * Whose files are whose, in all processes that share a ledger. A task leases its domain before it works; one that could write
 * the same files is refused, or waits. Each lease has a number greater than all before it: a task that is taken up again
 * leases anew, and whoever held the earlier one finds that it no longer holds. A lease ends when it is given back, when its
 * run has ended, or when nobody drives that any more.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { type RunId, type SessionId, shortId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure, Payloads } from '../events/catalogue.ts';
import { asOnlyWriter, type KeptChange, type KeptSession, writeKept } from '../ledger/one-writer.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import { overlapOf, readDomain } from './domains.ts';
import type { DomainPaths } from './port.ts';

export const WORKSPACES = 'ses_workspaces' as SessionId;

export interface LeaseNeeds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** The project's folder. */
  readonly root: string;
}

export interface WantedLease {
  readonly task: string;
  readonly session: string;
  /** Who would go on with the task after a crash: its root run. */
  readonly run: string;
  readonly repo: string;
  readonly domain: DomainPaths;
  /** The run is worked on by whoever it is assigned to: it goes on by itself. */
  readonly assigned?: boolean | undefined;
}

export interface DomainLease {
  readonly token: number;
  readonly task: string;
  readonly session: string;
}

/** Who has what is wanted, and which of it. */
export interface LeaseHolder {
  readonly task: string;
  readonly run: string;
  readonly overlap: string;
  /** How that run is: one that stands still keeps its files until it goes on or ends. */
  readonly state?: RunRow['state'] | undefined;
}

export interface LeaseWaiting {
  /** Leases of the same run do not stand against each other: whoever drives it keeps its tasks apart. */
  readonly amongRun?: boolean | undefined;
  /** `refuse` unless said. */
  readonly whenTaken?: 'refuse' | 'wait' | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told when it begins to wait, and whenever it waits for somebody else. */
  readonly told?: ((holders: readonly LeaseHolder[]) => void) | undefined;
}

type Lease = Payloads['domain.leased'];

interface Standing {
  readonly open: ReadonlyMap<number, Lease>;
  readonly last: number;
}

export async function leaseDomain(
  needs: LeaseNeeds,
  wanted: WantedLease,
  { whenTaken = 'refuse', amongRun = false, signal, told }: LeaseWaiting = {},
): Promise<Result<DomainLease, Failure>> {
  const started = needs.clock.elapsed();
  let before = '';
  for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, limits.domainLookMs)) {
    const outcome = await tryLease(needs, wanted, amongRun);
    if (!outcome.ok) return outcome;
    if (outcome.value.kind === 'leased') return ok(outcome.value.lease);
    const { holders } = outcome.value;
    if (whenTaken === 'refuse') return fail(taken(wanted, holders));
    const now = holders.map(({ task }) => task).join(', ');
    if (now !== before) told?.(holders);
    before = now;
    if (needs.clock.elapsed() - started >= limits.domainWaitMs) return fail(waitedTooLong(wanted, holders));
    if ((await sleep(needs.clock, pauseMs, signal)) === 'aborted')
      return fail({ code: 'cancelled', message: `${wanted.task} no longer waits for its files.` });
  }
}

/** Again, it does nothing. */
export async function releaseDomain(needs: LeaseNeeds, { token }: DomainLease): Promise<Result<void, Failure>> {
  const done = await asOnlyWriter(keptBy(needs), async (fence) => {
    const { open } = await standing(needs.ledger);
    const changes: KeptChange[] = open.has(token) ? [{ type: 'domain.released', payload: { token, why: 'done' } }] : [];
    return await writeKept(keptBy(needs), fence, changes);
  });
  return done.ok && done.value ? ok(undefined) : fail(busy);
}

/** Whether it still holds: nobody has taken the task up meanwhile, and its run has not ended. */
export async function holdsDomain({ ledger }: Pick<LeaseNeeds, 'ledger'>, { token }: DomainLease): Promise<boolean> {
  const { open } = await standing(ledger);
  const lease = open.get(token);
  return lease !== undefined && (await runOf(ledger, lease)).over === undefined;
}

type Tried =
  | { readonly kind: 'leased'; readonly lease: DomainLease }
  | { readonly kind: 'taken'; readonly holders: readonly LeaseHolder[] };

async function tryLease(needs: LeaseNeeds, wanted: WantedLease, amongRun: boolean): Promise<Result<Tried, Failure>> {
  const domain = readDomain(wanted.domain);
  if (!domain.ok) return domain;
  const kept = keptBy(needs);
  const done = await asOnlyWriter(kept, async (fence): Promise<Result<Tried, Failure>> => {
    const { open, last } = await standing(needs.ledger);
    const changes: KeptChange[] = [];
    const holders: LeaseHolder[] = [];
    let insteadOf: number | undefined;
    for (const [token, lease] of open) {
      if (lease.task === wanted.task && lease.session === wanted.session) {
        insteadOf = token;
        continue;
      }
      const apart = lease.repo !== wanted.repo || (amongRun && lease.run === wanted.run);
      const theirs = !apart ? readDomain(lease) : undefined;
      const overlap = theirs?.ok === true ? overlapOf(domain.value, theirs.value) : undefined;
      if (overlap === undefined) continue;
      const { over, state } = await runOf(needs.ledger, lease);
      if (over !== undefined) changes.push({ type: 'domain.released', payload: { token, why: over } });
      else holders.push({ task: lease.task, run: lease.run, overlap, ...present({ state }) });
    }
    if (holders.length > 0) return ok({ kind: 'taken', holders });
    const { task, session, run, repo, assigned } = wanted;
    const token = last + 1;
    const { include, exclude, noTouch } = wanted.domain;
    const paths = { include: [...include], exclude: [...exclude], noTouch: [...noTouch] };
    const payload: Lease = { token, task, session, run, repo, ...paths, ...present({ insteadOf, assigned }) };
    const written = await writeKept(kept, fence, [...changes, { type: 'domain.leased', payload }]);
    return written ? ok({ kind: 'leased', lease: { token, task, session } }) : fail(busy);
  });
  return done.ok ? done.value : fail(busy);
}

const keptBy = (needs: LeaseNeeds): KeptSession => ({
  ...needs,
  session: WORKSPACES,
  writer: 'run_workspaces' as RunId,
  title: 'domains of tasks',
  actor: 'system',
});

/** What was read is not read again: leases are many in a long life. */
const known = new WeakMap<Ledger, Standing & { readonly after: number }>();

async function standing(ledger: Ledger): Promise<Standing> {
  const before = known.get(ledger);
  const open = new Map(before?.open);
  let [last, after] = [before?.last ?? 0, before?.after ?? 0];
  for await (const event of readEvents(ledger, { session: WORKSPACES, after, exact: true })) {
    after = event.position;
    if (event.event_type === 'domain.released') open.delete(event.payload.token);
    if (event.event_type !== 'domain.leased') continue;
    if (event.payload.insteadOf !== undefined) open.delete(event.payload.insteadOf);
    open.set(event.payload.token, event.payload);
    last = Math.max(last, event.payload.token);
  }
  if (after > (known.get(ledger)?.after ?? 0)) known.set(ledger, { open, last, after });
  return { open, last };
}

const UNENDED: ReadonlySet<string> = new Set(['running', 'waiting', 'paused', 'parked']);

interface Holding {
  readonly over?: 'ended' | 'left';
  readonly state?: RunRow['state'];
}

/** A run that was cut off and that nobody drives works on nothing: taken up again, its tasks lease anew. */
async function runOf(ledger: Ledger, { run, assigned }: Lease): Promise<Holding> {
  const [row] = await ledger.runs({ run: run as RunId });
  if (row === undefined) return {};
  const { state } = row;
  if (!UNENDED.has(state)) return { over: 'ended', state };
  return state === 'running' && row.owner === null && assigned !== true ? { over: 'left', state } : { state };
}

/** How the run of a holder is, and what gives its files back. */
const STANDING: Readonly<Partial<Record<RunRow['state'], readonly [is: string, free: (run: string) => string]>>> = {
  running: ['is at work', (run) => `Wait until ${run} has ended`],
  waiting: ['waits for an answer', (run) => `Answer what ${run} asks: troupe inbox`],
  paused: ['is paused', (run) => `Let ${run} go on: troupe resume ${run}`],
  parked: ['stands still', (run) => `Let ${run} go on: troupe resume ${run}`],
};

const listed = (holders: readonly LeaseHolder[]): string =>
  holders
    .map(({ task, run, overlap, state }) => {
      const [is] = (state === undefined ? undefined : STANDING[state]) ?? [];
      return `${task} of ${shortId(run)} (${overlap})${is === undefined ? '' : `, which ${is}`}`;
    })
    .join('; ');

function taken({ task }: WantedLease, holders: readonly LeaseHolder[]): Failure {
  const ways = holders.flatMap(({ run, state }) => {
    const [, free] = (state === undefined ? undefined : STANDING[state]) ?? [];
    return [...(free === undefined ? [] : [free(shortId(run))]), `end it, which frees its files: troupe cancel ${shortId(run)}`];
  });
  const fix = [...new Set(ways), 'narrow include_paths'].join('; or ');
  return {
    ...{ code: 'domain_taken', message: `${task} could write the same files as ${listed(holders)}.` },
    fix: `${fix.slice(0, 1).toUpperCase()}${fix.slice(1)}.`,
  };
}

const waitedTooLong = (wanted: WantedLease, holders: readonly LeaseHolder[]): Failure => ({
  ...taken(wanted, holders),
  message: `${wanted.task} has waited ${limits.domainWaitMs / 60_000} minutes (domainWaitMs) for ${listed(holders)}.`,
});

const busy: Failure = {
  code: 'workspace_busy',
  message: `Others have been leasing files for ${limits.organisationWaitMs / 1_000} seconds (organisationWaitMs).`,
  fix: 'Try again.',
};
