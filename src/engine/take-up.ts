/** Starting a run, and taking one up that was left: what is checked, what is written first. */
import type { RunId, SessionId } from '../base/ids.ts';
import type { Failure, Payloads } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import type { Fence, LeaseOutcome, Ledger, NewEvent, RunRow } from '../ledger/port.ts';
import { INPUT_STEP } from '../projections/transcript.ts';
import { projectScope, scopesOf, tighter } from './budget.ts';
import { ofSession } from './build-tree.ts';
import { END_STEP, resultOfEnd, SETUP_STEP } from './drive-run.ts';
import type { Driver } from './driver.ts';
import { failureOf } from './failure-of.ts';
import { createMembers } from './members.ts';
import { nobodyToAsk } from './models-below.ts';
import type { ResumeOutcome, StartOutcome, StartRequest } from './port.ts';
import { prepareAgent, unknownPrice } from './prepare.ts';
import { brokenReference } from './reachable.ts';
import { readAll } from './read-all.ts';
import { budgetOf, recordedDefinition, setupPayload } from './setup.ts';
import { adapted } from './setup-run.ts';
import { assistantLimits } from './spawned.ts';
import { heardIn, resumed } from './taking-up.ts';
import type { EngineParts, RunNode } from './tree.ts';

export async function startNew(all: EngineParts, request: StartRequest, driver: Driver): Promise<StartOutcome> {
  const session = request.session ?? all.ids.session();
  const parts = ofSession(all, session);
  const { spawnedBy } = request;
  const spawned = spawnedBy === undefined ? undefined : { by: spawnedBy };
  const prepared = await prepareAgent(parts, request.agent, request.workspace);
  const setup = await adapted(parts, prepared, { model: request.model, spawned });
  if (!setup.ok) return { kind: 'refused', error: setup.error };
  const broken = await brokenReference(setup.value.definition, parts.agent);
  if (broken !== undefined) return { kind: 'refused', error: broken };
  const run = request.run ?? parts.ids.run();
  const lifetime = spawned === undefined ? undefined : { wallMs: assistantLimits(parts).lifetimeMs };
  const budget = tighter(tighter(budgetOf(setup.value.definition), request.budget), lifetime);
  const unknown = unknownPrice(parts, setup.value, scopesOf(run, budget, projectScope(parts.projectBudget)));
  if (unknown !== undefined) return { kind: 'refused', error: unknown };
  const closed = await nobodyToAsk(parts, setup.value.definition, setup.value.models);
  if (closed !== undefined) return { kind: 'refused', error: closed };

  const lease = await acquire(parts.ledger, session, run);
  if (lease.kind !== 'acquired') return { kind: 'refused', error: lease.kind === 'failed' ? lease.error : busy(session, lease) };
  const events = request.session === undefined ? [] : await readAll(parts.ledger, session);
  const { member, model, workspaces } = request;
  const before = member === undefined ? continued(events, request.agent) : latestOf(events, member);
  const started: Payloads['run.started'] = {
    agent: setup.value.definition.name,
    input: request.input,
    depth: 0,
    ...(spawned === undefined ? {} : { role: 'assistant', spawned }),
    ...(budget === undefined ? {} : { budget }),
    ...(before === undefined ? {} : { continues: before }),
    ...(member === undefined ? {} : { member }),
    ...(model === undefined ? {} : { model }),
    ...(workspaceChanges(events, request.workspace) ? { workspace: request.workspace } : {}),
    ...(workspaces === undefined ? {} : { workspaces }),
  };
  const opening = (root: RunNode): readonly NewEvent[] => {
    const cause = events.at(-1)?.event_id ?? null;
    const begin =
      events.length > 0
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
  try {
    const task = {
      session,
      run,
      fence: lease.fence,
      workspace: request.workspace,
      started,
      events,
      heard: heardIn(events),
      rootSetup: setup.value,
      opening,
    };
    return { kind: 'started', handle: await driver.drive(task) };
  } catch (error) {
    return { kind: 'refused', error: await givenBack(parts.ledger, lease.fence, error) };
  }
}

/** A lease that leads to nothing is not kept. */
async function givenBack(ledger: Ledger, fence: Fence, error: unknown): Promise<Failure> {
  await ledger.release(fence).catch(() => undefined);
  return failureOf(error);
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
  const events = await readAll(parts.ledger, root.session);
  const started = events.find((event) => event.event_type === 'run.started' && event.run_id === root.run);
  const session = events.find((event) => event.event_type === 'session.started');
  if (started?.event_type !== 'run.started' || session?.event_type !== 'session.started') {
    await parts.ledger.release(lease.fence);
    return { kind: 'unknown' };
  }
  const { takenOver } = lease;
  try {
    const handle = await driver.drive({
      session: root.session,
      run: root.run,
      fence: lease.fence,
      workspace: session.payload.workspace,
      started: started.payload,
      events,
      heard: heardIn(events),
      opening: resumed(parts, events, takenOver),
    });
    return { kind: 'resumed', handle, takenOver };
  } catch (error) {
    return { kind: 'refused', error: await givenBack(parts.ledger, lease.fence, error) };
  }
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

/** The latest root run of the same agent that has ended: its conversation goes on. */
function continued(events: readonly LedgerEvent[], agent: string): string | undefined {
  const ended = new Set(
    events.flatMap((event) => (event.event_type === 'run.ended' && event.step === END_STEP ? [event.run_id] : [])),
  );
  return events.findLast(
    (event) =>
      event.event_type === 'run.started' && event.payload.agent === agent && event.payload.depth === 0 && ended.has(event.run_id),
  )?.run_id;
}

function latestOf(events: readonly LedgerEvent[], member: string): RunId | undefined {
  const members = createMembers();
  for (const event of events) members.apply(event);
  return members.latest(member);
}

/** Whether the run works elsewhere than its session did from the beginning. */
function workspaceChanges(events: readonly LedgerEvent[], workspace: string): boolean {
  const first = events.find((event) => event.event_type === 'session.started');
  return first?.event_type === 'session.started' && first.payload.workspace !== workspace;
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
