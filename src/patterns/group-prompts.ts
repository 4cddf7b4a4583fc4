/** What orchestrators, workers and evaluators are told. What workers wrote is fenced and cannot end the loop. */
import { fenced, fenceNote } from '../base/fence.ts';
import type { Worker, WorkerOutcome } from './group-workers.ts';
import { neutralised } from './sentinels.ts';

/** The form that assignments take. Shown in prompts, so it must itself be understood by the parser. */
export const ASSIGNMENT_FORM = '@worker:<name>\n<the whole task for this worker>\n@end';

export function planningPrompt(request: string, workers: readonly Worker[], routing: string | undefined, nonce: string): string {
  return [
    'You are the dispatcher of a group. You do not do the work yourself: you divide it among the workers below, and later you put ' +
      'their results together. Treat every request as new. Use as few workers as the request needs, give different workers different ' +
      'tasks, and do not split what one worker can do alone.',
    '## Workers',
    workers.map(describe).join('\n'),
    ...(routing === undefined ? [] : ['## Routing', fenced('routing', nonce, routing)]),
    '## Request',
    fenced('request', nonce, request),
    `Answer with one block per worker you want to use, in exactly this form:\n\n${ASSIGNMENT_FORM}`,
  ].join('\n\n');
}

export function replanPrompt(evaluation: string, workers: readonly Worker[], routing: string | undefined, nonce: string): string {
  return [
    'The goal is not reached yet. This is what was found wanting:',
    fenced('evaluation', nonce, evaluation),
    `The workers are: ${workers.map((worker) => worker.name).join(', ')}.`,
    ...(routing === undefined ? [] : ['## Routing', fenced('routing', nonce, routing)]),
    `Assign what is still to be done, in the same form:\n\n${ASSIGNMENT_FORM}\n\nIf nothing is left to do, say so without any block.`,
  ].join('\n\n');
}

export const nudge = (unknown: readonly string[], workers: readonly Worker[]): string =>
  [
    unknown.length === 0
      ? 'Your answer assigns nothing to anybody. You are the dispatcher: the workers do the work.'
      : `There is no worker named ${unknown.join(', ')}. The workers are: ${workers.map((worker) => worker.name).join(', ')}.`,
    `Answer with one block per worker you want to use:\n\n${ASSIGNMENT_FORM}`,
  ].join('\n\n');

function describe({ name, model, charter }: Worker): string {
  const expertise = charter === undefined ? '' : `: ${charter.split(/(?<=[.!?])\s/)[0] ?? charter}`;
  return `- ${name}${model === undefined ? '' : ` (model ${model})`}${expertise}`;
}

export function workerPrompt(worker: Worker, shared: string | undefined, request: string, task: string, nonce: string): string {
  return [
    worker.charter ?? 'You are a worker agent. Complete the following task thoroughly.',
    'Your answer is put together with those of others by somebody who sees nothing else of your work. If a tool fails, say so with a ' +
      'line that starts with TOOL_FAILURE: and never make up what it would have said.',
    ...(shared === undefined ? [] : ['## Team Context (shared knowledge)', fenced('context', nonce, shared)]),
    '## Original User Request (context)',
    fenced('request', nonce, request),
    '## Your Assigned Task',
    task,
  ].join('\n\n');
}

export function resultsPrompt(
  outcomes: readonly WorkerOutcome[],
  missing: readonly string[],
  nonce: string,
  then: string,
): string {
  const parts = outcomes.map(
    ({ worker, ok, text }) => `### ${worker}: ${ok ? 'done' : 'failed'}\n\n${fenced('result', nonce, neutralised(text))}`,
  );
  return [
    'The workers have answered.',
    fenceNote(nonce),
    ...parts,
    ...(missing.length === 0 ? [] : [`No result came from: ${missing.join(', ')}. Say what is therefore missing.`]),
    then,
  ].join('\n\n');
}

export const SYNTHESISE =
  'Put these results together into one answer to the original request. Keep what matters, resolve contradictions, name gaps.';

export const SELF_EVALUATE =
  `${SYNTHESISE} Then judge it against the request: end with a line that says [[GROUP_REFLECT_COMPLETE]] if the goal is fully met, or ` +
  '[[NEEDS_ITERATION]] followed by what is missing.';

export function evaluationPrompt(request: string, synthesis: string, nonce: string, iteration: number, last: boolean): string {
  return [
    `You judge the work of a group, iteration ${iteration}. Score it from 0 to 1 for completeness, correctness, coherence, actionability and ` +
      `tool verification, and give an overall score: 0.9 and more means that the goal is met. ${last ? 'This is the last iteration: judge what is there.' : 'Be strict.'}`,
    '## Request',
    fenced('request', nonce, request),
    '## Result',
    fenced('result', nonce, neutralised(synthesis)),
    'Call evaluate with your judgement and a rationale that says what would have to change.',
  ].join('\n\n');
}
