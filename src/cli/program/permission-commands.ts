/** `troupe permissions …` with its words, options and examples. */
import type { Command } from 'commander';
import type { RemoveRuleOptions } from '../commands/permissions.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { json } from './describe.ts';

const example = (command: Command, about: string, line: string): Command =>
  command.description(about).addHelpText('before', `Example:\n  ${line}\n`);

export function describePermissions(permissions: Command, perform: Perform): void {
  const list = permissions.command('list', { isDefault: true });
  json(example(list, 'every rule of the settings, of agents, and what was remembered', 'troupe permissions list')).action(
    (options: JsonOption) =>
      perform(async (context) => (await import('../commands/permissions.ts')).permissionsCommand(context, options)),
  );
  const remove = permissions.command('remove [tool] [rule]');
  json(
    example(remove, 'take back what was remembered, for the project or a session', 'troupe permissions remove shell "npm test"'),
  )
    .option('--all', 'everything that was remembered for it')
    .option('--session <id>', 'what was remembered for this session')
    .action((tool: string | undefined, rule: string | undefined, options: RemoveRuleOptions) =>
      perform(async (context) => (await import('../commands/permissions.ts')).removeRuleCommand(context, tool, rule, options)),
    );
}
