/**
 * Whom a run hears: who wrote to it, and a person who wrote to a run above in whose place it speaks. A run that has passed its
 * work on, or that others work for, has no turn of its own in which it could hear.
 */
import { answersAbove } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import type { AgentAccess } from '../options.ts';
import { type DrivenRun, speakerOf } from '../record/driven-run.ts';
import type { HearsRuns } from './hears.ts';
import type { SentMessage } from './unheard-messages.ts';

/** Oldest first, those to the run itself before those to the runs above it. */
export function unheardBy(tree: HearsRuns & Pick<AgentAccess, 'patterns'>, node: DrivenRun): readonly SentMessage[] {
  const patterns = tree.patterns ?? registeredPatterns;
  let at = speakerOf(node);
  const unheard = [...tree.messages.unheard(at.run)];
  while (at.parent !== undefined && answersAbove(patterns, at.started)) {
    at = at.parent;
    unheard.push(...tree.messages.unheard(at.run).filter(({ payload }) => payload.person !== undefined));
  }
  return unheard;
}
