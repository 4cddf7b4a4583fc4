/** Starting a run, and taking one up that was left: what is checked, what is written first. */
import type { EventId, RunId, SessionId } from '../base/ids.ts';
import type { Failure, Payloads } from '../events/catalogue.ts';
import type { EventOf } from '../events/envelope.ts';
import type { Fence, LeaseOutcome, Ledger, NewEvent, RunRow } from '../ledger/port.ts';
import { INPUT_STEP } from '../projections/transcript.ts';
import { failureOf } from './failure-of.ts';
import type { Driver } from './local/embedded-driver.ts';
import { nobodyToAsk } from './models-below.ts';
import type { ResumeOutcome, StartOutcome, StartRequest } from './port.ts';
import { brokenReference } from './reachable.ts';
import { budgetOf, recordedDefinition, setupPayload } from './record/agent-setup.ts';
import { createMembers } from './record/members.ts';
import { latestEnded, NO_PAST, type Past, pastBefore, pastOf } from './record/past.ts';
import { resumed } from './record/resumed-event.ts';
import { ofSession } from './run/build-tree.ts';
import { resultOfEnd, SETUP_STEP } from './run/drive-run.ts';
import { prepareAgent, unknownPrice } from './run/prepare.ts';
import { adapted } from './run/setup-run.ts';
import { commandsRefusal } from './spawning/client-rights.ts';
import { assistantLimits } from './spawning/spawned.ts';
import { projectScope, scopesOf, tighter } from './spending/budget.ts';
import type { EngineParts, RunNode } from './tree.ts';

export async function startNew(all: EngineParts, request: StartRequest, driver: Driver): Promise<StartOutcome> {
  const session = request.session ?? all.ids.session();
  const parts = ofSession(all, session);
  const { spawnedBy, rights } = request;
  const spawned = spawnedBy === undefined ? undefined : { by: spawnedBy, ...(rights === undefined ? {} : { rights }) };
  const prepared = await prepareAgent(parts, request.agent, request.workspace);
  const setup = await adapted(parts, prepared, { model: request.model, spawned });
  if (!setup.ok) return { kind: 'refused', error: setup.error };
  const broken = await brokenReference(setup.value.definition, parts.agent);
  if (broken !== undefined) return { kind: 'refused', error: broken };
  const commands = await commandsRefusal(parts, setup.value.definition, rights);
  if (commands !== undefined) return { kind: 'refused', error: commands };
  const run = request.run ?? parts.ids.run();
  const lifetime = spawned === undefined ? undefined : { wallMs: assistantLimits(parts).lifetimeMs };
  const budget = tighter(tighter(budgetOf(setup.value.definition), request.budget), lifetime);
  const unknown = unknownPrice(parts, setup.value, scopesOf(run, budget, projectScope(parts.projectBudget)));
  if (unknown !== undefined) return { kind: 'refused', error: unknown };
  const closed = await nobodyToAsk(parts, setup.value.definition, setup.value.models);
  if (closed !== undefined) return { kind: 'refused', error: closed };

  const lease = await acquire(parts.ledger, session, run);
  if (lease.kind !== 'acquired') return { kind: 'refused', error: lease.kind === 'failed' ? lease.error : busy(session, lease) };
  return await withLease(parts.ledger, lease.fence, async (): Promise<StartOutcome> => {
    const begun = request.session === undefined ? undefined : await begunSession(parts.ledger, session);
    const past = begun === undefined ? NO_PAST : await pastBefore(parts.ledger, session);
    const { member, model, workspaces } = request;
    const before = await continued(parts.ledger, session, request, past);
    const started: Payloads['run.started'] = {
      agent: setup.value.definition.name,
      input: request.input,
      depth: 0,
      ...(spawned === undefined ? {} : { role: 'assistant', spawned }),
      ...(budget === undefined ? {} : { budget }),
      ...(before === undefined ? {} : { continues: before }),
      ...(member === undefined ? {} : { member }),
      ...(model === undefined ? {} : { model }),
      ...(begun !== undefined && begun.workspace !== request.workspace ? { workspace: request.workspace } : {}),
      ...(workspaces === undefined ? {} : { workspaces }),
    };
    const opening = (root: RunNode): readonly NewEvent[] => {
      const cause = begun?.newest ?? null;
      const begin =
        begun !== undefined
          ? []
          : [root.journal.event('session.started', { workspace: request.workspace }, { actor: 'system', cause })];
      const start = root.journal.event('run.started', started, {
        step: INPUT_STEP,
        actor: 'user',
        ...(cause === null ? {} : { cause }),
      });
      const config = root.journal.event('session.config', setupPayload(setup.value), { step: SETUP_STEP, actor: 'system' });
      return [...begin, start, config];
    };
    const { fence } = lease;
    const task = { session, run, fence, workspace: request.workspace, started, past, rootSetup: setup.value, opening };
    return { kind: 'started', handle: await driver.drive(task) };
  });
}

/** A lease that leads to nothing is not kept, whatever went wrong on the way. */
async function withLease<Outcome extends { readonly kind: string }>(
  ledger: Ledger,
  fence: Fence,
  begin: () => Promise<Outcome>,
): Promise<Outcome | { readonly kind: 'refused'; readonly error: Failure }> {
  try {
    return await begin();
  } catch (error) {
    await ledger.release(fence).catch(() => undefined);
    return { kind: 'refused', error: failureOf(error) };
  }
}

/** Goes on with a root run that nobody drives. */
export async function takeUp(parts: EngineParts, root: RunRow, driver: Driver, purpose: 'go on' | 'end'): Promise<ResumeOutcome> {
  if (root.endedAt !== null) {
    const [ended] = await parts.ledger.read({ session: root.session, run: root.run, types: ['run.ended'] });
    if (ended?.event_type === 'run.ended') return { kind: 'ended', result: resultOfEnd(root.run, ended.payload) };
  }
  const closed = purpose === 'end' ? undefined : await closedSince(ofSession(parts, root.session), root);
  if (closed !== undefined) return { kind: 'refused', error: closed };
  const lease = await acquire(parts.ledger, root.session, root.run);
  if (lease.kind === 'failed') return { kind: 'refused', error: lease.error };
  if (lease.kind !== 'acquired') return { kind: 'held', owner: lease.owner };
  const { fence, takenOver } = lease;
  return await withLease(parts.ledger, fence, async (): Promise<ResumeOutcome> => {
    const past = await pastOf(parts.ledger, root.session, root.run);
    const started = past.events.find((event) => event.event_type === 'run.started' && event.run_id === root.run);
    const session = await begunSession(parts.ledger, root.session);
    if (started?.event_type !== 'run.started' || session === undefined) {
      await parts.ledger.release(fence);
      return { kind: 'unknown' };
    }
    const task = { session: root.session, run: root.run, fence, workspace: session.workspace, started: started.payload, past };
    const handle = await driver.drive({ ...task, opening: resumed(parts, past, takenOver) });
    return { kind: 'resumed', handle, takenOver };
  });
}

/** A run that cannot go on in this shell, for want of a key, is left as it is. */
async function closedSince(parts: EngineParts, { session, run }: RunRow): Promise<Failure | undefined> {
  const [setup] = await parts.ledger.read({ session, run, types: ['session.config'], limit: 1 });
  if (setup?.event_type !== 'session.config') return undefined;
  const definition = recordedDefinition(setup.payload);
  return await nobodyToAsk(parts, definition, definition.models);
}

export async function startedEvent(ledger: Ledger, row: RunRow): Promise<EventOf<'run.started'> | undefined> {
  const [event] = await ledger.read({ session: row.session, run: row.run, types: ['run.started'], limit: 1 });
  return event?.event_type === 'run.started' ? event : undefined;
}

/** Whose conversation goes on: the latest root run of the same agent that has ended, or the member's latest run. */
async function continued(
  ledger: Ledger,
  session: SessionId,
  { agent, member }: StartRequest,
  { events, facts }: Past,
): Promise<string | undefined> {
  if (member === undefined) return await latestEnded(ledger, session, agent);
  const members = createMembers();
  members.restore(facts.members);
  for (const event of events) members.apply(event);
  return members.latest(member);
}

/** Where a session works that has begun, and its newest event. */
async function begunSession(
  ledger: Ledger,
  session: SessionId,
): Promise<{ readonly workspace: string; readonly newest: EventId } | undefined> {
  const [first] = await ledger.read({ session, limit: 1 });
  const [newest] = await ledger.read({ session, newest: true, limit: 1 });
  if (first?.event_type !== 'session.started' || newest === undefined) return undefined;
  return { workspace: first.payload.workspace, newest: newest.event_id };
}

type Acquired = LeaseOutcome | { readonly kind: 'failed'; readonly error: Failure };

async function acquire(ledger: Ledger, session: SessionId, run: RunId): Promise<Acquired> {
  try {
    return await ledger.acquire(session, run);
  } catch (error) {
    return { kind: 'failed', error: failureOf(error) };
  }
}

function busy(session: SessionId, lease: Extract<LeaseOutcome, { kind: 'held' | 'busy_session' }>): Failure {
  const other = lease.kind === 'busy_session' ? lease.run : 'this run';
  return {
    code: 'session_busy',
    message: `Session ${session} has an unfinished run (${other}); it takes one at a time.`,
    fix:
      lease.kind === 'busy_session'
        ? `Finish it with: troupe resume ${other} (or end it with: troupe cancel ${other})`
        : 'Wait until it ends.',
  };
}
