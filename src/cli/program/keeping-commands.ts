/** Commands on what is kept: the ledger, agents, presets, with their words, options and examples. */
import type { Command } from 'commander';
import { limits } from '../../base/limits.ts';
import type { AgentsAllowOptions } from '../agents/allow.ts';
import type { AgentsAddOptions } from '../agents/put-agent.ts';
import type { AgentsRemoveOptions } from '../agents/remove.ts';
import type { AgentsSearchOptions } from '../agents/search.ts';
import type { ServersAllowOptions } from '../agents/servers.ts';
import type { CopyCommandOptions, GcOptions } from '../commands/ledger.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { parseCount } from '../terminal/parse-option.ts';
import { addTo, json } from './describe.ts';

export function describeLedger(ledger: Command, perform: Perform): void {
  json(
    addTo(ledger, 'new-key', 'seal secrets with a new key from now on; earlier ones still open', 'troupe ledger new-key'),
  ).action((options: JsonOption) =>
    perform(async (context) => (await import('../commands/ledger.ts')).ledgerNewKeyCommand(context, options)),
  );
  json(addTo(ledger, 'stats', 'how much is in it', 'troupe ledger stats')).action((options: JsonOption) =>
    perform(async (context) => (await import('../commands/ledger.ts')).ledgerStatsCommand(context, options)),
  );
  json(
    addTo(
      ledger,
      'verify [run]',
      'walk the hash chain, compare what follows from it, and name what is wrong',
      'troupe ledger verify',
    ),
  ).action((run: string | undefined, options: JsonOption) =>
    perform(async (context) => (await import('../commands/ledger.ts')).ledgerVerifyCommand(context, run, options)),
  );
  json(addTo(ledger, 'rebuild', 'set right what has drifted from the events', 'troupe ledger rebuild')).action(
    (options: JsonOption) =>
      perform(async (context) => (await import('../commands/ledger.ts')).ledgerRebuildCommand(context, options)),
  );
  json(
    addTo(
      ledger,
      'gc',
      'drop the payloads of sessions as the settings say; shows it unless --yes',
      'troupe ledger gc --older-than 30d',
    ),
  )
    .option('--older-than <duration>', 'sessions without an event for so long, in place of retention.sessions')
    .option('--dry-run', 'only show')
    .option('-y, --yes', 'do it')
    .action((options: GcOptions) =>
      perform(async (context) => (await import('../commands/ledger.ts')).ledgerGcCommand(context, options)),
    );
  json(
    addTo(
      ledger,
      'copy <from> <to>',
      'copy all sessions into another ledger and verify them; goes on where it stopped',
      'troupe ledger copy sqlite:.troupe/ledger.db postgres://troupe@db.internal/troupe',
    ),
  )
    .option('--force', 'also sessions that somebody works on, up to where they are')
    .action((from: string, to: string, options: CopyCommandOptions) =>
      perform(async (context) => (await import('../commands/ledger.ts')).ledgerCopyCommand(context, from, to, options)),
    );
}

export function describeAgents(agents: Command, perform: Perform): void {
  json(addTo(agents, 'list', 'every agent and where it comes from', 'troupe agents list')).action((options: JsonOption) =>
    perform(async (context) => (await import('../agents/agents.ts')).agentsListCommand(context, options)),
  );
  json(addTo(agents, 'show <agent>', 'what an agent says, by name or file', 'troupe agents show hello')).action(
    (agent: string, options: JsonOption) =>
      perform(async (context) => (await import('../agents/agents.ts')).agentsShowCommand(context, agent, options)),
  );
  json(
    addTo(
      agents,
      'search <words...>',
      'who could do it, asked in plain words',
      'troupe agents search someone to find bugs in python',
    ),
  )
    .option('-n, --limit <count>', `at most so many, up to ${limits.searchResults}`, parseCount)
    .action((words: readonly string[], options: AgentsSearchOptions) =>
      perform(async (context) => (await import('../agents/search.ts')).agentsSearchCommand(context, words, options)),
    );
  json(
    addTo(
      agents,
      'add <file>',
      'check an agent file and put it into agents/; - reads stdin; the address of an A2A card adds an agent that lives elsewhere',
      'troupe agents add reviewer.md\n  troupe agents add https://agents.example/.well-known/agent-card.json',
    ),
  )
    .option('--name <name>', 'give the agent this name')
    .option('--user', 'for all your projects: into your own folder')
    .option('--force', 'replace what is there; a copy is kept')
    .option('--pin', 'card: take it as it is now, and refuse it when it changes')
    .option('--token-env <name>', 'card: the variable with the token for it')
    .option('--plain', 'card: the token may go unencrypted to another machine')
    .option('-y, --yes', 'card: do not ask')
    .action((file: string, options: AgentsAddOptions) =>
      perform(async (context) => (await import('../agents/add.ts')).agentsAddCommand(context, file, options)),
    );
  json(
    addTo(
      agents,
      'allow <agent>',
      'allow the MCP servers that its own file starts, or what it has sent elsewhere',
      'troupe agents allow reviewer',
    ),
  )
    .option('-y, --yes', 'do not ask')
    .action((agent: string, options: AgentsAllowOptions) =>
      perform(async (context) => (await import('../agents/allow.ts')).agentsAllowCommand(context, agent, options)),
    );
  json(addTo(agents, 'remove <agent>', 'take an agent out of agents/; a copy is kept', 'troupe agents remove reviewer'))
    .option('-y, --yes', 'do not ask')
    .option('--force', 'also when other agents name it')
    .action((agent: string, options: AgentsRemoveOptions) =>
      perform(async (context) => (await import('../agents/remove.ts')).agentsRemoveCommand(context, agent, options)),
    );
}

export function describeServerList(servers: Command, perform: Perform): void {
  const list = servers
    .command('list', { isDefault: true })
    .description('every MCP server, where it comes from, whether it may start');
  json(list.addHelpText('before', 'Example:\n  troupe servers list\n')).action((options: JsonOption) =>
    perform(async (context) => (await import('../agents/servers.ts')).serversListCommand(context, options)),
  );
  json(
    addTo(
      servers,
      'allow [servers...]',
      "allow servers of other tools' files; without a name, asks about each",
      'troupe servers allow github',
    ),
  )
    .option('-y, --yes', 'do not ask')
    .action((names: readonly string[], options: ServersAllowOptions) =>
      perform(async (context) => (await import('../agents/servers.ts')).serversAllowCommand(context, names, options)),
    );
  json(addTo(servers, 'forget <server>', 'take back what was allowed', 'troupe servers forget github')).action(
    (name: string, options: JsonOption) =>
      perform(async (context) => (await import('../agents/servers.ts')).serversForgetCommand(context, name, options)),
  );
}

export function describePresets(presets: Command, perform: Perform): void {
  json(addTo(presets, 'list', 'every preset, with the tier it comes from', 'troupe presets list')).action((options: JsonOption) =>
    perform(async (context) => (await import('../commands/presets.ts')).presetsListCommand(context, options)),
  );
  json(
    addTo(presets, 'show <name>', 'a preset whole; built-in:<name> shows one that is shadowed', 'troupe presets show bug-hunt'),
  ).action((name: string, options: JsonOption) =>
    perform(async (context) => (await import('../commands/presets.ts')).presetsShowCommand(context, name, options)),
  );
  json(addTo(presets, 'import <file>', 'add the presets of a file to your own', 'troupe presets import presets.json')).action(
    (file: string, options: JsonOption) =>
      perform(async (context) => (await import('../commands/presets.ts')).presetsImportCommand(context, file, options)),
  );
}
