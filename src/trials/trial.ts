/**
 * One trial: an agent is asked in a fresh copy of the files, and what came of it is held against the checks. The run is one like
 * any other, in the project's own ledger: `troupe show` and `troupe why` tell of it afterwards.
 */
import { cp, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import { present } from '../base/present.ts';
import type { Random } from '../base/random.ts';
import type { Budget } from '../events/catalogue.ts';
import type { UserMessage } from '../events/messages.ts';
import type { Decision } from '../library/run-options.ts';
import type { RunOutcome } from '../library/run-outcome.ts';
import type { Troupe } from '../library/troupe.ts';
import type { Project } from '../project/project.ts';
import { checkRun } from './checks.ts';
import { imageIn } from './images.ts';
import { scoreOf } from './judge.ts';
import type { CheckOutcome, Score, Trial } from './report.ts';
import { type SeenOfRun, seenOf } from './seen.ts';
import type { TrialCase } from './test-file.ts';

/** Where trials are made. */
export interface TrialGround extends Pick<Project, 'proves' | 'declared' | 'redact' | 'root'> {
  readonly troupe: Pick<Troupe, 'run' | 'engine' | 'ledger'>;
  /** Judges are asked with their own model, whatever is tried. */
  judging(): Promise<Pick<Troupe, 'run'>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Files of trials that failed stay. */
  readonly keepFiles: boolean;
}

const NOTHING_SEEN: SeenOfRun = { tools: new Set(), agents: new Set(), turns: 0 };

/** What came of one, and whether it was cut off by what all of them together may cost: then it says nothing of the agent. */
export interface TriedOnce {
  readonly trial: Trial;
  readonly isCutOff: boolean;
}

/** `usdLeft`: what all trials together may still cost. */
export async function tryOnce(
  ground: TrialGround,
  one: TrialCase,
  folder: string,
  usdLeft: number | undefined,
): Promise<TriedOnce> {
  const { clock, signal } = ground;
  signal.throwIfAborted();
  const workspace = await freshFiles(one.files, folder);
  if (workspace instanceof TroupeError) return { trial: notStarted(workspace, 0), isCutOff: false };
  let keep = ground.keepFiles;
  try {
    const began = clock.elapsed();
    const outcome = await play(ground, one, { folder, workspace }, budgetOf(one, usdLeft));
    const durationMs = Math.round(clock.elapsed() - began);
    signal.throwIfAborted();
    if (outcome instanceof TroupeError) return { trial: notStarted(outcome, durationMs), isCutOff: false };
    const seen = await seenOf(ground.troupe.ledger, outcome.session, outcome.run);
    const limit = { proves: ground.proves, timeoutMs: one.commandTimeout, signal };
    const checks = await checkRun({ outcome, seen, workspace, durationMs }, one.checks, limit);
    const passed = checks.every((check) => check.passed);
    keep &&= !passed;
    const rest = usdLeft === undefined ? undefined : usdLeft - outcome.cost.usd;
    const judged = await scores(ground, one, outcome, workspace, rest);
    const trial: Trial = {
      ...{ passed, run: outcome.run, status: outcome.status, checks, durationMs, ...judged },
      verification: 'verification' in outcome ? outcome.verification.state : null,
      turns: seen.turns,
      tokens: outcome.usage.inputTokens + outcome.usage.outputTokens,
      usd: outcome.cost.usd + judged.usd,
      unknownCalls: outcome.cost.unknownCalls + judged.unknownCalls,
      workspace: keep ? workspace : null,
    };
    return { trial, isCutOff: !passed && isCutOff(outcome, usdLeft) };
  } finally {
    if (!keep) await rm(workspace, { recursive: true, force: true });
  }
}

/** A run that waits for somebody waits for nobody here: its trial is over, and so is it. */
async function play(
  { troupe, signal }: TrialGround,
  one: TrialCase,
  { folder, workspace }: { readonly folder: string; readonly workspace: string },
  budget: Budget | undefined,
): Promise<RunOutcome | TroupeError> {
  const answers = [...one.answers];
  try {
    const outcome = await troupe.run(one.agent, await requestOf(one, folder), {
      ...{ workspace, signal, budget },
      answer: () => answers.shift(),
      ...(one.approve === false ? {} : { approve: ({ tool }) => decisionFor(tool, one.approve) }),
    });
    if (!('report' in outcome)) await troupe.engine.cancel(outcome.run, 'its trial is over');
    return outcome;
  } catch (error) {
    // Whoever has it stopped is told so; anything else is what came of this trial.
    signal.throwIfAborted();
    if (error instanceof TroupeError) return error;
    throw error;
  }
}

function decisionFor(tool: string, approve: TrialCase['approve']): Decision | undefined {
  if (typeof approve === 'boolean') return approve;
  const decision = Object.hasOwn(approve, tool) ? approve[tool] : undefined;
  return typeof decision === 'string' ? { deny: decision } : decision;
}

/** What the agent is asked, pictures included. */
async function requestOf({ prompt, images = [] }: TrialCase, folder: string): Promise<string | UserMessage> {
  if (images.length === 0) return prompt;
  const shown = await Promise.all(images.map(async (image) => await imageIn(folder, image)));
  return { role: 'user', content: [{ type: 'text', text: prompt }, ...shown] };
}

async function scores(
  { judging, random, signal }: TrialGround,
  { judges, prompt }: TrialCase,
  outcome: RunOutcome,
  workspace: string,
  usdLeft: number | undefined,
): Promise<{ readonly scores: Score[]; readonly usd: number; readonly unknownCalls: number }> {
  const given: Score[] = [];
  let [usd, unknownCalls] = [0, 0];
  if (!('report' in outcome)) return { scores: given, usd, unknownCalls };
  for (const one of judges) {
    const {
      usd: cost,
      unknownCalls: unknown,
      ...score
    } = await scoreOf(
      await judging(),
      one,
      { prompt, answer: outcome.report.body },
      { workspace, random, signal, usdLeft: usdLeft === undefined ? undefined : usdLeft - usd },
    );
    given.push(score);
    usd += cost;
    unknownCalls += unknown;
  }
  return { scores: given, usd, unknownCalls };
}

/** Another budget than ours may have come to its end: that of the test, or of an agent. The message says which. */
function isCutOff(outcome: RunOutcome, usdLeft: number | undefined): boolean {
  if (usdLeft === undefined || outcome.status !== 'budget_exhausted') return false;
  const [, limit = ''] = / of \$([\d.]+) left/.exec(outcome.error.message) ?? [];
  return Math.abs(Number(limit) - usdLeft) <= usdLeft * NEARLY;
}

const NEARLY = 0.01;

function budgetOf({ budget = {} }: TrialCase, usdLeft: number | undefined): Budget | undefined {
  const { usd, tokens, calls, wall } = budget;
  const least = usdLeft === undefined ? usd : Math.min(usdLeft, usd ?? usdLeft);
  const all = present({ usd: least, tokens, calls, wallMs: wall });
  return Object.keys(all).length === 0 ? undefined : all;
}

function notStarted(error: TroupeError, durationMs: number): Trial {
  const why = [error.message, error.fix].filter((text) => text !== undefined).join(' ');
  const checks: CheckOutcome[] = [{ check: 'start', passed: false, why }];
  const nothing = { scores: [], turns: NOTHING_SEEN.turns, tokens: 0, usd: 0, unknownCalls: 0 };
  return { passed: false, run: null, status: 'refused', verification: null, checks, durationMs, workspace: null, ...nothing };
}

async function freshFiles(files: string | undefined, folder: string): Promise<string | TroupeError> {
  const from = files === undefined ? undefined : resolve(folder, files);
  if (from !== undefined && !(await isFolder(from)))
    return new TroupeError('usage', `There is no folder ${files} beside the test`, { fix: 'Correct `files`.' });
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'troupe-trial-')));
  if (from !== undefined) await cp(from, workspace, { recursive: true, verbatimSymlinks: true });
  return workspace;
}

export const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;
