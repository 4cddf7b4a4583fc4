/** Commands that ask the ledger something, with their words, options and examples. */
import { Option } from 'commander';
import { limits } from '../../base/limits.ts';
import type { WithoutOptions } from '../commands/fork.ts';
import type { QueryOptions } from '../questions/query.ts';
import type { WhyOptions } from '../questions/why.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { collectWord, parseCount, parseTime } from '../terminal/parse-option.ts';
import { type Add, json } from './describe.ts';

export function describeQuestions(add: Add, perform: Perform): void {
  json(
    add(
      'why <run-or-event>',
      'walk from a result back to the prompt; or why it was dear, stopped, or did not call something',
      'troupe why last\n  troupe why last --cost',
    ),
  )
    .option('-a, --all', 'bookkeeping too')
    .option('--cost', 'instead: why it was so dear, by agent, turn, retries and what was sent again')
    .option('--end', 'instead: why it stopped, or has not')
    .option('--not-called <name>', 'instead: why this tool or agent was not called, run by run')
    .action((what: string, options: WhyOptions) =>
      perform(async (context) => (await import('../questions/why.ts')).whyCommand(context, what, options)),
    );
  json(
    add(
      'blame <file>',
      'which event, turn and prompt wrote each line of a file, or one line of it',
      'troupe blame src/sum.js\n  troupe blame src/sum.js:12',
    ),
  ).action((file: string, options: JsonOption) =>
    perform(async (context) => (await import('../questions/blame.ts')).blameCommand(context, file, options)),
  );
  json(add('context <run>', 'what a model saw, by origin and size', 'troupe context last --turn 2'))
    .option('--turn <number>', 'the request of this turn; the newest without it', parseCount)
    .option('--parts', 'every part too, in the order of the request')
    .option('--without <origin>', 'fork it right before this request, and leave this part out from there on', collectWord, [])
    .option('--no-run', 'only make the fork')
    .action((run: string, options: WithoutOptions) =>
      perform(async (context) =>
        options.without.length > 0
          ? (await import('../commands/fork.ts')).forkWithoutCommand(context, run, options)
          : (await import('../questions/context.ts')).contextCommand(context, run, options),
      ),
    );
  json(
    add(
      'query <sql>',
      'one SELECT over tables that are made of the ledger; see docs/query.md',
      'troupe query "SELECT agent, sum(usd) AS usd FROM costs GROUP BY agent"',
    ),
  )
    .addOption(new Option('--csv', 'print comma-separated values').conflicts('json'))
    .option('--rows <count>', `at most so many rows; ${limits.queryRows} without it`, parseCount)
    .option('--timeout <time>', `stop it after so long; ${limits.queryMs / 1_000}s without it`, parseTime)
    .option('--session <id>', 'only about this session, or that of this run')
    .action((sql: string, options: QueryOptions) =>
      perform(async (context) => (await import('../questions/query.ts')).queryCommand(context, sql, options)),
    );
}
