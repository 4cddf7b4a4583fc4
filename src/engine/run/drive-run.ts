/**
 * Drives one run to its end. The same code runs it for the first time and takes it up after a crash: completed steps
 * answer from the journal. Every run ends here, in one place, with a result that was checked.
 */

import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { durationText } from '../../agents/definition/duration.ts';
import { TroupeError } from '../../base/errors.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { fail } from '../../base/result.ts';
import type { EventType, Failure, Payloads } from '../../events/catalogue.ts';
import { isParkedFor, type OutsideReason, reasonOutside } from '../../events/outside-reason.ts';
import { mayBeAskedAgain, spawnerOf, taskTermsOf } from '../../events/run-origin.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { type AgentRun, wantedBy } from '../../patterns/agent-run.ts';
import { runAgent } from '../../patterns/run-agent.ts';
import type { RunResult } from '../../patterns/steps.ts';
import { resting, UNCHECKED, withReasons } from '../../patterns/verification.ts';
import { INPUT_STEP } from '../../projections/transcript.ts';
import type { AsksAgain } from '../calls/askable-agents.ts';
import { openAtEnd } from '../evidence/open-changes.ts';
import { type ListsArtifacts, manifestOfRun } from '../evidence/run-manifest.ts';
import { checkAgain } from '../evidence/verification.ts';
import { verified } from '../evidence/verify.ts';
import { noExecutor } from '../executors-below.ts';
import { failureOf, mayPass } from '../failure-of.ts';
import { isToEnd } from '../hearing/go-on-or-end.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import { WallTimeOver, withReason } from '../hearing/stop-reason.ts';
import { Interruption } from '../interruption.ts';
import type { LedgerAccess, ProjectRules, ProofAccess, ReplayAccess, TimeAndIds } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Remembers } from '../record/remembers.ts';
import { timesReopened } from '../record/standing-events.ts';
import { createStepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import { endAssistants, settleAssistants } from '../spawning/assistant-calls.ts';
import { reportMessage } from '../spawning/report-message.ts';
import { answersOfAssistants } from '../spawning/spawned.ts';
import { provingPlace } from '../tasks/alone.ts';
import { captureTask } from '../tasks/capture-task.ts';
import { holdFiles, makePlaceAgain } from '../tasks/task-files.ts';
import { type SupportsTasks, taskSupport } from '../tasks/task-support.ts';
import { noFolderHere } from '../travel/folder-here.ts';
import { openFolders } from '../travel/travelling.ts';
import { type ClosesRuns, closeRun } from './close-run.ts';
import { ledgerSteps } from './ledger-steps.ts';
import { ownLoop, type PlaysLoops } from './own-loop.ts';
import { aboutAgents, contextReader, looksForModels, recalled, skillsOf } from './pattern-support.ts';
import { progressBelow } from './progress-below.ts';
import { withoutMoney } from './task-money.ts';
import type { SetsUpRuns } from './tree.ts';

export const SETUP_STEP = 'setup';
export const END_STEP = 'end';

/** Timers fire, and events are stamped, up to this much early. */
const TIMER_GRAIN_MS = 2;

/** What driving a run takes: what its loop does, and what its setup and its end do. */
type DrivesRuns = PlaysLoops & ClosesRuns & ProjectRules & SetsUpRuns & SupportsTasks & ReplayAccess;

/** `found`: its agent, when that was just looked up. */
export async function driveRun(tree: DrivesRuns, node: DrivenRun, found?: AgentDefinition): Promise<RunResult> {
  const ended = node.journal.recorded('run.ended', END_STEP);
  if (ended !== undefined) return resultOfEnd(node.run, ended.payload);
  const cancelled = tree.outside.cancelled(node.run);
  if (cancelled !== undefined) node.abort.abort(new TroupeError('cancelled', cancelled));
  const forgetWall = limitWallTime(tree, node);
  let leaveFolders = (): void => undefined;
  try {
    leaveFolders = await openFolders(tree, node);
    await holdFiles(tree, node);
    await makePlaceAgain(tree, node);
    const setup = notSetUp(tree, node) ?? (await tree.setup(node, found));
    await tree.replay?.due(node.run, node.abort.signal);
    // A run that had been set up before must not end because something it needs is missing just now, unless it is to end.
    if (!setup.ok && !isToEnd(tree, node) && node.journal.recorded('session.config', SETUP_STEP) !== undefined)
      throw new Interruption('interrupted', setup.error.message, setup.error);
    const result = setup.ok ? withoutMoney(tree, node, await work(tree, node, setup.value)) : failed(node, setup.error);
    await tree.replay?.due(node.run, node.abort.signal);
    passOnInterruption(node);
    const missing = await captureTask(tree, node);
    await parkIfNeeded(tree, node, result);
    await endAssistants(tree, node);
    const rested = resting(withReason(node, result), answersOfAssistants(tree, node));
    const checked = setup.ok ? await verified(tree, node, setup.value, rested, () => provingPlace(tree, node)) : rested;
    const ended = await endRun(tree, node, withReasons(checked, missing), setup.ok ? setup.value.definition : undefined);
    // What cannot be tidied up now is the next time.
    if (node.parent === undefined) await tree.places?.ended?.(tree.session).catch(() => undefined);
    return ended;
  } catch (error) {
    await settleAssistants(tree, node);
    if (error instanceof Interruption) throw error;
    const failure = failureOf(error);
    if (mayPass(error)) throw new Interruption('interrupted', failure.message, failure);
    return await endRun(tree, node, failed(node, failure));
  } finally {
    leaveFolders();
    forgetWall();
  }
}

/** Why it could not begin was found out there where it was to: what is recorded of it stands. */
function notSetUp({ replay }: ReplayAccess, { run }: DrivenRun): ReturnType<typeof fail<Failure>> | undefined {
  const end = replay?.wasSetUp(run) === false ? replay.end(run) : undefined;
  return end?.status === 'failed' && end.error !== undefined ? fail(end.error) : undefined;
}

/**
 * A run that somebody asked for stands still when its provider, its key or its quota is not there, and nothing below is left to
 * try: it goes on when it is resumed. Runs below have failed by then, for whoever called them to go on without.
 */
async function parkIfNeeded(tree: Writes & HearsOutside, node: DrivenRun, result: RunResult): Promise<void> {
  const reason = reasonOutside(result);
  const { error } = result;
  if (node.parent !== undefined || node.started.origin.kind !== 'person' || node.abort.signal.aborted) return;
  if (reason === undefined || error === undefined || !isParkedFor(error.code, reason) || isToEnd(tree, node)) return;
  const then = error.fix === undefined ? 'When that is mended,' : `${error.fix} Then`;
  const fix = `${then} go on where it stopped: troupe resume ${shortId(node.run)}`;
  const parked = { ...present(error), fix };
  await tree.writer.write([node.journal.event('run.parked', { reason, error: parked }, { actor: 'system' })], { sync: 'power' });
  throw new Interruption('parked', error.message, parked);
}

/** A run whose work stops here looks like one that was cancelled, but goes on in another life. */
function passOnInterruption({ abort }: DrivenRun): void {
  if (abort.signal.reason instanceof Interruption) throw abort.signal.reason;
}

async function work(tree: PlaysLoops & SupportsTasks, node: DrivenRun, setup: AgentSetup): Promise<RunResult> {
  // Nobody works there: what is demanded is run when it ends.
  if (taskTermsOf(node.started)?.onlyVerify === true) return nobodyWorked(node);
  const idle = await missingAtWorker(tree, node, setup);
  if (idle !== undefined) return failed(node, idle);
  const stepIndex = createStepIndex();
  const steps = ledgerSteps(tree, node);
  stepIndex.place(node.started.input, INPUT_STEP);
  const run: AgentRun = {
    agent: setup.definition,
    run: node.run,
    ...wantedBy(node.started),
    scopes: new Set(node.scopes.map(({ scope }) => scope)),
    steps,
    tasks: taskSupport(tree, node),
    context: contextReader(tree, setup.definition, steps),
    about: (agents) => aboutAgents(tree, agents),
    skills: (agents) => skillsOf(tree, agents),
    asksNobody: looksForModels(tree, node, steps),
    recall: (type, accepts) => recalled(tree, node, type, accepts),
    progress: progressBelow(tree, node),
    checkAgain: (claims) => checkAgain(tree, node, claims),
    loop: (request) => ownLoop(tree, node, setup, stepIndex, request),
  };
  try {
    return await runAgent(run, tree.patterns);
  } finally {
    await steps.childrenSettled();
  }
}

/** What an architect has done before its model is asked, which happens in runs below it; or whoever is asked itself. */
const BEGUN: ReadonlySet<EventType> = new Set(['step.recorded', 'model.request']);

/** On a cluster whoever started the run could not know: the worker looks, and for executors only before it has asked. */
async function missingAtWorker(
  tree: PlaysLoops & SupportsTasks,
  node: DrivenRun,
  setup: AgentSetup,
): Promise<Failure | undefined> {
  if (tree.elsewhere === undefined) return undefined;
  const hasBegun = node.journal.past.some(({ event_type }) => BEGUN.has(event_type));
  const missing = await noFolderHere(tree, node, setup, hasBegun);
  if (missing !== undefined || hasBegun || node.parent !== undefined || node.started.planOnly === true) return missing;
  return await noExecutor(tree, setup.definition, tree.workspaceOf(node));
}

/** Lists what was changed and ends the run: all of it in one append. */
async function endRun(
  tree: ClosesRuns & LedgerAccess & Remembers & AsksAgain & ListsArtifacts & ProofAccess & ProjectRules & ReplayAccess,
  node: DrivenRun,
  result: RunResult,
  agent?: AgentDefinition,
): Promise<RunResult> {
  const events: NewEvent[] = [];
  // What lies in the folder now is not what lay there then.
  const isNow = tree.replay === undefined;
  const changed = isNow ? await manifestOfRun(tree, node, result.report.body, agent) : undefined;
  if (changed !== undefined) events.push(node.journal.event('artifact.manifest', changed, { actor: 'system' }));
  const final = resting(withReason(node, result), []);
  const mayChange = agent?.verify?.testsMayChange === true || tree.projectVerify?.testsMayChange === true;
  const open = node.parent === undefined && isNow ? await openAtEnd(tree, node, mayChange) : {};
  events.push(...dismissals(tree, node));
  return await closeRun(tree, node, final, events, (final) => {
    const closing = report(tree, node, final);
    if (final.error !== undefined) closing.push(node.journal.event('task.error', present(final.error), { actor: 'system' }));
    // What came in the last moment is heard by now.
    const facts = node.parent === undefined ? { facts: { ...tree.facts(), ...open } } : {};
    const payload = { ...endedPayload(node.run, final), ...present({ reason: reasonOf(node, final) }), ...facts };
    return [...closing, node.journal.event('run.ended', payload, { step: END_STEP })];
  });
}

/** Whoever spawned the run finds its answer in its thread. */
function report(tree: TimeAndIds & LedgerAccess, node: DrivenRun, result: RunResult): NewEvent[] {
  const spawner = spawnerOf(node.started);
  if (spawner === undefined) return [];
  const reopened = timesReopened(node.journal.past);
  const { step, payload } = reportMessage(tree, node.parent, node.run, node.started.agent, result, spawner.by, reopened);
  return [node.journal.event('message.sent', payload, { step, actor: 'system', aside: true })];
}

/** What the ledger says about how a run ended. */
export function resultOfEnd(run: RunId, { facts: _facts, reason: _reason, ...payload }: Payloads['run.ended']): RunResult {
  return { ...payload, finalRun: (payload.finalRun ?? run) as RunId, turns: payload.turns ?? 0 };
}

/** Sub-agents that could still be asked go with the run, all the way down; unless somebody may go on with its conversation. */
function dismissals(tree: AsksAgain, node: DrivenRun): NewEvent[] {
  for (let up: DrivenRun | undefined = node; up !== undefined; up = up.parent) if (mayBeAskedAgain(up.started)) return [];
  return tree.askable.below(node.run).map(({ id, agent, run }) => {
    tree.askable.dismiss(run);
    return node.journal.event('agent.dismissed', { id, agent, run }, { actor: 'system' });
  });
}

function reasonOf({ abort }: DrivenRun, result: RunResult): OutsideReason | undefined {
  const reason = reasonOutside(result);
  const { reason: stopped } = abort.signal as { readonly reason: unknown };
  return reason === 'budget' && stopped instanceof WallTimeOver && stopped.limit === 'budget' ? 'time' : reason;
}

function endedPayload(
  run: RunId,
  { status, report, finalAgent, finalRun, turns, spoke, error, exit, exhausted, claims, verification }: RunResult,
): Payloads['run.ended'] {
  return {
    status,
    report,
    finalAgent,
    ...(finalRun === run ? {} : { finalRun }),
    ...(turns === 0 ? {} : { turns }),
    ...present({ spoke, error: error && present(error), exit, exhausted }),
    ...(claims === undefined || claims.length === 0 ? {} : { claims: [...claims] }),
    verification,
  };
}

function failed(node: DrivenRun, error: NonNullable<RunResult['error']>): RunResult {
  return {
    status: 'failed',
    report: { format: 'text', body: error.message, synthetic: true },
    finalAgent: node.started.agent,
    finalRun: node.run,
    turns: 0,
    error,
    verification: UNCHECKED,
  };
}

/** The result of a run in which only what is demanded is run. */
export function nobodyWorked({ run, started: { agent } }: Pick<DrivenRun, 'run' | 'started'>): RunResult {
  const report = { format: 'text' as const, body: 'What was demanded was run.', synthetic: true };
  return { status: 'completed', report, finalAgent: agent, finalRun: run, turns: 0, verification: UNCHECKED };
}

/** Which limit it was, by the name under which a person set it. */
export const wallTimeText = (wallMs: number, setting = 'budget.wall'): string =>
  `It was not done within ${durationText(wallMs)} (${setting}).`;

/**
 * Ends the run when the time it has been worked on is used up. Time in which nobody drove it, or
 * in which it waited for a person, does not count.
 */
export function limitWallTime(tree: Remembers & ReplayAccess, node: DrivenRun): () => void {
  const wallMs = node.started.budget?.wallMs;
  if (wallMs === undefined) return () => undefined;
  const { timeLimit } = node.started;
  const limit = timeLimit === undefined ? 'budget' : 'patience';
  const over = (): void => node.abort.abort(new WallTimeOver(node.run, limit, wallMs, wallTimeText(wallMs, timeLimit)));
  if (tree.replay !== undefined) return tree.replay.whenLate(node.run, over);
  if (wallMs - tree.activeSoFar(node.run) > TIMER_GRAIN_MS) return tree.whenWorkedFor(node.run, wallMs, over);
  // Used up in an earlier life: what was cut off then must not be taken for cancelled now.
  over();
  return () => undefined;
}
