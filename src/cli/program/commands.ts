/** Every command with its words, options and an example. What a command does is in its own file, loaded when it is used. */

import { type Command, Option } from 'commander';
import type { CheckCommandOptions } from '../commands/check.ts';
import type { CostOptions } from '../commands/cost.ts';
import type { InboxOptions } from '../commands/inbox.ts';
import type { LogsOptions } from '../commands/logs.ts';
import type { PsOptions } from '../commands/ps.ts';
import type { RunCommandOptions } from '../commands/run.ts';
import type { ShowOptions } from '../commands/show.ts';
import type { DiffOptions } from '../comparing/diff.ts';
import type { DoctorOptions } from '../doctor/doctor.ts';
import type { ModelsOptions } from '../doctor/models.ts';
import type { OutputOptions } from '../drive/finish-run.ts';
import type { ExportOptions } from '../export/export.ts';
import type { ImportOptions } from '../importing/import.ts';
import type { MeasureOptions } from '../measure/measure.ts';
import type { AcpCommandOptions } from '../serving/acp.ts';
import type { ConsoleLinkOptions } from '../serving/console-link.ts';
import type { McpCommandOptions } from '../serving/mcp.ts';
import type { ServeOptions } from '../serving/serve.ts';
import type { InitOptions } from '../setup/init.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { collectText, collectVariable, parseCount, parsePort, parseShare } from '../terminal/parse-option.ts';
import { describeArtifacts } from './artifact-commands.ts';
import { describeCluster } from './cluster-commands.ts';
import { type Add, addTo, budgets, json, notifyOption, output, requireOption } from './describe.ts';
import { describeExecutors } from './executor-commands.ts';
import { describeForget, describeSessions } from './forget-commands.ts';
import { describeGroups } from './group-commands.ts';
import { describeAgents, describeLedger, describePresets, describeServerList } from './keeping-commands.ts';
import { describePermissions } from './permission-commands.ts';
import { describeQuestions } from './question-commands.ts';
import { describeAnswers, describeApply, describeAttach, describeChat, describeRuns, describeSend } from './run-commands.ts';
import { describeTasks } from './task-commands.ts';
import { describeTelemetry } from './telemetry-commands.ts';
import { describeTrials } from './trial-commands.ts';

export function describeCommands(program: Command, perform: Perform): void {
  const add = (usage: string, about: string, example: string): Command => addTo(program, usage, about, example);
  describeStart(add, perform);
  describeChat(add, perform);
  describeLooks(add, perform);
  describeRuns(add, perform);
  describeSend(add, perform);
  describeAttach(add, perform);
  describeAnswers(add, perform);
  describeApply(add, perform);
  describeTrials(add, perform);
  describeTasks(add('tasks', 'root runs as A2A has them: list, show, cancel', 'troupe tasks list'), perform);
  describePermissions(add('permissions', 'what agents may do: list, remove', 'troupe permissions'), perform);
  describeLedger(add('ledger', 'the ledger itself: stats, verify, rebuild, gc, copy, new-key', 'troupe ledger verify'), perform);
  describeForget(add, perform);
  describeTelemetry(add('telemetry', 'spans for OpenTelemetry: status, backfill', 'troupe telemetry status'), perform);
  describeArtifacts(add('artifacts', 'what work left behind: list, show, get, diff, pin, …', 'troupe artifacts list'), perform);
  describeGroups(add('groups', 'groups that last: create, list, send, …', 'troupe groups list'), perform);
  describeAgents(add('agents', 'the agents: list, search, show, add, allow, remove', 'troupe agents list'), perform);
  describeServerList(add('servers', 'MCP servers that agents may name: list, allow, forget', 'troupe servers'), perform);
  describeExecutors(add('executors', 'coding agents that work for agents: list, probe, add', 'troupe executors list'), perform);
  describePresets(add('presets', 'groups to start from: list, show, import', 'troupe presets list'), perform);
  describeServers(add, perform);
  describeCluster(add, perform);
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
    .option('--watch', 'check again whenever a file changes, until Ctrl-C')
    .action((paths: readonly string[], options: CheckCommandOptions) =>
      perform(async (context) => (await import('../commands/check.ts')).checkCommand(context, paths, options)),
    );
  const run = add(
    'run <agent> [prompt]',
    'run an agent on a prompt; - reads it from stdin',
    'troupe run agents/hello.md "What is here?"',
  );
  budgets(output(run))
    .option('-m, --model <name>', 'use this model, such as anthropic/claude-sonnet-5, whatever the agents name')
    .option('--max-turns <count>', 'stop after so many turns', parseCount)
    .option('--continue', 'go on with the newest conversation, or that of --session; the agent may be left out')
    .option('--session <id>', 'go on in this session')
    .option('--workspace <folder>', 'the folder the agent may touch')
    .option('--watch', 'run again whenever a file of the agent changes, until Ctrl-C; limits are for all runs together')
    .option('--plan-only', 'print the tasks that would be handed over, and stop before the first; resume goes on')
    .option('--var <key=value>', 'a variable for prompts; may be given again', collectVariable)
    .option('-y, --yes', 'give every permission that is asked for')
    .addOption(requireOption())
    .addOption(notifyOption())
    .action((agent: string, prompt: string | undefined, options: RunCommandOptions) =>
      perform(async (context) => (await import('../commands/run.ts')).runCommand(context, agent, prompt, options)),
    );
  output(add('demo', 'watch agents add a command to a small project, without a key', 'troupe demo'))
    .argument('[which]', 'lead: one plans, another works; fixer: one repairs', 'lead')
    .action((which: string, options: OutputOptions) =>
      perform(async (context) => (await import('../commands/demo.ts')).demoCommand(context, which, options)),
    );
}

function describeLooks(add: Add, perform: Perform): void {
  json(add('ps', 'list runs, newest first', 'troupe ps'))
    .option('-a, --all', 'child runs too')
    .option('-n, --limit <count>', 'at most so many', parseCount)
    .action((options: PsOptions) => perform(async (context) => (await import('../commands/ps.ts')).psCommand(context, options)));
  describeSessions(add, perform);
  json(
    add('inbox', 'everything that waits for you, and a place to answer it', 'troupe inbox').option(
      '--list',
      'only list it, also on a terminal',
    ),
  ).action((options: InboxOptions) =>
    perform(async (context) => (await import('../commands/inbox.ts')).inboxCommand(context, options)),
  );
  json(add('show <run>', 'show a run: tree, cost, result', 'troupe show last'))
    .option('--request', 'only what a permission is or was asked for, all of it')
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
  describeExport(add, perform);
  describeImport(add, perform);
  json(add('cost [run]', 'what a run with all below it, a session, or everything cost', 'troupe cost last'))
    .option('--prices <file-or-day>', 'at the prices in this file, or of a day such as 2026-01-31, instead of those of its time')
    .action((run: string | undefined, options: CostOptions) =>
      perform(async (context) => (await import('../commands/cost.ts')).costCommand(context, run, options)),
    );
  describeQuestions(add, perform);
  describeComparing(add, perform);
  json(add('models [provider]', 'models with prices and windows, and which one is used', 'troupe models openai'))
    .option('--offline', 'ask no provider: what the table of prices has')
    .action((provider: string | undefined, options: ModelsOptions) =>
      perform(async (context) => (await import('../doctor/models.ts')).modelsCommand(context, provider, options)),
    );
  json(
    add(
      'measure <agent> <requests>',
      'how well an agent chooses who answers, with requests of which it is known',
      'troupe measure house requests.yaml --at-least 0.95',
    ),
  )
    .option('-m, --model <name>', 'use this model, whatever the agents name')
    .option('--at-least <share>', 'exit code 1 when fewer are right, from 0 to 1', parseShare)
    .action((agent: string, file: string, options: MeasureOptions) =>
      perform(async (context) => (await import('../measure/measure.ts')).measureCommand(context, agent, file, options)),
    );
  json(add('doctor', 'try what is needed here: models, MCP servers, ledger, …', 'troupe doctor'))
    .option('--offline', 'ask no model and no server at an address')
    .action((options: DoctorOptions) =>
      perform(async (context) => (await import('../doctor/doctor.ts')).doctorCommand(context, options)),
    );
}

function describeComparing(add: Add, perform: Perform): void {
  json(add('replay <run>', 'play a run again over its recorded answers, and compare', 'troupe replay last')).action(
    (run: string, options: JsonOption) =>
      perform(async (context) => (await import('../comparing/replay.ts')).replayCommand(context, run, options)),
  );
  json(
    add(
      'diff <run> <other>',
      'hold two runs against each other: where they part, and what came of each',
      'troupe diff 5018pa last',
    ),
  )
    .option('--all', 'every step that differs, and not only the first')
    .option('--prose', 'what agents say counts too')
    .option('--exit-code', 'exit code 1 when they differ')
    .action((run: string, other: string, options: DiffOptions) =>
      perform(async (context) => (await import('../comparing/diff.ts')).diffCommand(context, run, other, options)),
    );
}

function describeExport(add: Add, perform: Perform): void {
  add('export <run-or-session>', 'one document of all that was said and done', 'troupe export last --html -o session.html')
    .addOption(
      new Option('--format <format>', 'otherwise as the file is named, or markdown').choices([
        'markdown',
        'html',
        'print',
        'jsonl',
        'atif',
      ]),
    )
    .option('--html', 'one file that is session and console: opens without a network, checks itself')
    .option('--atif', 'a trajectory for other programs, in the Agent Trajectory Interchange Format')
    .option('--bundle', 'one file with all that belongs to it, which `troupe import` reads')
    .option('--sign <file>', 'sign the bundle with this Ed25519 key (PEM)')
    .option('-o, --output <file>', 'write this file and not to stdout')
    .action((what: string, options: ExportOptions) =>
      perform(async (context) => (await import('../export/export.ts')).exportCommand(context, what, options)),
    );
}

function describeImport(add: Add, perform: Perform): void {
  const example =
    'troupe import session.troupe.tar --check\n  troupe import --list\n  troupe import ~/.codex/sessions/2026/01/31/rollout-….jsonl';
  json(add('import [paths...]', 'sessions of a bundle, Claude Code, Codex or opencode, to be read here', example))
    .option('--list', 'find those of this project that are on this machine')
    .option('--id <id>', 'only this conversation, of a file or folder that holds several')
    .option('--check', 'look whether all of a bundle is as it should be, and store nothing')
    .option('--key <file>', 'refuse a bundle unless it is signed with the key of this public key (PEM)')
    .action((paths: readonly string[], options: ImportOptions) =>
      perform(async (context) => (await import('../importing/import.ts')).importCommand(context, paths, options)),
    );
}

function describeServers(add: Add, perform: Perform): void {
  const as = 'the name under which the client takes part in threads';
  add('mcp', 'serve the agents to an MCP client on stdin and stdout', 'claude mcp add troupe -- troupe mcp')
    .option('--as <name>', as)
    .action((options: McpCommandOptions) =>
      perform(async (context) => (await import('../serving/mcp.ts')).mcpCommand(context, options)),
    );
  add('acp [agent]', 'serve an agent or a team to an editor (ACP) on stdin and stdout', 'troupe acp reviewer')
    .option('-m, --model <name>', 'use this model, unless the client chooses another')
    .option('--max-turns <count>', 'no more turns than this for each agent', parseCount)
    .addOption(new Option('--mode <mode>', 'how free sessions begin').choices(['ask', 'read-only', 'full']).default('ask'))
    .option('--listen <address>', 'on a port of this machine instead, such as 127.0.0.1:4750')
    .option('--executor', 'as an executor: the built-in coding agent, and no settings of the folder it works in')
    .option('--home <folder>', 'as an executor: where state is kept')
    .option('--settings <folder>', 'as an executor: the project whose providers, prices and permissions count')
    .action((agent: string | undefined, options: AcpCommandOptions) =>
      perform(async (context) => (await import('../serving/acp.ts')).acpCommand(context, agent, options)),
    );
  add('serve', 'serve the console, and the agents to MCP clients and A2A peers', 'troupe serve --open')
    .option('--open', 'open the console in your browser')
    .option('--host <address>', 'the address to listen on; beyond this machine a token is needed', '127.0.0.1')
    .option('--port <number>', 'the port; 0 takes any that is free', parsePort, 4747)
    .option('--token <token>', 'what clients must send; auto makes one; better in TROUPE_TOKEN')
    .option('--openai', 'serve agents to clients of OpenAI too, at /v1')
    .option('--agui', 'serve agents to front-ends that speak AG-UI too, at /agui')
    .option('--grpc-port <number>', 'serve A2A over gRPC too, on this port; 0 takes any that is free', parsePort)
    .option('--as <name>', as)
    .option('--allow-commands', 'let agents run commands although there are several callers; all run as the same user')
    .option('--allow-host <name>', 'another name under which the server is reached; may be given again', collectText)
    .action((options: ServeOptions) =>
      perform(async (context) => (await import('../serving/serve.ts')).serveCommand(context, options)),
    );
  add('console', 'a link that logs another browser in to the console that is served here', 'troupe console --page /inbox')
    .option('--page <path>', 'what it shows then; the inbox without it')
    .option('--end-logins', 'end every login instead, as after a phone was lost')
    .action((options: ConsoleLinkOptions) =>
      perform(async (context) => (await import('../serving/console-link.ts')).consoleLinkCommand(context, options)),
    );
}
