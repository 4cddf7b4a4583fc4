/** Starting a new run: what is checked, what is written first. */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { SessionId } from '../base/ids.ts';
import { present } from '../base/present.ts';
import type { Budget, Failure, Payloads } from '../events/catalogue.ts';
import type { TreeTerms } from '../events/going-on.ts';
import type { LeaseOutcome, Ledger, NewEvent, RunRow } from '../ledger/port.ts';
import { isSomebody } from '../ledger/rules/leases.ts';
import { INPUT_STEP } from '../projections/transcript.ts';
import type { Driver } from './driver.ts';
import { openAtStart } from './evidence/open-changes.ts';
import { nobodyToWork } from './executors-below.ts';
import { acquireLeft, begunSession, withLease } from './lease.ts';
import { nobodyToAsk } from './models-below.ts';
import type { EngineOptions } from './options.ts';
import { ofSession } from './options.ts';
import type { StartOutcome, StartRequest } from './port.ts';
import { budgetOf, setupPayload } from './record/agent-setup.ts';
import type { DrivenRun } from './record/driven-run.ts';
import { conversationOf } from './record/history.ts';
import { createMembers } from './record/members.ts';
import { latestStanding, NO_PAST, type Past, pastBefore } from './record/past.ts';
import { termsBefore } from './record/terms-before.ts';
import { BROUGHT_STEP, bringAlong, handsOutTasks } from './run/brought.ts';
import { SETUP_STEP } from './run/drive-run.ts';
import { noAgent, prepareAgent, unknownPrice } from './run/prepare.ts';
import { adapted, withTerms } from './run/setup-run.ts';
import { assistantLifetime } from './spawning/bounds.ts';
import { namedFromOutside, startProblem } from './spawning/client-rights.ts';
import { rootScopes, scopesOf, tighter, withTimeLimit } from './spending/budget.ts';
import { bringRepository, broughtEvents } from './travel/brought-repository.ts';

/** Somebody else has begun it since it was looked for: then there is nothing to start. */
export interface StartedBefore {
  readonly kind: 'there already';
  readonly row: RunRow;
}

export async function startNew(all: EngineOptions, request: StartRequest, driver: Driver): Promise<StartOutcome | StartedBefore> {
  const session = request.session ?? all.ids.session();
  const { terms, budget: given } = await termsOf(all, session, request);
  const options = withTerms(ofSession(all, session), terms);
  const { origin = { kind: 'person' } } = request;
  const prepared = await prepareAgent(options, request.agent, request.workspace);
  const setup = await adapted(options, prepared, { model: request.model, origin });
  if (!setup.ok) return { kind: 'refused', error: setup.error };
  const problem = await refusalOf(options, setup.value.definition, request);
  if (problem !== undefined) return { kind: 'refused', error: problem };
  const run = request.run ?? options.ids.run();
  const lifetime = origin.kind === 'client' ? assistantLifetime(options) : undefined;
  const bounds = withTimeLimit(tighter(budgetOf(setup.value.definition), given), lifetime);
  // A model that cannot be asked has no price either, and that is not what is wrong with it.
  const closed = await nobodyToAsk(options, setup.value.definition, setup.value.models);
  if (closed !== undefined) return { kind: 'refused', error: closed };
  // On a cluster it is the worker that has executors, or not.
  const isHere = driver.handsOver !== true && request.planOnly !== true;
  const idle = isHere ? await nobodyToWork(options, setup.value.definition, request.workspace) : undefined;
  if (idle !== undefined) return { kind: 'refused', error: idle };
  const unknown = unknownPrice(options, setup.value, scopesOf(run, bounds.budget, rootScopes(options.projectBudget, origin)));
  if (unknown !== undefined) return { kind: 'refused', error: unknown };

  const brought = driver.handsOver === true ? await bringAlong(options, setup.value.definition) : undefined;
  if (brought?.ok === false) return { kind: 'refused', error: brought.error };
  const handsOut = brought !== undefined && handsOutTasks(options, brought.value);
  const repository = handsOut ? await bringRepository(options, request.workspace) : undefined;
  if (repository?.ok === false) return { kind: 'refused', error: repository.error };
  const files = repository?.value;

  const lease = await acquireLeft(options, { session, run });
  if (lease.kind !== 'acquired') return { kind: 'refused', error: lease.kind === 'failed' ? lease.error : busy(session, lease) };
  return await withLease(options.ledger, lease.fence, async (): Promise<StartOutcome | StartedBefore> => {
    const isFresh = lease.fresh === true;
    const [there] = request.run === undefined || isFresh ? [] : await options.ledger.runs({ run, limit: 1 });
    if (there !== undefined) {
      await options.ledger.release(lease.fence);
      return { kind: 'there already', row: there };
    }
    const begun = request.session === undefined || isFresh ? undefined : await begunSession(options.ledger, session);
    const past = begun === undefined ? NO_PAST : await pastBefore(options.ledger, session);
    const continues = begun === undefined ? undefined : await continued(options.ledger, session, request, past);
    const started: Payloads['run.started'] = {
      ...{ agent: setup.value.definition.name, input: request.input, origin, depth: 0, ...bounds },
      ...(await openAtStart(options, past, request.workspace)),
      ...present({ continues, retries: request.retries, model: request.model }),
      ...(Object.keys(terms).length === 0 ? {} : { tree: terms }),
      ...(request.condense === true ? { condense: true } : {}),
      ...(request.planOnly === true ? { planOnly: true } : {}),
      ...(begun !== undefined && begun.workspace !== request.workspace ? { workspace: request.workspace } : {}),
    };
    const opening = (root: DrivenRun): readonly NewEvent[] => {
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
      const config = root.journal.event('session.config', setupPayload(setup.value, options.patterns), {
        step: SETUP_STEP,
        actor: 'system',
      });
      const along =
        brought === undefined
          ? []
          : [
              root.journal.event(
                'session.brought',
                { ...brought.value, ...present({ repository: files?.repository }) },
                { step: BROUGHT_STEP, actor: 'system' },
              ),
              ...(files === undefined ? [] : broughtEvents(root, files)),
            ];
      return [...begin, start, config, ...along];
    };
    const { fence } = lease;
    const task = { session, run, fence, workspace: request.workspace, started, past, rootSetup: setup.value, opening };
    return { kind: 'started', handle: await driver.drive(task) };
  });
}

/** Why whoever asks for this agent does not get it. */
async function refusalOf(
  options: EngineOptions,
  found: AgentDefinition,
  { agent, origin, retries }: StartRequest,
): Promise<Failure | undefined> {
  if (origin !== undefined && namedFromOutside(found, origin, retries)) return noAgent(agent);
  return await startProblem(options, found, origin?.kind === 'client' ? origin.rights : undefined);
}

/** What it is given, before what the run was given whose work it does again. */
async function termsOf(
  { ledger, settings }: EngineOptions,
  session: SessionId,
  { retries, budget }: StartRequest,
): Promise<{ readonly terms: TreeTerms; readonly budget?: Budget | undefined }> {
  const before = await termsBefore(ledger, session, retries);
  return {
    terms: { ...before.tree, ...settings?.tree },
    budget: budget === undefined ? before.budget : { ...before.budget, ...present(budget) },
  };
}

/** What was said before and is forgotten cannot be gone on with: that is found out before anything is written. */
async function continued(...[ledger, session, ...more]: Parameters<typeof whoseConversation>): Promise<string | undefined> {
  const run = await whoseConversation(ledger, session, ...more);
  if (run !== undefined && (await ledger.hasForgotten(session))) await conversationOf(ledger, session, run);
  return run;
}

/** Whose conversation goes on: the latest root run of the same agent that has ended and stands, or the member's latest run. */
async function whoseConversation(
  ledger: Ledger,
  session: SessionId,
  { agent, origin, retries }: StartRequest,
  { events, facts }: Past,
): Promise<string | undefined> {
  if (retries !== undefined) {
    const [before] = await ledger.read({ session, run: retries, types: ['run.started'], limit: 1 });
    return before?.event_type === 'run.started' ? before.payload.continues : undefined;
  }
  const member = origin?.kind === 'group' ? origin.member : undefined;
  if (member === undefined) return await latestStanding(ledger, session, agent);
  const members = createMembers();
  members.restore(facts.members);
  for (const event of events) members.apply(event);
  return members.latest(member);
}

function busy(session: SessionId, lease: Extract<LeaseOutcome, { kind: 'held' | 'busy_session' }>): Failure {
  const code = 'session_busy';
  const { owner } = lease;
  const other = lease.kind === 'busy_session' ? lease.run : 'this run';
  // Whoever is told to end it would end what another process is working on.
  if (isSomebody(owner)) {
    const who = `Process ${owner.pid} on ${owner.host}`;
    const message = `${who} works in session ${session} now (${other}); it takes one run at a time.`;
    return { code, message, fix: 'Wait until it is done, and try again.' };
  }
  const message = `Session ${session} has an unfinished run (${other}); it takes one at a time.`;
  return { code, message, fix: `Finish it with: troupe resume ${other} (or end it with: troupe cancel ${other})` };
}
