/**
 * How an architect ends a part of its work: by asking, by handing tasks over, or by judging what came of them. A task that does
 * not say what it is about, within which limits, and when it is done, is not handed over; whoever asks is told what is missing.
 */
import { z } from 'zod';
import { type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { counted, sentence } from '../../base/wording.ts';
import type { Exit } from '../../loop/port.ts';
import { type AcceptanceLine, acceptanceLines } from './acceptance.ts';
import { normalPath, type TaskScope } from './scope.ts';
import type { ArchitectSettings } from './settings.ts';

export const CLARIFY = 'clarify';
export const DELEGATE = 'delegate';
export const JUDGE = 'judge';

const line = z.string().trim().min(1).max(limits.taskLineCharacters);
const path = z.string().max(limits.taskLineCharacters);
const paths = z.array(path).max(limits.taskLines);

const clarifyInput = z.strictObject({
  questions: z
    .array(z.strictObject({ question: line, choices: z.array(line).min(2).max(10).optional() }))
    .min(1)
    .max(limits.clarifyQuestions)
    .describe('All that you need to know now: each round of questions counts.'),
});
export type Clarification = z.infer<typeof clarifyInput>;

const taskInput = z.strictObject({
  goal: z.string().trim().min(1).max(limits.taskGoalCharacters).describe('What is to be true when it is done, in full.'),
  include_paths: paths.min(1).describe('Files and folders (ending in /) that may be changed, relative to the workspace.'),
  exclude_paths: paths.describe('Of these, what may not be changed; [] for nothing.'),
  acceptance: z
    .array(line)
    .min(1)
    .max(limits.taskLines)
    .describe('When it is done, line by line. A line that begins with `command` is run by the runtime, and that decides.'),
  verify: z.array(line).max(limits.verifyCommands).optional().describe('Further commands that must pass; the runtime runs them.'),
  constraints: z.strictObject({
    max_cli_calls: z.number().int().positive(),
    max_duration_seconds: z.number().int().positive(),
    no_touch: paths.describe('Paths that must stay as they are, whatever else is included; [] for none.'),
  }),
  tool_mode: z.enum(['full', 'read-only']).optional().describe('full unless said'),
});
type TaskInput = z.infer<typeof taskInput>;

const delegateInput = z.strictObject({ tasks: z.array(taskInput).min(1).max(limits.tasksPerDelegation) });

const judgeInput = z.strictObject({
  tasks: z
    .array(
      z.strictObject({
        task_id: z.string().describe('Its id, or * for all that are to be judged.'),
        verdict: z.enum(['accepted', 'again', 'given_up']),
        why: line,
        acceptance: z
          .array(z.strictObject({ line, met: z.boolean() }))
          .max(limits.taskLines)
          .optional()
          .describe('The lines that are no commands: whether each is met, as you see it.'),
        task: taskInput.optional().describe('For `again`: the task anew, about less than before.'),
      }),
    )
    .min(1)
    .max(limits.tasksPerDelegation),
});
export type TaskJudgement = z.infer<typeof judgeInput>['tasks'][number];

/** A task as it is wanted: checked, and in the one form that is compared. */
export interface WantedTask {
  readonly goal: string;
  readonly scope: TaskScope;
  readonly acceptance: readonly AcceptanceLine[];
  readonly maxCliCalls: number;
  readonly maxDurationSeconds: number;
  readonly mode: 'full' | 'read-only';
}

export function architectExits(settings: ArchitectSettings, closed: readonly string[]): readonly Exit[] {
  const all = [
    exit(
      CLARIFY,
      CLARIFY_TEXT,
      clarifyInput,
      () => undefined,
      ({ questions }) => `Asks ${counted(questions.length, 'question')}.`,
    ),
    exit(
      DELEGATE,
      DELEGATE_TEXT,
      delegateInput,
      ({ tasks }) => firstProblem(tasks, settings),
      ({ tasks }) => `Hands over ${counted(tasks.length, 'task')}.`,
    ),
    exit(
      JUDGE,
      JUDGE_TEXT,
      judgeInput,
      ({ tasks }) => judgementProblem(tasks, settings),
      ({ tasks }) => tasks.map(({ task_id, verdict, why }) => `${task_id} ${verdict}: ${why}`).join('\n'),
    ),
  ];
  return all.filter(({ spec }) => !closed.includes(spec.name));
}

const CLARIFY_TEXT =
  'Asks the person what you must know before a task can be handed over: what it is about, within which limits, when it is done. ' +
  'The rounds are counted. Ends your turn; the answers come back to you.';
const DELEGATE_TEXT =
  'Hands tasks over to an executor, which sees nothing but its own package and does the work. Several at once when they are about ' +
  'different files. Ends your turn; what the runtime saw of the work comes back to you.';
const JUDGE_TEXT =
  'Says what becomes of tasks that came back: accepted, again (about less than before), or given up. Ends your turn.';

function exit<Input extends JsonObject>(
  name: string,
  description: string,
  schema: z.ZodType<Input>,
  problem: (input: Input) => string | undefined,
  said: (input: Input) => string,
): Exit {
  return {
    spec: { name, description, inputSchema: schemaOf(schema) },
    goesOn: true,
    take(call) {
      const parsed = schema.safeParse(call.input);
      if (!parsed.success) return fail(`Not taken: ${sentence(z.prettifyError(parsed.error))}`);
      const wrong = problem(parsed.data);
      if (wrong !== undefined) return fail(`Not taken: ${sentence(wrong)}`);
      const report = { format: 'text' as const, body: said(parsed.data) };
      return ok({ success: true, report, claims: [], exit: { tool: name, value: parsed.data } });
    },
  };
}

function schemaOf(schema: z.ZodType): JsonObject {
  const parsed = parseJson(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })));
  return parsed.ok ? (parsed.value as JsonObject) : {};
}

function firstProblem(tasks: readonly TaskInput[], settings: ArchitectSettings): string | undefined {
  for (const [index, task] of tasks.entries()) {
    const wanted = wantedTask(task, settings);
    if (!wanted.ok) return tasks.length === 1 ? wanted.error : `task ${index + 1}: ${wanted.error}`;
  }
  return undefined;
}

function judgementProblem(tasks: readonly TaskJudgement[], settings: ArchitectSettings): string | undefined {
  for (const { task_id, verdict, task } of tasks) {
    if (verdict !== 'again' && task !== undefined) return `${task_id}: a task stands only beside the verdict "again"`;
    if (verdict !== 'again') continue;
    if (task === undefined) return `${task_id}: "again" needs the task anew, about less than before`;
    const wanted = wantedTask(task, settings);
    if (!wanted.ok) return `${task_id}: ${wanted.error}`;
  }
  return undefined;
}

export function wantedTask(task: TaskInput, settings: ArchitectSettings): Result<WantedTask, string> {
  const { max_cli_calls, max_duration_seconds, no_touch } = task.constraints;
  if (max_cli_calls > settings.maxCliCalls)
    return fail(
      `max_cli_calls is ${max_cli_calls}, and a task has at most ${settings.maxCliCalls} (architect.limits.maxCliCalls)`,
    );
  if (max_duration_seconds * 1_000 > settings.maxDurationMs)
    return fail(
      `max_duration_seconds is ${max_duration_seconds}, and a task has at most ${Math.floor(settings.maxDurationMs / 1_000)} ` +
        '(architect.limits.maxDuration)',
    );
  const include = normalised(task.include_paths);
  if (!include.ok) return fail(`include_paths: ${include.error}`);
  const exclude = normalised(task.exclude_paths);
  if (!exclude.ok) return fail(`exclude_paths: ${exclude.error}`);
  const noTouch = normalised(no_touch);
  if (!noTouch.ok) return fail(`no_touch: ${noTouch.error}`);
  return ok({
    goal: task.goal,
    scope: { include: include.value, exclude: exclude.value, noTouch: noTouch.value },
    acceptance: acceptanceLines(task.acceptance, task.verify ?? []),
    maxCliCalls: max_cli_calls,
    maxDurationSeconds: max_duration_seconds,
    mode: task.tool_mode ?? 'full',
  });
}

function normalised(given: readonly string[]): Result<readonly string[], string> {
  const normal: string[] = [];
  for (const one of given) {
    const found = normalPath(one);
    if ('problem' in found) return fail(found.problem);
    if (!normal.includes(found.path)) normal.push(found.path);
  }
  return ok(normal);
}

/** What the loop of the architect ended with, read again from what was recorded. */
export type ArchitectDecision =
  | { readonly kind: typeof CLARIFY; readonly questions: Clarification['questions'] }
  | { readonly kind: typeof DELEGATE; readonly tasks: readonly WantedTask[] }
  | { readonly kind: typeof JUDGE; readonly tasks: readonly (Omit<TaskJudgement, 'task'> & { readonly task?: WantedTask })[] };

export function decisionOf(
  ended: { readonly tool: string; readonly value: Json } | undefined,
  settings: ArchitectSettings,
): ArchitectDecision | undefined {
  if (ended?.tool === CLARIFY) return { kind: CLARIFY, questions: clarifyInput.parse(ended.value).questions };
  if (ended?.tool === DELEGATE)
    return { kind: DELEGATE, tasks: delegateInput.parse(ended.value).tasks.map((task) => known(task, settings)) };
  if (ended?.tool !== JUDGE) return undefined;
  const tasks = judgeInput.parse(ended.value).tasks.map(({ task, ...judged }) => {
    return task === undefined ? judged : { ...judged, task: known(task, settings) };
  });
  return { kind: JUDGE, tasks };
}

/** It was looked at when it was taken. */
function known(task: TaskInput, settings: ArchitectSettings): WantedTask {
  const wanted = wantedTask(task, settings);
  if (!wanted.ok) throw new Error(wanted.error);
  return wanted.value;
}
