/** Every command with its words, options and an example. What a command does is in its own file, loaded when it is used. */

import { type Command, Option } from 'commander';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { AgentsAddOptions } from '../agents/add.ts';
import type { AgentsAllowOptions } from '../agents/allow.ts';
import type { AgentsRemoveOptions } from '../agents/remove.ts';
import type { AgentsSearchOptions } from '../agents/search.ts';
import type { AnswerOptions } from '../commands/answer.ts';
import type { CheckCommandOptions } from '../commands/check.ts';
import type { CopyCommandOptions, GcOptions } from '../commands/ledger.ts';
import type { LogsOptions } from '../commands/logs.ts';
import type { PsOptions } from '../commands/ps.ts';
import type { ResumeCommandOptions, RetryCommandOptions } from '../commands/resume.ts';
import type { RunCommandOptions } from '../commands/run.ts';
import type { SessionsOptions } from '../commands/sessions.ts';
import type { ShowOptions } from '../commands/show.ts';
import type { SignalOptions } from '../commands/signal.ts';
import type { WhyOptions } from '../commands/why.ts';
import type { DoctorOptions } from '../doctor/doctor.ts';
import type { ModelsOptions } from '../doctor/models.ts';
import type { OutputOptions } from '../drive/finish-run.ts';
import type { ExportOptions } from '../export/export.ts';
import type { McpCommandOptions } from '../serving/mcp.ts';
import type { ServeOptions } from '../serving/serve.ts';
import type { InitOptions } from '../setup/init.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { collectText, collectVariable, parseCount, parsePort, parseTime, parseUsd } from '../terminal/parse-option.ts';
import { describeCluster } from './cluster-commands.ts';
import { describeGroups } from './group-commands.ts';
import { describePermissions } from './permission-commands.ts';

export function describeCommands(program: Command, perform: Perform): void {
  const add = (usage: string, about: string, example: string): Command => addTo(program, usage, about, example);
  describeStart(add, perform);
  describeLooks(add, perform);
  describeRuns(add, perform);
  describeAnswers(add, perform);
  describePermissions(add('permissions', 'what agents may do: list, remove', 'troupe permissions'), perform);
  describeLedger(add('ledger', 'the ledger itself: stats, verify, rebuild, gc, copy, new-key', 'troupe ledger verify'), perform);
  describeGroups(add('groups', 'groups that last: create, list, send, …', 'troupe groups list'), addTo, perform);
  describeAgents(add('agents', 'the agents: list, search, show, add, allow, remove', 'troupe agents list'), perform);
  describePresets(add('presets', 'groups to start from: list, show, import', 'troupe presets list'), perform);
  describeServers(add, perform);
  describeCluster(add, addTo, perform);
  add('completion <shell>', 'print a completion script for bash, zsh or fish', 'source <(troupe completion bash)').action(
    (shell: string) => perform(async (context) => (await import('./completion.ts')).completionCommand(context, program, shell)),
  );
  program
    .command('complete [words...]', { hidden: true })
    .description('what the shell asks when Tab is pressed')
    .addHelpText('before', 'Example:\n  troupe complete -- run ""\n')
    .action((words: readonly string[]) =>
      perform(async (context) => (await import('./complete.ts')).completeCommand(context, program, words)),
    );
}

type Add = (usage: string, about: string, example: string) => Command;

function addTo(parent: Command, usage: string, about: string, example: string): Command {
  return parent.command(usage).description(about).addHelpText('before', `Example:\n  ${example}\n`);
}

const json = (command: Command): Command => command.option('--json', 'print one JSON value');
const output = (command: Command): Command =>
  json(command).option('--jsonl', 'print every event as a JSON line').option('-q, --quiet', 'no progress, only the result');

function describeStart(add: Add, perform: Perform): void {
  json(add('init', 'write first agents and settings, from a template', 'troupe init --template review'))
    .option('--template <name>', 'what to start with; without it you are asked, or it is one agent')
    .option('--list', 'only list the templates')
    .action((options: InitOptions) =>
      perform(async (context) => (await import('../setup/init.ts')).initCommand(context, options)),
    );
  const made = add('new', 'write a new agent or team, with comments', 'troupe new agent reviewer');
  json(addTo(made, 'agent <name>', 'write agents/<name>.md', 'troupe new agent reviewer')).action(
    (name: string, options: JsonOption) =>
      perform(async (context) => (await import('../setup/new.ts')).newAgentCommand(context, name, options)),
  );
  json(
    addTo(
      made,
      'team <name> [members...]',
      'write a team of these agents, or of two new ones',
      'troupe new team room logs metrics',
    ),
  ).action((name: string, members: readonly string[], options: JsonOption) =>
    perform(async (context) => (await import('../setup/new.ts')).newTeamCommand(context, name, members, options)),
  );
  json(add('check [paths...]', 'find every problem in settings and agents, or in these files', 'troupe check --graph'))
    .addOption(new Option('--graph [as]', 'draw who may call whom').choices(['text', 'mermaid']))
    .option('--from <agent>', 'draw only what this agent leads to')
    .action((paths: readonly string[], options: CheckCommandOptions) =>
      perform(async (context) => (await import('../commands/check.ts')).checkCommand(context, paths, options)),
    );
  output(
    add('run <agent> [prompt]', 'run an agent on a prompt; - reads it from stdin', 'troupe run agents/hello.md "What is here?"'),
  )
    .option('-m, --model <name>', 'use this model, such as anthropic/claude-sonnet-5, whatever the agents name')
    .option('--budget-usd <amount>', 'spend no more than this', parseUsd)
    .option('--max-turns <count>', 'stop after so many turns', parseCount)
    .option('--continue', 'go on with the newest conversation, or that of --session; the agent may be left out')
    .option('--session <id>', 'go on in this session')
    .option('--workspace <folder>', 'the folder the agent may touch')
    .option('--var <key=value>', 'a variable for prompts; may be given again', collectVariable)
    .option('-y, --yes', 'give every permission that is asked for')
    .addOption(requireOption())
    .addOption(notifyOption())
    .action((agent: string, prompt: string | undefined, options: RunCommandOptions) =>
      perform(async (context) => (await import('../commands/run.ts')).runCommand(context, agent, prompt, options)),
    );
  output(add('demo', 'watch an agent repair a small project, without a key', 'troupe demo')).action((options: OutputOptions) =>
    perform(async (context) => (await import('../commands/demo.ts')).demoCommand(context, options)),
  );
}

function describeLooks(add: Add, perform: Perform): void {
  json(add('ps', 'list runs, newest first', 'troupe ps'))
    .option('-a, --all', 'child runs too')
    .option('-n, --limit <count>', 'at most so many', parseCount)
    .action((options: PsOptions) => perform(async (context) => (await import('../commands/ps.ts')).psCommand(context, options)));
  json(add('sessions', 'list conversations, newest first', 'troupe sessions'))
    .option('-a, --all', 'not only the newest')
    .action((options: SessionsOptions) =>
      perform(async (context) => (await import('../commands/sessions.ts')).sessionsCommand(context, options)),
    );
  json(add('inbox', 'everything that waits for you, and a place to answer it', 'troupe inbox')).action((options: JsonOption) =>
    perform(async (context) => (await import('../commands/inbox.ts')).inboxCommand(context, options)),
  );
  json(add('show <run>', 'show a run: tree, cost, result', 'troupe show last'))
    .option('--request', 'only what a permission is asked for, all of it')
    .action((run: string, options: ShowOptions) =>
      perform(async (context) => (await import('../commands/show.ts')).showCommand(context, run, options)),
    );
  json(add('logs <run>', 'print what happened, event by event', 'troupe logs -f last'))
    .option('--jsonl', 'print every event as a JSON line')
    .option('-f, --follow', 'go on until the run ends')
    .addOption(
      new Option('--level <level>', 'the least that is worth a line')
        .choices(['detail', 'info', 'warn', 'error'])
        .default('info'),
    )
    .action((run: string, options: LogsOptions) =>
      perform(async (context) => (await import('../commands/logs.ts')).logsCommand(context, run, options)),
    );
  add('export <run-or-session>', 'one document of all that was said and done', 'troupe export last -o conversation.html')
    .addOption(
      new Option('--format <format>', 'otherwise as the file is named, or markdown').choices(['markdown', 'html', 'jsonl']),
    )
    .option('-o, --output <file>', 'write this file and not to stdout')
    .action((what: string, options: ExportOptions) =>
      perform(async (context) => (await import('../export/export.ts')).exportCommand(context, what, options)),
    );
  json(add('cost [run]', 'what a run, or everything, cost', 'troupe cost last')).action(
    (run: string | undefined, options: JsonOption) =>
      perform(async (context) => (await import('../commands/cost.ts')).costCommand(context, run, options)),
  );
  json(add('why <run-or-event>', 'walk from a result back to the prompt', 'troupe why last'))
    .option('-a, --all', 'bookkeeping too')
    .action((what: string, options: WhyOptions) =>
      perform(async (context) => (await import('../commands/why.ts')).whyCommand(context, what, options)),
    );
  json(add('models [provider]', 'models with prices and windows, and which one is used', 'troupe models openai'))
    .option('--offline', 'ask no provider: what the table of prices has')
    .action((provider: string | undefined, options: ModelsOptions) =>
      perform(async (context) => (await import('../doctor/models.ts')).modelsCommand(context, provider, options)),
    );
  json(add('doctor', 'try what is needed here: models, MCP servers, ledger, …', 'troupe doctor'))
    .option('--offline', 'ask no model and no server at an address')
    .action((options: DoctorOptions) =>
      perform(async (context) => (await import('../doctor/doctor.ts')).doctorCommand(context, options)),
    );
}

function describeRuns(add: Add, perform: Perform): void {
  output(
    add(
      'resume <run>',
      'go on with a run that was cut off, paused or answered, or failed for a reason outside',
      'troupe resume last',
    ),
  )
    .option('-m, --model <name>', 'go on with this model, whatever the agents name')
    .option('--max-turns <count>', 'stop after so many turns in all', parseCount)
    .option('--budget-usd <amount>', 'spend no more than this in all', parseUsd)
    .option('--budget-tokens <count>', 'use no more tokens than this in all', parseCount)
    .option('--budget-calls <count>', 'ask models no more often than this in all', parseCount)
    .option('--budget-wall <time>', 'work no longer than this in all, such as 20m', parseTime)
    .option('-y, --yes', 'give every permission that is asked for')
    .addOption(requireOption())
    .addOption(notifyOption())
    .action((run: string, options: ResumeCommandOptions) =>
      perform(async (context) => (await import('../commands/resume.ts')).resumeCommand(context, run, options)),
    );
  output(add('retry <run>', 'do the work of a run that failed again, from what was before it', 'troupe retry last'))
    .option('-m, --model <name>', 'use this model, whatever the agents name')
    .option('--max-turns <count>', 'stop after so many turns', parseCount)
    .option('-y, --yes', 'give every permission that is asked for')
    .addOption(notifyOption())
    .action((run: string, options: RetryCommandOptions) =>
      perform(async (context) => (await import('../commands/resume.ts')).retryCommand(context, run, options)),
    );
  for (const signal of ['cancel', 'pause'] as const) {
    const about = signal === 'cancel' ? 'end a run and everything below it' : 'stop a run after what is under way';
    json(add(`${signal} <run>`, about, `troupe ${signal} last --reason "wrong branch"`))
      .option('--reason <text>', 'kept in the ledger')
      .action((run: string, options: SignalOptions) =>
        perform(async (context) => (await import('../commands/signal.ts')).signalCommand(context, signal, run, options)),
      );
  }
}

function describeAnswers(add: Add, perform: Perform): void {
  const answering = (command: Command): Command =>
    output(command)
      .option('--wait <name>', 'which question, when there are several')
      .option('--no-resume', 'only record the answer');
  answering(add('answer <run> <text>', 'answer a question and go on', 'troupe answer last "Use the second one"')).action(
    (run: string, text: string, options: AnswerOptions) =>
      perform(async (context) =>
        (await import('../commands/answer.ts')).answerCommand(context, run, { kind: 'text', text }, options),
      ),
  );
  answering(add('approve <run>', 'give the permission that is asked for and go on', 'troupe approve last'))
    .addOption(
      new Option('--remember [scope]', 'and the same call later: in this run, or in this project').choices(['run', 'project']),
    )
    .option('--whole', 'you have seen all of it, also what the question has no room for')
    .option('--shown <hash>', 'what you have seen, as the question names it: nothing else is approved')
    .action((run: string, options: AnswerOptions & { readonly remember?: true | 'run' | 'project'; readonly whole?: true }) => {
      const { remember, whole } = options;
      const kept =
        remember === undefined ? {} : ({ remember: true, ...(remember === 'project' ? { scope: remember } : {}) } as const);
      const answer = { kind: 'approved', ...kept, ...present({ whole }) } as const;
      return perform(async (context) => (await import('../commands/answer.ts')).answerCommand(context, run, answer, options));
    });
  answering(add('deny <run>', 'refuse the permission that is asked for and go on', 'troupe deny last --note "not on main"'))
    .option('--note <text>', 'what the agent is told')
    .action((run: string, options: AnswerOptions & { readonly note?: string }) => {
      const answer = { kind: 'denied', ...present({ note: options.note }) } as const;
      return perform(async (context) => (await import('../commands/answer.ts')).answerCommand(context, run, answer, options));
    });
}

function describeServers(add: Add, perform: Perform): void {
  const as = 'the name under which the client takes part in threads';
  add('mcp', 'serve the agents to an MCP client on stdin and stdout', 'claude mcp add troupe -- troupe mcp')
    .option('--as <name>', as)
    .action((options: McpCommandOptions) =>
      perform(async (context) => (await import('../serving/mcp.ts')).mcpCommand(context, options)),
    );
  add('serve', 'serve the agents to MCP clients over HTTP', 'troupe serve --port 4747')
    .option('--host <address>', 'the address to listen on; beyond this machine a token is needed', '127.0.0.1')
    .option('--port <number>', 'the port; 0 takes any that is free', parsePort, 4747)
    .option('--token <token>', 'what clients must send; auto makes one; better in TROUPE_TOKEN')
    .option('--as <name>', as)
    .option('--allow-commands', 'let agents run commands although there are several callers; no sandbox holds them')
    .option('--allow-host <name>', 'another name under which the server is reached; may be given again', collectText)
    .action((options: ServeOptions) =>
      perform(async (context) => (await import('../serving/serve.ts')).serveCommand(context, options)),
    );
}

function describeLedger(ledger: Command, perform: Perform): void {
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
      'drop the payloads of old sessions; shows what it would do unless --yes',
      'troupe ledger gc --older-than 30d',
    ),
  )
    .option('--older-than <duration>', 'sessions without an event for so long', '30d')
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

function describeAgents(agents: Command, perform: Perform): void {
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
  json(addTo(agents, 'add <file>', 'check an agent file and put it into agents/; - reads stdin', 'troupe agents add reviewer.md'))
    .option('--name <name>', 'give the agent this name')
    .option('--user', 'for all your projects: into your own folder')
    .option('--force', 'replace what is there; a copy is kept')
    .action((file: string, options: AgentsAddOptions) =>
      perform(async (context) => (await import('../agents/add.ts')).agentsAddCommand(context, file, options)),
    );
  json(addTo(agents, 'allow <agent>', 'allow the MCP servers that its own file starts', 'troupe agents allow reviewer'))
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

function describePresets(presets: Command, perform: Perform): void {
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

function requireOption(): Option {
  return new Option('--require <worth>', 'what the result must be worth for exit code 0').choices(['verified', 'unchecked']);
}

function notifyOption(): Option {
  return new Option('--notify <how>', 'call you back when a run needs you or ends').choices(['none', 'bell', 'desktop']);
}
