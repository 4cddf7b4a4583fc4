/** What the descriptions of commands have in common: words, an example, and options that several take. */
import { type Command, Option } from 'commander';

/** Adds a command of the program itself. */
export type Add = (usage: string, about: string, example: string) => Command;

export function addTo(parent: Command, usage: string, about: string, example: string): Command {
  return parent.command(usage).description(about).addHelpText('before', `Example:\n  ${example}\n`);
}

export const json = (command: Command): Command => command.option('--json', 'print one JSON value');
export const output = (command: Command): Command =>
  json(command).option('--jsonl', 'print every event as a JSON line').option('-q, --quiet', 'no progress, only the result');

export function requireOption(): Option {
  return new Option('--require <worth>', 'what the result must be worth for exit code 0').choices(['verified', 'unchecked']);
}

export function notifyOption(): Option {
  return new Option('--notify <how>', 'call you back when a run needs you or ends').choices(['none', 'bell', 'desktop']);
}
