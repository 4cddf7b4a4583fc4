/** Commands that try agents: kept tests, and tables of cases. */

import type { Perform } from '../terminal/command.ts';
import { parseCount, parseUsd } from '../terminal/parse-option.ts';
import type { TestAddOptions } from '../trials/add.ts';
import type { EvalOptions } from '../trials/eval.ts';
import type { TestOptions } from '../trials/test.ts';
import { type Add, addTo, json } from './describe.ts';

const BUDGET = 'all trials together cost no more than this';

export function describeTrials(add: Add, perform: Perform): void {
  const test = json(add('test [names...]', 'run what was kept as tests, in tests/', 'troupe test --trials 5'))
    .option('--trials <count>', 'try each so often, whatever its file says', parseCount)
    .option('-m, --model <name>', 'use this model, whatever tests and agents name')
    .option('--budget-usd <amount>', BUDGET, parseUsd)
    .option('--junit <file>', 'write a report for continuous integration')
    .option('--keep', 'keep the files of trials that fail')
    .option('--update', 'take what kept answers come to now for what they are to come to')
    .action((names: readonly string[], options: TestOptions) =>
      perform(async (context) => (await import('../trials/test.ts')).testCommand(context, names, options)),
    );
  json(addTo(test, 'add <run>', 'keep a run as a test', 'troupe test add last --name greets'))
    .option('--name <name>', 'what the test is called; otherwise after the agent')
    .option('--frozen', 'with all of its answers: it is played again over these, without a key')
    .option('--files <folder>', 'what its trials find in their workspace, from tests/; made where it is not there yet')
    .action((run: string, options: TestAddOptions) =>
      perform(async (context) => (await import('../trials/add.ts')).testAddCommand(context, run, options)),
    );
  json(add('eval <table>', 'play a table of cases with agents and models', 'troupe eval tests/table.eval.yaml'))
    .option('--budget-usd <amount>', BUDGET, parseUsd)
    .option('-o, --output <file>', 'write the page here')
    .action((table: string, options: EvalOptions) =>
      perform(async (context) => (await import('../trials/eval.ts')).evalCommand(context, table, options)),
    );
}
