/**
 * Accepted work is put together: one patch, from which later tasks begin, and a report of what does not fit. When more than one
 * task is in it, what each of them had to pass is run again on the whole.
 */
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import { userText } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { TaskPlace, TaskTerms } from '../../events/tasks/task-terms.ts';
import { verificationText } from '../../events/verification-text.ts';
import type { RunResult } from '../steps.ts';
import type { Merged } from '../task-support.ts';
import { UNCHECKED, unchecked } from '../verification.ts';
import { acceptanceCommands } from './acceptance.ts';
import { agentOf } from './attempts.ts';
import type { Done } from './judging.ts';
import { endedWith, type Progressing } from './progressing.ts';
import { mergeText } from './prompts.ts';
import { taskId } from './task-package.ts';

/** Everything that was accepted since the last time. The end, when the run was stopped meanwhile. */
export async function mergeAccepted(state: Progressing, key: string): Promise<RunResult | undefined> {
  const accepted = state.done.filter(({ verdict }) => verdict === 'accepted');
  const fresh = accepted.slice(state.merged);
  state.merged = accepted.length;
  if (fresh.length === 0) return undefined;
  const place = fresh[0]?.ended?.attempt.terms.place;
  const parts = place?.kind === 'worktree' ? begunBeside(state, accepted, place.base) : fresh;
  const whole = place?.kind === 'worktree' ? await merge(state, key, parts, place) : undefined;
  if (whole !== undefined && whole.conflicts.length > 0) return undefined;
  const torn = state.together?.state === 'unverified';
  const demanded = [...new Set(accepted.flatMap(({ unit }) => acceptanceCommands(unit.wanted.acceptance)))];
  const justRun = parts.length === 1 ? acceptanceCommands(parts[0]?.unit.wanted.acceptance ?? []) : [];
  if (demanded.length === 0 && torn) state.together = UNCHECKED;
  const known = !torn && demanded.every((command) => justRun.includes(command));
  if (place === undefined || demanded.length === 0 || known) return undefined;
  return await checkWhole(state, key, fresh, demanded);
}

/**
 * All that was accepted of those who began there, also what was put together before: tasks that were worked on side by side know
 * nothing of each other, and may be judged one after the other.
 */
function begunBeside({ leftOut }: Progressing, accepted: readonly Done[], base: string): readonly Done[] {
  return accepted.filter(({ task, ended }) => {
    const place = ended?.attempt.terms.place;
    return place?.kind === 'worktree' && place.base === base && !leftOut.includes(task);
  });
}

async function merge(state: Progressing, key: string, done: readonly Done[], place: TaskPlace): Promise<Merged> {
  const { run } = state;
  const parts = done.flatMap(({ task, ended }) => {
    const patch = ended?.collected.patch;
    return patch === undefined ? [] : [{ task, patch }];
  });
  const wanted = { place, from: state.from ?? '', parts };
  const merged = await run.steps.step(`${key}/merge`, async () => ({ ...(await run.tasks.merge(`${key}/merge`, wanted)) }));
  const tasks = done.map(({ task }) => task);
  const { commit, patch, files, conflicts } = merged;
  const payload = {
    ...{ tasks, files, conflicts },
    ...present({ commit, patch }),
  };
  await run.steps.emit(`${key}/merged`, { type: 'task.merged', payload });
  state.base = commit ?? state.base;
  const torn = new Set(conflicts.flatMap((one) => one.tasks));
  // The last one of each is the one that stands against the others.
  state.leftOut = [...state.leftOut, ...conflicts.flatMap((one) => one.tasks.slice(-1))];
  const kept = done.flatMap(({ task, ended }) => (torn.has(task) && ended !== undefined ? [ended.collected.diff] : []));
  const text = mergeText(merged, tasks, kept, await run.steps.nonce(`${key}/merge/fence`));
  state.notices = [...state.notices, text];
  if (conflicts.length === 0) return merged;
  const ref = { run: run.run, step: `${key}/merged`, type: 'task.merged' };
  state.known = [...state.known, { ref, text: [`Does not fit together yet:`, ...kept].join('\n\n') }];
  // What is torn apart is proved by nobody until it was mended.
  const paths = conflicts.map((one) => one.path).join(', ');
  state.together = { state: 'unverified', reasons: [`accepted changes do not fit together in ${paths}`] };
  return merged;
}

/** A run in which nobody works: the commands are run where everything is together. */
async function checkWhole(
  state: Progressing,
  key: string,
  fresh: readonly Done[],
  verify: string[],
): Promise<RunResult | undefined> {
  const { run, settings, base } = state;
  const [first] = fresh;
  const terms = first?.ended?.attempt.terms;
  if (first === undefined || terms === undefined) return undefined;
  const task = taskId(run.tasks.namedBy, `${key}/whole`);
  const found = await run.steps.step(`${key}/whole/place`, async () => {
    return { ...(await run.tasks.prepare({ task, workspace: settings.workspace, base })) };
  });
  if ('refused' in found) {
    // That each passed alone says nothing about all of them.
    const why = `what was accepted could not be checked together: ${found.refused}`;
    state.together = unchecked([why]);
    state.notices = [...state.notices, `Everything together: ${why}`];
    return undefined;
  }
  const whole: TaskTerms = { ...terms, task, place: found.place, verify, onlyVerify: true };
  const agent = await agentOf(run, `${key}/whole`, first.unit.executor);
  const handle = await run.steps.start(`${key}/whole/work`, agent, userText('Everything together.'), {
    ...{ kind: 'task', role: 'check', reason: `${counted(verify.length, 'command')} on everything together`, terms: whole },
  });
  const [result] = (await run.steps.settled([handle])) as [RunResult];
  state.together = succeeded(result)
    ? result.verification
    : {
        state: 'unverified',
        reasons: [`what was accepted could not be checked together: ${result.error?.message ?? result.status}`],
      };
  if (state.together.state === 'unverified')
    state.notices = [
      ...state.notices,
      `Everything together: ${verificationText(state.together)} Hand over a task that mends it.`,
    ];
  return await endedWith(state, `${key}/whole`, [result]);
}
