/** `troupe tasks`: root runs as others see them through A2A. */

import { codeOf, TroupeError } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { sentence } from '../../base/wording.ts';
import { taskLineOf } from '../../front/project/tasks.ts';
import type { Ledger } from '../../ledger/port.ts';
import { loadConfig } from '../../project/config.ts';
import { readableAge } from '../../projections/readable.ts';
import type { TaskContext, TaskMessage } from '../../projections/tasks/task-json.ts';
import { isTerminalTask, type TaskState } from '../../projections/tasks/task-states.ts';
import { type RootTask, taskOfRun } from '../../projections/tasks/tasks.ts';
import { createLedgerTasks, storedTask, tasksOfRun } from '../../tasks/ledger-tasks.ts';
import type { StoredTask, TaskPage, TaskReader } from '../../tasks/port.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export interface TasksListOptions extends JsonOption {
  readonly state?: TaskState | undefined;
  readonly session?: string | undefined;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  /** The copies in Redis, and not the ledger. */
  readonly stored?: boolean | undefined;
}

export interface TasksShowOptions extends JsonOption {
  readonly stored?: boolean | undefined;
}

export interface TasksCancelOptions extends JsonOption {
  readonly reason?: string | undefined;
}

const DEFAULT_LIMIT = 20;

export async function tasksListCommand(context: CommandContext, options: TasksListOptions): Promise<ExitCode> {
  const { tasks, next, cutBy } = await readPage(context, options);
  const { out, progress } = context.terminal;
  if (options.json) printJson(context, 'tasks list', { tasks: tasks.map(taskLineOf), next: next ?? null, ...present({ cutBy }) });
  else if (tasks.length === 0) progress.prose(`no tasks like that; a task is a root run: ${callOf(context)} run <agent> "…"`);
  else {
    const now = context.clock.now();
    printTable(
      out,
      ['TASK', 'SINCE', 'AGENT', 'STATE', 'MESSAGE'],
      tasks
        .map(taskLineOf)
        .map(({ id, timestamp, agent, state, message }) => [
          ...[safeLine(id), ageAt(now, timestamp), safeLine(agent), state],
          safeLine(message ?? ''),
        ]),
    );
    if (next !== undefined) progress.line(`there may be more: --after ${next}`);
  }
  if (cutBy !== undefined)
    progress.prose(`there are more than the ${limits[cutBy]} that are looked at (${cutBy}): some may be missing here`);
  return exitCodes.completed;
}

/** A project without a ledger has no tasks; that is not an error. */
async function readPage(context: CommandContext, options: TasksListOptions): Promise<TaskPage> {
  const { state, session, after } = options;
  const limit = Math.min(options.limit ?? DEFAULT_LIMIT, limits.listPage);
  if (options.stored === true) return await withCopies(context, (copies) => copies.list({ state, session, limit, after }));
  try {
    return await withProject(context, { readOnly: true }, async ({ ledger }) => {
      const inSession = session === undefined ? undefined : (await findRun(ledger, session)).session;
      return await createLedgerTasks(ledger).list({ state, session: inSession, limit, after });
    });
  } catch (error) {
    if (codeOf(error) === 'ledger_missing') return { tasks: [] };
    throw error;
  }
}

/** What others wrote may say anything of when it was. */
function ageAt(now: number, timestamp: string): string {
  const since = Date.parse(timestamp);
  return Number.isNaN(since) ? '?' : readableAge(Math.max(0, now - since));
}

export async function tasksShowCommand(context: CommandContext, text: string, options: TasksShowOptions): Promise<ExitCode> {
  const { task } =
    options.stored === true
      ? await withCopies(context, (copies) => copyOf(copies, text))
      : await withProject(context, { readOnly: true }, async ({ ledger }) => storedTask((await findTask(ledger, text)).task));
  if (options.json) printJson(context, 'tasks show', task);
  else for (const line of shownLines(task)) context.terminal.out.line(line);
  return exitCodes.completed;
}

async function copyOf(copies: TaskReader, id: string): Promise<StoredTask> {
  const copy = await copies.load(id);
  if (copy === undefined) throw usageError(`Redis holds no task ${id}`, 'see what it holds: troupe tasks list --stored');
  return copy;
}

/** What Redis holds, tasks of other ledgers too. */
async function withCopies<Value>(context: CommandContext, use: (copies: TaskReader) => Promise<Value>): Promise<Value> {
  const config = await loadConfig({ cwd: context.cwd, env: context.terminal.env });
  const settings = config.ok ? config.value.taskRedis : undefined;
  if (settings === undefined)
    throw usageError('No Redis is set for tasks', 'name one under tasks.redis in troupe.yaml, or in TROUPE_REDIS');
  const { createRedisTasks } = await import('../../tasks/redis/redis-tasks.ts');
  const copies = createRedisTasks(settings, context.clock);
  try {
    return await use(copies);
  } finally {
    copies.close();
  }
}

function shownLines({ id, sessionId, status, history = [], artifacts = [], metadata = {} }: TaskContext): readonly string[] {
  const said = ({ role, content, timestamp }: TaskMessage): string =>
    `${safeLine(timestamp ?? '')} ${safeLine(role)}: ${safeText(content).replaceAll('\n', '\n  ')}`.trimStart();
  return [
    ...[`task     ${safeLine(id)}`, `session  ${safeLine(sessionId)}`],
    `state    ${status.state} since ${safeLine(status.timestamp ?? '')}`,
    ...(status.message === undefined ? [] : [`message  ${safeText(status.message.content).replaceAll('\n', '\n  ')}`]),
    ...Object.entries(metadata).map(([name, value]) => `${safeLine(name)}: ${safeLine(JSON.stringify(value))}`),
    ...(artifacts.length === 0 ? [] : ['', 'artifacts', ...artifacts.map(({ name }) => `  ${safeLine(name ?? '')}`)]),
    ...['', 'history', ...history.map((message) => `  ${said(message)}`)],
  ];
}

export async function tasksCancelCommand(context: CommandContext, text: string, options: TasksCancelOptions): Promise<ExitCode> {
  return await withProject(context, {}, async ({ ledger, engine }) => {
    const { task, latest } = await findTask(ledger, text);
    const { out } = context.terminal;
    // One that ended stays as it ended; when its run went on, whoever names the run means what it is now.
    const named = text.includes('.') ? task : latest;
    const tooLate = isTerminalTask(named.state);
    const outcome = tooLate
      ? { kind: 'ended' as const }
      : await engine.cancel(latest.run, options.reason ?? 'the task was canceled');
    if (outcome.kind === 'unknown')
      throw usageError(`There is no run ${latest.run} any more`, 'see what there is: troupe tasks list');
    const live = outcome.kind === 'accepted' && outcome.live;
    const { id } = named;
    if (options.json) printJson(context, 'tasks cancel', { id, outcome: outcome.kind, live });
    else if (outcome.kind === 'ended') out.line(`${id} has already ended (${named.state})`);
    else if (outcome.unended !== undefined)
      out.prose(`${id} is to end, and could not be just now: ${sentence(outcome.unended.message)}`);
    else out.line(live ? `asked ${id} to stop` : `${id} is canceled`);
    return exitCodes.completed;
  });
}

interface Found {
  /** The one that is named; without a number the first of its run. */
  readonly task: RootTask;
  /** What the run is now. */
  readonly latest: RootTask;
}

async function findTask(ledger: Ledger, text: string): Promise<Found> {
  const [, name = text, life] = /^(.+?)(\.\d+)?$/.exec(text) ?? [];
  const row = await findRun(ledger, name);
  if (row.parent !== null)
    throw usageError(`${row.run} is no task: another run asked for it`, 'only root runs are: troupe tasks list');
  const tasks = await tasksOfRun(ledger, row);
  const latest = tasks === undefined ? undefined : taskOfRun(tasks, row.run);
  const task = text === 'last' ? latest : tasks?.tasks.get(taskId(row, life));
  if (task !== undefined && latest !== undefined) return { task, latest };
  if (tasks === undefined)
    throw new TroupeError('ledger_collected', `The events of ${row.run} were removed by \`troupe ledger gc\``);
  throw usageError(`There is no task ${taskId(row, life)}`, 'see what there is: troupe tasks list');
}

const taskId = ({ run }: { readonly run: RunId }, life: string | undefined): string => `${run}${life ?? ''}`;
