/** What the descriptions of commands have in common: words, an example, and options that several take. */
import { type Command, Option } from 'commander';
import { parseCount, parseTime, parseUsd } from '../terminal/parse-option.ts';

/** Adds a command of the program itself. */
export type Add = (usage: string, about: string, example: string) => Command;

export function addTo(parent: Command, usage: string, about: string, example: string): Command {
  return parent.command(usage).description(about).addHelpText('before', `Example:\n  ${example}\n`);
}

export const json = (command: Command): Command => command.option('--json', 'print one JSON value');
export const output = (command: Command): Command =>
  json(command).option('--jsonl', 'print every event as a JSON line').option('-q, --quiet', 'no progress, only the result');

/** Limits of what is spent. `how` is said behind each: of what goes on, what was spent before counts. */
export function budgets(command: Command, how: '' | ' in all' = ''): Command {
  return command
    .option('--budget-usd <amount>', `spend no more than this${how}`, parseUsd)
    .option('--budget-tokens <count>', `use no more tokens than this${how}`, parseCount)
    .option('--budget-calls <count>', `ask models no more often than this${how}`, parseCount)
    .option('--budget-wall <time>', `work no longer than this${how}, such as 20m`, parseTime);
}

export function requireOption(): Option {
  return new Option('--require <worth>', 'what the result must be worth for exit code 0').choices(['verified', 'unchecked']);
}

export function notifyOption(): Option {
  return new Option('--notify <how>', 'call you back when a run needs you or ends').choices(['none', 'bell', 'desktop']);
}
