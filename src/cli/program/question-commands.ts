/** Commands that ask the ledger something, with their words, options and examples. */
import type { ContextOptions } from '../commands/context.ts';
import type { WhyOptions } from '../commands/why.ts';
import type { Perform } from '../terminal/command.ts';
import { parseCount } from '../terminal/parse-option.ts';
import { type Add, json } from './describe.ts';

export function describeQuestions(add: Add, perform: Perform): void {
  json(add('why <run-or-event>', 'walk from a result back to the prompt', 'troupe why last'))
    .option('-a, --all', 'bookkeeping too')
    .action((what: string, options: WhyOptions) =>
      perform(async (context) => (await import('../commands/why.ts')).whyCommand(context, what, options)),
    );
  json(add('context <run>', 'what a model saw, by origin and size', 'troupe context last --turn 2'))
    .option('--turn <number>', 'the request of this turn; the newest without it', parseCount)
    .option('--parts', 'every part too, in the order of the request')
    .action((run: string, options: ContextOptions) =>
      perform(async (context) => (await import('../commands/context.ts')).contextCommand(context, run, options)),
    );
}
