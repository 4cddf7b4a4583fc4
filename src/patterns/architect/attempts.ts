/**
 * One attempt at a task: what is known is put together, the package is recorded, an executor works on it in a place of its own,
 * and what the runtime saw of that is collected. Attempts of a wave go on side by side; each is looked at from time to time, and
 * one that gets nowhere is stopped.
 */
import { durationText } from '../../agents/definition/duration.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { userText } from '../../events/messages.ts';
import type { TaskPlace, TaskTerms } from '../../events/tasks/task-terms.ts';
import type { AgentRun } from '../agent-run.ts';
import { packageRef } from '../package-ref.ts';
import type { Handle, RunResult } from '../steps.ts';
import { acceptanceCommands } from './acceptance.ts';
import { packagePrompt } from './prompts.ts';
import type { ArchitectSettings } from './settings.ts';
import { type KnownFact, snapshotOf } from './snapshot.ts';
import { isStalled, type Motion, moved, noMotion } from './stall.ts';
import { packageYaml, snapshotRef, taskId } from './task-package.ts';
import type { Attempt, EndedAttempt, Unit } from './units.ts';

export interface Workshop {
  readonly run: AgentRun;
  readonly settings: ArchitectSettings;
  /** What its tasks begin from. */
  base: string | undefined;
  readonly known: readonly KnownFact[];
}

export type PreparedAttempt = { readonly attempt: Attempt } | { readonly refused: string; readonly fix?: string };

export const attemptKey = ({ key, attempt }: Unit): string => `${key}/${attempt}`;

/** Everything that comes before the work, recorded. */
export async function prepareAttempt(shop: Workshop, unit: Unit): Promise<PreparedAttempt> {
  const { run, settings, base } = shop;
  const key = attemptKey(unit);
  const task = taskId(run.tasks.namedBy, key);
  const found = await run.steps.step(`${key}/place`, async () => {
    const { mode, scope } = unit.wanted;
    const domain = mode === 'read-only' ? undefined : scope;
    return { ...(await run.tasks.prepare({ task, workspace: settings.workspace, base, domain })) };
  });
  if ('refused' in found) return found;
  const recorded = await recordPackage(shop, unit, { key, task, cwd: found.place.path });
  return { attempt: { unit, task, key, ...recorded, terms: termsOfTask(shop, unit, task, found.place, recorded.ref) } };
}

/** For those who only want to see what would be handed over. */
export async function planAttempt(shop: Workshop, unit: Unit): Promise<void> {
  const { run, settings } = shop;
  const key = `${attemptKey(unit)}/plan`;
  const task = taskId(run.tasks.namedBy, attemptKey(unit));
  const cwd = await run.steps.step(`${key}/place`, () => run.tasks.where(task, settings.workspace));
  await recordPackage(shop, unit, { key, task, cwd, planned: true });
}

interface At {
  readonly key: string;
  readonly task: string;
  readonly cwd: string;
  readonly planned?: true;
}

async function recordPackage(shop: Workshop, unit: Unit, at: At): Promise<{ ref: string; prompt: string }> {
  const { key, task, cwd, planned } = at;
  const { run, known } = shop;
  const { wanted, attempt, executor, again } = unit;
  const snapshot = snapshotOf(known, { task, attempt }, (one) => (one === run.run ? run.tasks.namedBy : one));
  await run.steps.emit(`${key}/snapshot`, { type: 'task.snapshot', payload: snapshot });
  const { session, environment } = await run.steps.step(`${key}/environment`, () => run.tasks.environment());
  const yaml = packageYaml({
    session_id: session,
    task_id: task,
    context_ref: snapshotRef(snapshot.hash),
    instruction: {
      goal: wanted.goal,
      scope: { include_paths: wanted.scope.include, exclude_paths: wanted.scope.exclude },
      acceptance: wanted.acceptance.map(({ line }) => line),
      constraints: {
        max_cli_calls: wanted.maxCliCalls,
        max_duration_seconds: wanted.maxDurationSeconds,
        no_touch: wanted.scope.noTouch,
      },
    },
    runtime: { cwd, tool_mode: wanted.mode, environment_fingerprint: environment },
  });
  const ref = packageRef(yaml);
  const verify = acceptanceCommands(wanted.acceptance);
  const payload = { task, attempt, executor, yaml, ref, verify, ...present({ again, planned }) };
  await run.steps.emit(`${key}/package`, { type: 'task.package', payload });
  const nonce = await run.steps.nonce(`${key}/fence`);
  return { ref, prompt: packagePrompt(yaml, snapshot.context, unit.before, nonce) };
}

function termsOfTask({ settings }: Workshop, unit: Unit, task: string, place: TaskPlace, ref: string): TaskTerms {
  const { scope, acceptance, maxCliCalls, maxDurationSeconds, mode } = unit.wanted;
  const verify = acceptanceCommands(acceptance);
  return {
    task,
    include: [...scope.include],
    exclude: [...scope.exclude],
    noTouch: [...scope.noTouch],
    limits: {
      maxCliCalls,
      maxDurationMs: maxDurationSeconds * 1_000,
      maxMemoryMb: settings.maxMemoryMb,
      ...present({ maxUsd: settings.maxUsd }),
    },
    mode,
    place,
    ...(verify.length === 0 ? {} : { verify }),
    package: ref,
  };
}

/** All of them at once: their domains are apart. */
export async function workOnAttempts(
  shop: Workshop,
  wave: string,
  attempts: readonly Attempt[],
): Promise<readonly EndedAttempt[]> {
  const { run } = shop;
  const handles: Handle[] = [];
  for (const { key, unit, prompt, terms } of attempts)
    handles.push(
      await run.steps.start(`${key}/work`, await agentOf(run, key, unit.executor), userText(prompt), {
        kind: 'task',
        role: 'executor',
        reason: firstWords(unit.wanted.goal),
        timeLimit: { milliseconds: terms.limits.maxDurationMs, setting: 'max_duration_seconds' },
        terms,
      }),
    );
  const stalled = await watch(shop, wave, attempts, handles);
  const results = await run.steps.settled(handles);
  const ended: EndedAttempt[] = [];
  for (const [index, attempt] of attempts.entries()) {
    const { key, terms } = attempt;
    const collected = await run.steps.step(`${key}/collected`, async () => ({
      ...(await run.tasks.collect(`${key}/work`, terms)),
    }));
    ended.push({ attempt, result: results[index] as RunResult, collected, stalled: stalled.get(index) });
  }
  return ended;
}

/** Looked up when it is handed over: a name may stand for an agent or for an executor without a file. */
export const agentOf = (run: AgentRun, key: string, executor: string): Promise<string> =>
  run.steps.step(`${key}/executor`, () => run.tasks.executor(executor));

/** Until all have come to an end; whoever gets nowhere is stopped. */
async function watch(
  { run, settings }: Workshop,
  wave: string,
  attempts: readonly Attempt[],
  handles: readonly Handle[],
): Promise<ReadonlyMap<number, string>> {
  const everyMs = Math.min(limits.taskLookMs, settings.stallAfterMs);
  const stalled = new Map<number, string>();
  const motions = new Map<number, Motion>();
  let working = handles.map((_handle, index) => index);
  for (let look = 1; ; look += 1) {
    const ended = await run.steps.collect(
      `${wave}/look/${look}`,
      working.map((index) => handles[index] as Handle),
      everyMs,
    );
    working = working.filter((_index, position) => ended[position] === undefined);
    if (working.length === 0) return stalled;
    for (const index of working) {
      const { key, terms } = attempts[index] as Attempt;
      const seen = await run.steps.step(`${key}/seen/${look}`, () => run.tasks.progress(`${key}/work`, terms));
      const motion = moved(motions.get(index) ?? noMotion, seen, everyMs);
      motions.set(index, motion);
      if (stalled.has(index) || !isStalled(motion, settings.stallAfterMs)) continue;
      const why = `Nothing new was seen in ${durationText(settings.stallAfterMs)}: no change of a file, no test result.`;
      stalled.set(index, why);
      await run.steps.stop(handles[index] as Handle, why);
    }
  }
}

const GOAL_CHARACTERS = 80;

const firstWords = (goal: string): string => {
  const line = goal.replaceAll(/\s+/g, ' ');
  return line.length > GOAL_CHARACTERS ? `${line.slice(0, GOAL_CHARACTERS - 1)}…` : line;
};
