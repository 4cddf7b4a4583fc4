/**
 * `troupe resume`: goes on with a run that was cut off, paused, waited for an answer, or ended for a reason outside of it.
 * `troupe retry`: does the work of a run that came to nothing again, as a run of its own.
 */

import { TroupeError, unreachable } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { ResumeTerms, RunEnd } from '../../engine/port.ts';
import { rootOf } from '../../engine/record/root-of.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { succeeded } from '../../events/succeeded.ts';
import { failedBelow, isDoneAgain } from '../../front/failed-below.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { createFollower, type Follower } from '../../library/follow.ts';
import type { Project } from '../../project/project.ts';
import type { RunNode } from '../../projections/run-tree.ts';
import { findRun } from '../drive/find-run.ts';
import { budgetIn, chooseView, finishRun, hearFor, type RunTermsOptions } from '../drive/finish-run.ts';
import { stayWithRun } from '../drive/stay-with-run.ts';
import { type CommandContext, usageError, withProject } from '../terminal/command.ts';
import type { ExitCode } from '../terminal/exit-codes.ts';
import { failedName } from '../view/run-summary.ts';
import { drainQueue } from './queue.ts';

export type ResumeCommandOptions = RunTermsOptions;

export async function resumeCommand(context: CommandContext, text: string, options: ResumeCommandOptions): Promise<ExitCode> {
  return withProject(
    context,
    { existing: true, flags: { require: options.require, notify: options.notify } },
    async (project) => {
      const row = await findRun(project.ledger, text);
      return resumeRun(context, project, await rootOf(project.ledger, row), options, termsIn(options));
    },
  );
}

function termsIn(options: ResumeCommandOptions): ResumeTerms {
  const { model, maxTurns } = options;
  return present({ model, maxTurns, budget: budgetIn(options) });
}

/** With terms, also a run that has ended goes on, if it can. */
export async function resumeRun(
  context: CommandContext,
  project: Project,
  row: RunRow,
  options: ResumeCommandOptions,
  terms?: ResumeTerms,
): Promise<ExitCode> {
  const { run, session } = row;
  const follower = createFollower(project.ledger, session);
  await follower.catchUp(run);
  const end = await resumeAndDrive(context, project, run, follower, { ...options, terms });
  const code = await finishRun(context, project, { session, run, tree: follower.tree, end }, options);
  if (end.kind === 'ended') await drainQueue(context, project, session, { ...options, json: false, jsonl: false });
  return code;
}

async function resumeAndDrive(
  context: CommandContext,
  project: Project,
  run: RunId,
  follower: Follower,
  options: ResumeCommandOptions & { readonly terms: ResumeTerms | undefined },
): Promise<RunEnd> {
  const heard = hearFor(context, project, options);
  const resumed = await project.engine.resume(run, options.terms);
  if (resumed.kind !== 'resumed') heard.close();
  switch (resumed.kind) {
    case 'resumed': {
      const view = chooseView(context, run, options);
      return stayWithRun({ context, project, follower, heard, view, approveAll: options.yes === true }, resumed.handle);
    }
    case 'ended':
      await follower.catchUp(run);
      return { kind: 'ended', result: resumed.result };
    case 'held':
      throw new TroupeError('held', `Process ${resumed.owner.pid} on ${resumed.owner.host} drives this run now`, {
        fix: `watch it: troupe logs -f ${shortId(run)}\n  or, for its result when it has ended: troupe resume ${shortId(run)}`,
      });
    case 'unknown':
      throw new TroupeError('unknown_run', `There is no run ${run} any more`, { fix: 'see what there is: troupe ps --all' });
    case 'refused': {
      const { code, message, fix } = resumed.error;
      throw new TroupeError(code, message, { fix });
    }
    default:
      return unreachable(resumed);
  }
}

export type RetryCommandOptions = Omit<RunTermsOptions, 'require'>;

export async function retryCommand(context: CommandContext, text: string, options: RetryCommandOptions): Promise<ExitCode> {
  const { model, maxTurns } = options;
  return withProject(context, { existing: true, flags: { model, maxTurns, notify: options.notify } }, async (project) => {
    const row = await findRun(project.ledger, text);
    await requireFailed(project.ledger, row);
    const { agent, input, workspace = project.config.workspace } = await startOf(project.ledger, row);
    if (input.role !== 'user') throw usageError(`What ${shortId(row.run)} was asked cannot be asked again`, 'start another run');
    const heard = hearFor(context, project, options);
    const budget = budgetIn(options);
    const started = await project.engine.start({ agent, input, session: row.session, workspace, retries: row.run, budget });
    if (started.kind === 'refused') {
      const { code, message, fix } = started.error;
      throw new TroupeError(code, message, present({ fix }));
    }
    const { handle } = started;
    const follower = createFollower(project.ledger, handle.session);
    await follower.beginAt(handle.run);
    const view = chooseView(context, handle.run, options);
    const end = await stayWithRun({ context, project, follower, heard, view, approveAll: options.yes === true }, handle);
    return await finishRun(context, project, { session: handle.session, run: handle.run, tree: follower.tree, end }, options);
  });
}

async function requireFailed(ledger: Ledger, row: RunRow): Promise<void> {
  const { run, state, endedAt, owner } = row;
  const id = shortId(run);
  const wayOn = owner === null ? `go on with it: troupe resume ${id}` : `wait until it has, or end it: troupe cancel ${id}`;
  if (endedAt === null) throw usageError(`Run ${id} has not ended`, wayOn);
  if (!succeeded({ status: state })) return;
  const [first, ...others] = await toDoAgain(ledger, row);
  if (first === undefined) throw usageError(`Run ${id} did what it was asked`, 'start another: troupe run <agent> "…"');
  const shown = others
    .slice(0, RETRIES_SHOWN - 1)
    .map((one) => `  or that of ${failedName(one)}: troupe retry ${shortId(one.run)}`);
  const left = others.length - shown.length;
  const more = left > 0 ? [`  and ${left} more that failed: troupe show ${id} --json`] : [];
  const fix = [`do the work of ${failedName(first)} again: troupe retry ${shortId(first.run)}`, ...shown, ...more].join('\n');
  throw usageError(`Run ${id} gave its answer, without what failed below it`, fix);
}

const RETRIES_SHOWN = 5;

/** Whose work is missing in the answer of a run. */
async function toDoAgain(ledger: Ledger, row: RunRow): Promise<readonly RunNode[]> {
  const follower = createFollower(ledger, row.session);
  await follower.catchUp((await rootOf(ledger, row)).run);
  const node = follower.tree.runs.get(row.run);
  return node === undefined ? [] : failedBelow(follower.tree, node).filter(isDoneAgain);
}

/** As it was asked last, with what redaction took out of it. */
async function startOf(ledger: Ledger, { session, run }: RunRow): Promise<Payloads['run.started']> {
  const [started] = await ledger.read({ session, run, types: ['run.started'], newest: true, limit: 1, exact: true });
  if (started?.event_type !== 'run.started') throw new TroupeError('unknown_run', `There is no run ${run} any more`);
  return started.payload;
}
