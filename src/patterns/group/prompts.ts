/** What orchestrators, workers and evaluators are told. What workers wrote is fenced and cannot end the loop. */
import { fenced, fenceNote } from '../../base/fence.ts';
import type { Verification } from '../../events/catalogue.ts';
import { verificationLine } from '../../events/verification-text.ts';
import { neutralised } from './sentinels.ts';
import type { Worker, WorkerOutcome } from './workers.ts';

/** The form that assignments take, with a real name: what is shown in prompts must itself be understood by the parser. */
export const assignmentForm = (workers: readonly Worker[]): string =>
  `@worker:${workers[0]?.name ?? 'name'}\n<the whole task for this worker>\n@end`;

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
    `Answer with one block per worker you want to use, in exactly this form and not in a code block:\n\n${assignmentForm(workers)}`,
  ].join('\n\n');
}

export function replanPrompt(evaluation: string, workers: readonly Worker[], routing: string | undefined, nonce: string): string {
  return [
    'The goal is not reached yet. This is what was found wanting:',
    fenced('evaluation', nonce, evaluation),
    `The workers are: ${workers.map((worker) => worker.name).join(', ')}.`,
    ...(routing === undefined ? [] : ['## Routing', fenced('routing', nonce, routing)]),
    `Assign what is still to be done, in the same form:\n\n${assignmentForm(workers)}\n\n` +
      'If nothing is left to do, say so without any block.',
  ].join('\n\n');
}

export interface Misplanned {
  readonly unknown: readonly string[];
  readonly empty: readonly string[];
  /** Whose tasks are settled, so that they need not be repeated. */
  readonly taken: readonly string[];
}

export function nudge({ unknown, empty, taken }: Misplanned, workers: readonly Worker[]): string {
  const names = workers.map((worker) => worker.name).join(', ');
  const wrong = [
    ...(unknown.length === 0 ? [] : [`There is no worker named ${unknown.join(', ')}. The workers are: ${names}.`]),
    ...(empty.length === 0 ? [] : [`You did not say what these are to do: ${empty.join(', ')}.`]),
    ...(taken.length === 0 ? [] : [`The tasks for ${taken.join(', ')} are taken; do not repeat them.`]),
  ];
  return [
    wrong.length === 0
      ? `Your answer assigns nothing to anybody. You are the dispatcher: the workers (${names}) do the work.`
      : wrong.join(' '),
    `Answer with one block per worker you want to use, not in a code block:\n\n${assignmentForm(workers)}`,
  ].join('\n\n');
}

function describe({ name, model, charter, about }: Worker): string {
  const said = charter ?? about?.description;
  const expertise = said === undefined ? '' : `: ${firstSentence(said)}`;
  const runsOn = model ?? about?.model;
  return `- ${name}${runsOn === undefined ? '' : ` (model ${runsOn})`}${expertise}`;
}

const firstSentence = (text: string): string => (text.trim().split(/(?<=[.!?])\s|\n/)[0] ?? '').slice(0, 300);

export function workerPrompt(worker: Worker, shared: string | undefined, request: string, task: string, nonce: string): string {
  return [
    worker.charter ?? 'You are a worker agent. Complete the following task thoroughly.',
    'Your answer is put together with those of others by somebody who sees nothing else of your work. If a tool fails, say so with a ' +
      'line that starts with TOOL_FAILURE: and never make up what it would have said.',
    ...teamContext(shared, nonce),
    '## Original User Request (context)',
    fenced('request', nonce, request),
    '## Your Assigned Task',
    task,
  ].join('\n\n');
}

/** The request as one worker gets it when nobody divides the work. */
export function sharedPrompt(
  worker: Worker,
  shared: string | undefined,
  request: string,
  before: readonly WorkerOutcome[],
  nonce: string,
): string {
  const context = teamContext(shared, nonce);
  const said = before.map((one) => `### ${one.worker}${one.ok ? '' : ' (failed)'}\n\n${fencedOutcome('answer', one, nonce)}`);
  const charter = worker.charter === undefined ? [] : [worker.charter];
  const heading = context.length + said.length === 0 ? [] : ['## Request'];
  const others = said.length === 0 ? [] : ['## What the others have said', fenceNote(nonce), ...said];
  return [...charter, ...context, ...heading, request, ...others].join('\n\n');
}

const teamContext = (shared: string | undefined, nonce: string): string[] =>
  shared === undefined ? [] : ['## Team Context (shared knowledge)', fenced('context', nonce, shared)];

export function resultsPrompt(
  outcomes: readonly WorkerOutcome[],
  missing: readonly string[],
  nonce: string,
  then: string,
): string {
  const parts = outcomes.map(
    (one) => `### ${one.worker}: ${one.ok ? 'done' : 'failed'}\n\n${fencedOutcome('result', one, nonce)}`,
  );
  return [
    'The workers have answered.',
    fenceNote(nonce),
    ...parts,
    ...(missing.length === 0 ? [] : [`No result came from: ${missing.join(', ')}. Say what is therefore missing.`]),
    then,
  ].join('\n\n');
}

function fencedOutcome(name: string, { ok, text, verification }: WorkerOutcome, nonce: string): string {
  const words = fenced(name, nonce, neutralised(text));
  return ok ? `${verificationLine(verification)}\n\n${words}` : words;
}

export const SYNTHESISE =
  'Put these results together into one answer to the original request. Keep what matters, resolve contradictions, name gaps.';

const VERDICT =
  'end with a line that says only [[GROUP_REFLECT_COMPLETE]] if the goal is fully met; else with a line that says only ' +
  '[[NEEDS_ITERATION]], and after it what is missing.';

export const SELF_EVALUATE = `${SYNTHESISE} Then judge it against the request: ${VERDICT}`;

/** Asked on its own when the answer has a form in which it cannot be said. */
export const JUDGE_YOURSELF = `Judge your last answer against the request in one or two sentences, and ${VERDICT}`;

export interface Judged {
  readonly request: string;
  readonly synthesis: string;
  readonly verification: Verification;
  readonly iteration: number;
  readonly last: boolean;
}

export function evaluationPrompt({ request, synthesis, verification, iteration, last }: Judged, nonce: string): string {
  return [
    `You judge the work of a group, iteration ${iteration}. Score it from 0 to 1 for completeness, correctness, coherence, ` +
      'actionability and tool verification, and give an overall score: 0.9 and more means that the goal is met. ' +
      `${last ? 'This is the last iteration: judge what is there.' : 'Be strict.'}`,
    '## Request',
    fenced('request', nonce, request),
    '## Result',
    verificationLine(verification),
    fenced('result', nonce, neutralised(synthesis)),
    'Call evaluate with your judgement and a rationale that says what would have to change.',
  ].join('\n\n');
}
