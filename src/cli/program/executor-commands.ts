/** `troupe executors …` with its words, options and examples. */
import type { Command } from 'commander';
import type { ExecutorsAddOptions } from '../executors/executors.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { addTo, json } from './describe.ts';

export function describeExecutors(executors: Command, perform: Perform): void {
  const list = executors
    .command('list', { isDefault: true })
    .description('every executor, where it comes from, whether it is installed');
  json(list.addHelpText('before', 'Example:\n  troupe executors list\n')).action((options: JsonOption) =>
    perform(async (context) => (await import('../executors/executors.ts')).executorsListCommand(context, options)),
  );
  json(
    addTo(
      executors,
      'probe <executor>',
      'start one, say what it can do here and what is missing; its model is not asked',
      'troupe executors probe claude-code',
    ),
  ).action((name: string, options: JsonOption) =>
    perform(async (context) => (await import('../executors/executors.ts')).executorsProbeCommand(context, name, options)),
  );
  json(
    addTo(
      executors,
      'add <name> [command...]',
      'write one into executors.yaml: its command behind --, or its address',
      'troupe executors add mine --key MY_KEY -- node agent.mjs --acp',
    ),
  )
    .option('--address <host:port>', 'where it listens, in place of a command')
    .option('--like <executor>', 'everything else as with this one')
    .option('--title <words>', 'what people are shown')
    .option('--key <variable...>', 'variables of your environment that it gets')
    .option('--user', 'in your own file, for all projects')
    .option('--force', 'also over one that stands there')
    .action((name: string, command: readonly string[], options: ExecutorsAddOptions) =>
      perform(async (context) =>
        (await import('../executors/executors.ts')).executorsAddCommand(context, name, command, options),
      ),
    );
}
