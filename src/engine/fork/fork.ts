/**
 * A session that begins with the past of a run. The events of the source up to the place are copied, at the same positions and
 * under other ids, and what was under way there is undone, as when a run is reopened: so the engine takes it up like any run
 * that was cut off. All of it is one append: after a crash there is a whole fork, or none.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { eventId, type SessionId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure, Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { ForkSource, LeftOutPart } from '../../events/going-on.ts';
import { userText } from '../../events/messages.ts';
import type { NewEvent, RunRow } from '../../ledger/port.ts';
import { spendingIn } from '../../projections/costs.ts';
import { failureOf } from '../failure-of.ts';
import { beforeImport } from '../imported-sessions.ts';
import { withLease } from '../lease.ts';
import {
  type AgentAccess,
  type LedgerAccess,
  type ModelAccess,
  ofSession,
  type TimeAndIds,
  type ToolAccess,
} from '../options.ts';
import type { ForkOutcome, ForkRequest } from '../port.ts';
import { setupPayload } from '../record/agent-setup.ts';
import { readAll, sealedError } from '../record/read-all.ts';
import { SETUP_STEP } from '../run/drive-run.ts';
import { prepareAgent } from '../run/prepare.ts';
import { treeIn } from './at-work.ts';
import { copiedCounters, copiedEvents, type ForkIds, forkIds } from './copied.ts';
import { type ForkPlace, forkPlace } from './places.ts';
import { placeForSet, type Replaced, refusedSet, replacedAt } from './set.ts';
import { underWay } from './undone.ts';
import { leftOutThere, partsWithout, placeForWithout } from './without.ts';

/** What making one takes. */
type Forks = LedgerAccess & TimeAndIds & AgentAccess & ModelAccess & ToolAccess;

export async function fork(options: Forks, request: ForkRequest, row: RunRow): Promise<ForkOutcome> {
  try {
    const planned = await plan(options, request, row);
    return planned.ok ? await write(options, request, planned.value) : { kind: 'refused', error: planned.error };
  } catch (error) {
    return { kind: 'refused', error: failureOf(error) };
  }
}

interface Plan {
  readonly place: ForkPlace;
  /** What is kept, oldest first. */
  readonly past: readonly LedgerEvent[];
  readonly replaced: Replaced | undefined;
  /** Of the run that was named. */
  readonly without: readonly LeftOutPart[];
  readonly from: ForkSource;
  readonly session: SessionId;
  readonly workspace: string;
}

async function plan(options: Forks, request: ForkRequest, { session, run }: RunRow): Promise<Result<Plan, Failure>> {
  const { set = {} } = request;
  const events = beforeImport(await readAll(options.ledger, session));
  const wanted = set.without ?? [];
  const unsaid = placeForSet(events, run, set) ?? (wanted.length === 0 ? undefined : placeForWithout(events, run));
  const place = forkPlace(events, run, request.at ?? unsaid);
  if (!place.ok) return place;
  const refused = refusedSet(events, place.value, set);
  if (refused !== undefined) return fail(refused);
  const replaced = replacedAt(events, place.value, set, request.sender);
  if (!replaced.ok) return replaced;
  const without = wanted.length === 0 ? ok([]) : partsWithout(events, place.value, wanted);
  if (!without.ok) return without;
  const position = replaced.value?.position ?? place.value.position;
  const past = events.slice(0, position);
  const lost = past.find((event) => event.inexact !== undefined);
  if (lost !== undefined) return fail(failureOf(sealedError(lost.event_id, lost.inexact ?? '')));
  const [first] = past;
  if (first?.event_type !== 'session.started' || past.length > limits.forkEvents) return fail(tooMuch(past.length));
  const { root } = place.value;
  return ok({
    place: { ...place.value, position, tree: treeIn(events, root, position) },
    ...{ past, replaced: replaced.value, session: request.session ?? options.ids.session(), workspace: first.payload.workspace },
    without: without.value,
    from: { session, run, event: eventId(session, position), ...(wanted.length === 0 ? {} : { without: [...wanted] }) },
  });
}

const tooMuch = (events: number): Failure => ({
  code: 'fork_place',
  message:
    `There are ${events} events before this place, and a fork begins with at most ` + `${limits.forkEvents} (limit forkEvents).`,
  fix: 'Fork an earlier place.',
});

async function write(options: Forks, request: ForkRequest, planned: Plan): Promise<ForkOutcome> {
  const { ledger } = options;
  const { past, place, from, session } = planned;
  const { prompt } = request.set ?? {};
  const { position, root } = place;
  const setup = await agentThere(options, request.set?.agent, planned);
  if (!setup.ok) return { kind: 'refused', error: setup.error };
  const made = (await request.folder?.({ from, position, session, workspace: planned.workspace })) ?? ok(undefined);
  if (!made.ok) return { kind: 'refused', error: made.error };
  const ids = forkIds(session, past);
  const input = prompt === undefined ? undefined : { run: root, message: userText(prompt) };
  const began = { run: root, at: options.clock.now() };
  const copied = await copiedEvents(ledger, past, ids, from, { workspace: made.value, input, began });
  const events = [...copied, ...(hasEnded(planned) ? [] : goingOn(options, request, planned, ids, setup.value))];
  const run = ids.run(root);
  const lease = await ledger.acquire(session, run);
  if (lease.kind !== 'acquired') return { kind: 'refused', error: { code: 'held', message: 'The fork is being worked on.' } };
  const written = await withLease(ledger, lease.fence, () =>
    ledger.append({
      session,
      fence: lease.fence,
      events,
      counters: copiedCounters(session, copied),
      sync: 'power',
      release: true,
    }),
  );
  if (written.kind === 'refused') return written;
  if (written.kind !== 'appended')
    return { kind: 'refused', error: { code: written.kind, message: 'The fork was not written.' } };
  return {
    kind: 'forked',
    session,
    run,
    from,
    workspace: made.value ?? planned.workspace,
    kept: keptOf(past),
    anew: anewIn(planned),
  };
}

const hasEnded = ({ past, place }: Plan): boolean =>
  past.at(-1)?.event_type === 'run.ended' && past.at(-1)?.run_id === place.root;

/** The agent as its run goes on with it. */
async function agentThere(
  all: Forks,
  agent: AgentDefinition | undefined,
  { session, workspace, past, place: { run } }: Plan,
): Promise<Result<Payloads['session.config'] | undefined, Failure>> {
  if (agent === undefined) return ok(undefined);
  const before = past.find((event) => event.event_type === 'run.started' && event.run_id === run);
  const name = before?.event_type === 'run.started' ? before.payload.agent : agent.name;
  if (name !== agent.name)
    return fail({
      code: 'fork_set',
      message: `Run ${shortId(run)} is one of ${name}, and the file is that of ${agent.name}.`,
      fix: `Give it a file of the same name: name: ${name}`,
    });
  const options = ofSession(all, session);
  const prepared = await prepareAgent(options, agent.name, workspace, agent);
  return prepared.ok ? ok(setupPayload(prepared.value, options.patterns)) : prepared;
}

/** What follows what was copied: each run goes on without what was under way, under what was given. */
function goingOn(
  { clock }: Forks,
  { set = {} }: ForkRequest,
  { past, place, from, replaced, session, without }: Plan,
  ids: ForkIds,
  setup: Payloads['session.config'] | undefined,
): readonly NewEvent[] {
  const at = clock.now();
  const last = eventId(session, place.position);
  const left = underWay(past, place, replaced);
  const { model } = set;
  const reopened = [...left].flatMap(([run, undone]): NewEvent[] => {
    const isRoot = run === place.root;
    const parts = run === place.run && without.length > 0 ? [...leftOutThere(without, ids.words)] : undefined;
    if (!isRoot && undone.length === 0 && parts === undefined) return [];
    const payload = {
      undone: [...undone],
      ...(isRoot ? { forked: from, ...present({ model }) } : {}),
      ...present({ without: parts }),
    };
    return [{ type: 'run.reopened', run: ids.run(run), actor: 'user', cause: last, payload, at }];
  });
  const config: NewEvent[] =
    setup === undefined
      ? []
      : [{ type: 'session.config', run: ids.run(place.run), actor: 'user', cause: last, payload: setup, step: SETUP_STEP, at }];
  const outcome =
    replaced === undefined
      ? []
      : [{ ...replaced.written, run: ids.run(replaced.run), cause: eventId(session, replaced.cause), at } as NewEvent];
  return [...reopened, ...config, ...outcome];
}

/** The agents that begin anew, each once. */
function anewIn({ past, place: { anew } }: Plan): readonly string[] {
  const undone = new Set([...anew.values()].flat());
  const runs = new Set(past.flatMap(({ position, run_id }) => (undone.has(position) ? [run_id] : [])));
  const started = past.filter((event) => event.event_type === 'run.started');
  return [...new Set(started.flatMap(({ run_id, payload }) => (runs.has(run_id) ? [payload.agent] : [])))];
}

function keptOf(past: readonly LedgerEvent[]): Extract<ForkOutcome, { readonly kind: 'forked' }>['kept'] {
  let [calls, nanoUsd] = [0, 0];
  for (const event of past) {
    if (event.event_type !== 'model.response') continue;
    calls += 1;
    nanoUsd += (spendingIn(event) ?? { nanoUsd: event.payload.cost?.nanoUsd ?? 0 }).nanoUsd;
  }
  return { events: past.length, calls, nanoUsd };
}
