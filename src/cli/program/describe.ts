/** What the descriptions of commands have in common: words, an example, and options that several take. */
import { type Command, Option } from 'commander';
import { parseCount, parseTime, parseUsd } from '../terminal/parse-option.ts';

/** Adds a command of the program itself. */
export type Add = (usage: string, about: string, example: string) => Command;

export function addTo(parent: Command, usage: string, about: string, example: string): Command {
  const command = parent.command(usage).description(about).addHelpText('before', `Example:\n  ${example}\n`);
  // The program's own options stand anywhere.
  return parent.parent === null ? command : command.hook('preAction', () => takeFrom(parent, command));
}

/**
 * What stands behind the name of a command is its own. The parser gives it to the command above where that has an option of the
 * same name, wherever it stands.
 */
function takeFrom(parent: Command, command: Command): void {
  for (const option of parent.options) {
    const name = option.attributeName();
    if (parent.getOptionValueSource(name) !== 'cli') continue;
    if (!command.options.some((own) => own.attributeName() === name))
      command.error(`error: unknown option '${option.long ?? option.flags}'`, { code: 'commander.unknownOption' });
    command.setOptionValueWithSource(name, parent.getOptionValue(name), 'cli');
  }
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
