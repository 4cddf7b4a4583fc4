/**
 * Whether the acceptance of a task tells work that was done from work that was not. What would have passed without the work says
 * that nothing broke, and no more. Only looked at where it decides: when everything has passed and every line is a command.
 */
import { limits } from '../../base/limits.ts';
import type { RanBefore } from '../task-support.ts';
import { acceptanceCommands, speaksOf } from './acceptance.ts';
import type { Progressing } from './progressing.ts';
import type { Before, EndedAttempt } from './units.ts';

const TOO = 'everything that had to pass passed before the work, too: nothing broke, and nothing shows that it was done';

/** `undefined` where it decides nothing. */
export async function lookedBefore(state: Progressing, ended: EndedAttempt): Promise<Before | undefined> {
  const { attempt, result, collected } = ended;
  const { acceptance } = attempt.unit.wanted;
  const decides = result.verification.state === 'verified' && acceptance.every(({ command }) => command !== undefined);
  if (!decides) return undefined;
  const { place } = attempt.terms;
  if (place.kind === 'in-place')
    return { ran: [], why: 'whether it passed before the work is not known: the folder was worked on as it is' };
  const commands = acceptanceCommands(acceptance);
  const known = commands.flatMap((command) => state.before.get(keyOf(place.base, command)) ?? []);
  if (known.some((one) => tells(one, collected))) return { ran: known };
  const unseen = commands.filter((command) => !known.some((one) => one.command === command));
  const seen =
    unseen.length === 0
      ? { ran: [] }
      : await state.run.steps.step(`${attempt.key}/before`, async ({ signal }) => ({
          ...(await state.run.tasks.before({ task: attempt.task, place, commands: unseen }, signal)),
        }));
  for (const one of seen.ran) state.before.set(keyOf(place.base, one.command), one);
  const ran = [...known, ...seen.ran];
  if (ran.some((one) => tells(one, collected))) return { ran };
  const unknown = 'unknown' in seen ? seen.unknown : unclear(ran);
  return { ran, why: unknown === undefined ? TOO : `whether it passed before the work is not known: ${unknown}` };
}

/** The same command at the same commit ends the same for every task. */
const keyOf = (base: string, command: string): string => `${base} ${command}`;

/** Failed before and passes now, or passes with more tests than before. */
function tells({ command, ended, tests }: RanBefore, { files, tests: now }: EndedAttempt['collected']): boolean {
  if (ended === 'failed') return true;
  // Without what somebody installs nothing can be run; only what the work itself brought was missing for want of it.
  if (ended === 'missing') return files.some(({ path }) => speaksOf(command, path));
  const more = now.find((one) => one.command === command)?.tests;
  return ended === 'passed' && tests !== undefined && more !== undefined && more > tests;
}

function unclear(ran: readonly RanBefore[]): string | undefined {
  const one = ran.find(({ ended }) => ended === 'missing' || ended === 'stopped');
  if (one === undefined) return undefined;
  return one.ended === 'missing'
    ? `\`${one.command}\` is not there without what the work installed`
    : `\`${one.command}\` took longer than ${limits.taskBeforeMs / 1_000} s there (taskBeforeMs)`;
}
