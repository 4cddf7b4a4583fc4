/** `troupe tasks …` with its words, options and examples. */
import { type Command, Option } from 'commander';
import { limits } from '../../base/limits.ts';
import { taskStates } from '../../projections/tasks/task-states.ts';
import type { TasksCancelOptions, TasksListOptions, TasksShowOptions } from '../tasks/tasks.ts';
import type { Perform } from '../terminal/command.ts';
import { parseCount } from '../terminal/parse-option.ts';
import { addTo, json } from './describe.ts';

export function describeTasks(tasks: Command, perform: Perform): void {
  const states = taskStates.filter((state) => state !== 'unknown');
  json(addTo(tasks, 'list', 'every task and how it stands, newest first', 'troupe tasks list --state input-required'))
    .addOption(new Option('--state <state>', 'only those that stand so').choices(states))
    .option('--session <id>', 'only those of this session')
    .option('-n, --limit <count>', `at most so many, up to ${limits.listPage}`, parseCount)
    .option('--after <task>', 'the page after this task')
    .option('--stored', 'the copies in Redis, those of other ledgers too')
    .action((options: TasksListOptions) =>
      perform(async (context) => (await import('../tasks/tasks.ts')).tasksListCommand(context, options)),
    );
  json(addTo(tasks, 'show <task>', 'a task whole: status, history, artifacts, metadata', 'troupe tasks show last --json'))
    .option('--stored', 'the copy in Redis, by its whole id')
    .action((task: string, options: TasksShowOptions) =>
      perform(async (context) => (await import('../tasks/tasks.ts')).tasksShowCommand(context, task, options)),
    );
  json(addTo(tasks, 'cancel <task>', 'end the run of a task and everything below it', 'troupe tasks cancel last'))
    .option('--reason <text>', 'kept in the ledger')
    .action((task: string, options: TasksCancelOptions) =>
      perform(async (context) => (await import('../tasks/tasks.ts')).tasksCancelCommand(context, task, options)),
    );
}
