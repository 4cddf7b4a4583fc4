/** Works through what was handed over, wave by wave, until something has to be judged or nothing is left. */
import { userText } from '../../events/messages.ts';
import type { RunResult } from '../steps.ts';
import { UNCHECKED } from '../verification.ts';
import { attemptKey, planAttempt, prepareAttempt, type Workshop, workOnAttempts } from './attempts.ts';
import { judgedPayload, type Open } from './judging.ts';
import { failedBy, nextStep } from './policy.ts';
import { endedWith, type Next, type Progressing, takeNotices } from './progressing.ts';
import { taskResultsPrompt } from './prompts.ts';
import { taskId } from './task-package.ts';
import { lookedBefore } from './told-apart.ts';
import type { Attempt, EndedAttempt, Unit } from './units.ts';
import { nextWave } from './waves.ts';

/** `undefined` when nothing is left to work on and nothing to judge. */
export async function workThrough(state: Progressing): Promise<Next | undefined> {
  const { run, settings } = state;
  while (state.queue.length > 0) {
    if (state.waves === 0) await showPlan(state);
    const { wave, rest } = nextWave(state.queue, settings.parallel);
    state.queue = rest;
    state.waves += 1;
    const key = `wave/${state.waves}`;
    const shop: Workshop = { run, settings, base: state.base, known: state.known };
    const attempts = await prepareAll(state, shop, wave);
    if (attempts.length === 0) continue;
    const ended = await workOnAttempts(shop, key, attempts);
    for (const one of ended) await receive(state, one);
    const over = await endedWith(
      state,
      key,
      ended.map(({ result }) => result),
    );
    if (over !== undefined) return { ended: over };
    if (state.open.length === 0) continue;
    const nonce = await run.steps.nonce(`${key}/fence`);
    return { prompt: userText([...takeNotices(state), taskResultsPrompt(state.open, nonce)].join('\n\n')) };
  }
  return undefined;
}

async function prepareAll(state: Progressing, shop: Workshop, wave: readonly Unit[]): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const [index, unit] of wave.entries()) {
    const prepared = await prepareAttempt(shop, unit);
    if (!('attempt' in prepared)) {
      await refuse(state, unit, [prepared.refused, prepared.fix].filter(Boolean).join(' '));
      continue;
    }
    attempts.push(prepared.attempt);
    const { place } = prepared.attempt.terms;
    if (place.kind === 'worktree') {
      // All of them begin where the first did, whatever the person changes meanwhile.
      state.from ??= place.base;
      state.base ??= place.base;
      shop.base ??= place.base;
      continue;
    }
    // In one folder nobody works at the same time: nobody could tell whose change is whose.
    state.queue = [...wave.slice(index + 1), ...state.queue];
    break;
  }
  return attempts;
}

/** Where only the plan was asked for: all of it is shown, and the run is left before it has files or a place of its own. */
async function showPlan({ run, settings, base, known, queue }: Progressing): Promise<void> {
  if (!run.tasks.planOnly) return;
  for (const unit of queue) await planAttempt({ run, settings, base, known }, unit);
  await run.tasks.hold();
}

/** There is no place to work on it. */
async function refuse(state: Progressing, unit: Unit, why: string): Promise<void> {
  const { run } = state;
  const key = attemptKey(unit);
  const task = taskId(run.tasks.namedBy, key);
  const acceptance = unit.wanted.acceptance.map(({ line, command }) => {
    return { line, how: command === undefined ? ('judged' as const) : ('run' as const), met: false };
  });
  const payload = { task, attempt: unit.attempt, verdict: 'given_up' as const, by: 'policy' as const, why, acceptance };
  await run.steps.emit(`${key}/judged`, { type: 'task.judged', payload: { ...payload, verification: UNCHECKED } });
  state.done = [...state.done, { task, unit, verdict: 'given_up', why, verification: UNCHECKED }];
  state.notices = [...state.notices, `${task} (${unit.wanted.goal.split('\n')[0]}) could not be begun: ${why}`];
}

/** What came of one attempt: to be judged, tried again, given to somebody else, or given up. */
async function receive(state: Progressing, ended: EndedAttempt): Promise<void> {
  const { run, settings } = state;
  const { attempt, result, collected, stalled } = ended;
  const { unit } = attempt;
  const failed = failedBy(result, collected, stalled);
  if (failed === undefined) {
    const before = await lookedBefore(state, ended);
    state.open = [...state.open, { ...ended, unit, failed, before }];
    return;
  }
  const next = settings.executors[settings.executors.indexOf(unit.executor) + 1];
  const step = nextStep(settings, failed, { executor: unit.executor, next, errors: unit.errors, attempt: unit.attempt });
  const after: Unit = { ...unit, errors: step.errors };
  if (step.kind !== 'tell') {
    const payload = { task: attempt.task, attempt: unit.attempt, ...step.policy };
    await run.steps.emit(`${attempt.key}/policy`, { type: 'task.policy', payload });
  }
  // A run that is over goes on with nothing; what was seen of it is recorded.
  if (isOver(state, result)) return;
  const again = { attempt: unit.attempt + 1, again: attempt.task, before: failed.message };
  switch (step.kind) {
    case 'tell':
      state.open = [...state.open, { ...ended, unit: after, failed }];
      return;
    case 'shrink':
      state.open = [...state.open, { ...ended, unit: { ...after, mustShrink: true }, failed }];
      return;
    case 'retry':
      state.queue = [{ ...after, ...again }, ...state.queue];
      return;
    case 'downgrade':
      state.queue = [{ ...after, ...again, executor: step.policy.to ?? unit.executor }, ...state.queue];
      return;
    case 'cancel':
      await giveUp(state, { ...ended, unit: after, failed }, step.policy.why);
  }
}

const isOver = ({ run }: Progressing, { exhausted }: RunResult): boolean => exhausted !== undefined && run.scopes.has(exhausted);

async function giveUp(state: Progressing, open: Open, why: string): Promise<void> {
  const { attempt, unit } = open;
  const payload = judgedPayload(open, 'policy', { verdict: 'given_up', why });
  await state.run.steps.emit(`${attempt.key}/judged`, { type: 'task.judged', payload });
  state.done = [...state.done, { task: attempt.task, unit, verdict: 'given_up', why, verification: UNCHECKED, ended: open }];
  const kept = open.collected.patch === undefined ? '' : ` What it had changed is kept: ${open.collected.patch}`;
  state.notices = [...state.notices, `${attempt.task} (${unit.wanted.goal.split('\n')[0]}) was given up: ${why}${kept}`];
}
