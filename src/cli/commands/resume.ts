/** `troupe resume`: goes on with a run that was cut off, paused, waited for an answer, or ended for a reason outside of it. */

import { TroupeError, unreachable } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { rootOf } from '../../engine/engine.ts';
import type { ResumeTerms, RunEnd } from '../../engine/port.ts';
import type { RunRow } from '../../ledger/port.ts';
import { createFollower, type Follower } from '../../library/follow.ts';
import type { Project } from '../../project/project.ts';
import { findRun } from '../drive/find-run.ts';
import { chooseView, finishRun, type OutputOptions } from '../drive/finish-run.ts';
import { stayWithRun } from '../drive/stay-with-run.ts';
import { type CommandContext, withProject } from '../terminal/command.ts';
import type { ExitCode } from '../terminal/exit-codes.ts';
import { drainQueue } from './queue.ts';

export interface ResumeCommandOptions extends OutputOptions {
  readonly model?: string | undefined;
  readonly maxTurns?: number | undefined;
  readonly budgetUsd?: number | undefined;
  readonly budgetTokens?: number | undefined;
  readonly budgetCalls?: number | undefined;
  /** In milliseconds. */
  readonly budgetWall?: number | undefined;
  readonly yes?: boolean | undefined;
  readonly require?: 'verified' | 'unchecked' | undefined;
}

export async function resumeCommand(context: CommandContext, text: string, options: ResumeCommandOptions): Promise<ExitCode> {
  return withProject(context, { flags: { require: options.require } }, async (project) => {
    const row = await findRun(project.ledger, text);
    return resumeRun(context, project, await rootOf(project.ledger, row), options, termsIn(options));
  });
}

function termsIn({ model, maxTurns, budgetUsd, budgetTokens, budgetCalls, budgetWall }: ResumeCommandOptions): ResumeTerms {
  const budget = present({ usd: budgetUsd, tokens: budgetTokens, calls: budgetCalls, wallMs: budgetWall });
  return present({ model, maxTurns, budget: Object.keys(budget).length === 0 ? undefined : budget });
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
  const resumed = await project.engine.resume(run, options.terms);
  switch (resumed.kind) {
    case 'resumed': {
      const view = chooseView(context, run, options);
      return stayWithRun({ context, project, follower, view, approveAll: options.yes === true }, resumed.handle);
    }
    case 'ended':
      await follower.catchUp(run);
      return { kind: 'ended', result: resumed.result };
    case 'held':
      throw new TroupeError('held', `Process ${resumed.owner.pid} on ${resumed.owner.host} drives this run now`, {
        fix: `watch it: troupe logs -f ${shortId(run)}`,
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
