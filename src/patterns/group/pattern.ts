/** Group as the rest of the program has it: a core, and what it asks of its orchestrator and its evaluator. */
import { ok, type Result } from '../../base/result.ts';
import type { UserMessage } from '../../events/messages.ts';
import type { LoopAs } from '../../events/run-origin.ts';
import type { Ending } from '../../loop/port.ts';
import { type AgentRun, type CheckedResult, resultOf } from '../agent-run.ts';
import type { Pattern } from '../pattern.ts';
import { evaluateExit, plainJudgement } from './evaluation.ts';
import { runGroup } from './group.ts';

export const groupPattern = {
  key: 'group',
  core: (run, request) => (run.agent.group === undefined ? undefined : runGroup(run, run.agent.group, request)),
  // Everybody has a prompt, and what they answer is put side by side or passed along: there is no orchestrator to hear anything.
  deaf: ({ group }) => group?.mode === 'broadcast' || group?.mode === 'sequential',
  place({ loopOnly }) {
    if (loopOnly === undefined || loopOnly === 'chooser' || loopOnly === 'architect') return undefined;
    return { applies: 'none', loop: async (run, request) => ({ result: resultOf(run, await ownWords(run, loopOnly, request)) }) };
  },
} as const satisfies Pattern;

/** Their own words, without the patterns they declare. */
async function ownWords(run: AgentRun, as: Exclude<LoopAs, 'chooser' | 'architect'>, input: UserMessage): Promise<CheckedResult> {
  switch (as) {
    case 'planner':
      return await run.loop({ input, reports: false, plain: freeWords });
    case 'evaluator':
      return await run.loop({ input, exits: [evaluateExit()], reports: false, plain: plainJudgement });
    case 'speaker':
      return await run.loop({ input, reports: false });
    case 'self':
      return await run.loop({ input, reports: true });
  }
}

/** A plan is not the answer, so the form that the answer must have does not bind it. */
const freeWords = (body: string): Result<Ending, string> =>
  ok({ success: true, report: { format: 'markdown', body }, claims: [] });
