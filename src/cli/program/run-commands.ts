/** Commands that steer a run, and those that answer what it asks, with their words, options and examples. */
import { type Command, Option } from 'commander';
import { present } from '../../base/present.ts';
import type { ChatOptions } from '../chat/conversation.ts';
import type { AnswerOptions, ApproveOptions } from '../commands/answer.ts';
import type { ForkCommandOptions } from '../commands/fork.ts';
import type { ResumeCommandOptions, RetryCommandOptions } from '../commands/resume.ts';
import type { SignalOptions } from '../commands/signal.ts';
import type { ApplyOptions } from '../tasks/apply.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { collectVariable, collectWord, parseCount, parseUsd } from '../terminal/parse-option.ts';
import { type Add, budgets, json, notifyOption, output, requireOption } from './describe.ts';

export function describeRuns(add: Add, perform: Perform): void {
  const resume = add(
    'resume <run>',
    'go on with a run that was cut off, paused or answered, or failed for a reason outside',
    'troupe resume last',
  );
  budgets(output(resume), ' in all')
    .option('-m, --model <name>', 'go on with this model, whatever the agents name')
    .option('--max-turns <count>', 'stop after so many turns in all', parseCount)
    .option('-y, --yes', 'give every permission that is asked for')
    .addOption(requireOption())
    .addOption(notifyOption())
    .action((run: string, options: ResumeCommandOptions) =>
      perform(async (context) => (await import('../commands/resume.ts')).resumeCommand(context, run, options)),
    );
  const retry = add('retry <run>', 'do the work of a run that failed again, from what was before it', 'troupe retry last');
  budgets(output(retry))
    .option('-m, --model <name>', 'use this model, whatever the agents name')
    .option('--max-turns <count>', 'stop after so many turns', parseCount)
    .option('-y, --yes', 'give every permission that is asked for')
    .addOption(notifyOption())
    .action((run: string, options: RetryCommandOptions) =>
      perform(async (context) => (await import('../commands/resume.ts')).retryCommand(context, run, options)),
    );
  const fork = add(
    'fork <run>',
    'go on from the middle of a run, in a session of its own',
    'troupe fork last --at "turn 3" --set model=openai/gpt-5\n  troupe fork last --set "answer=no: not that one"',
  );
  output(fork)
    .option('--at <event>', 'the last that is kept: an event, its position, "turn 3", start or end (default: the last turn)')
    .option(
      '--set <key=value>',
      'another prompt, model, agent (a file), answer or result, or without a part of the context',
      collectWord,
      [],
    )
    .option('--in <folder>', 'work in this folder, as it is, and not in one that is as it was')
    .option('--no-run', 'only make it')
    .option('-y, --yes', 'give every permission that is asked for')
    .addOption(requireOption())
    .addOption(notifyOption())
    .action((run: string, options: ForkCommandOptions) =>
      perform(async (context) => (await import('../commands/fork.ts')).forkCommand(context, run, options)),
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

export function describeSend(add: Add, perform: Perform): void {
  json(
    add(
      'send <run> [text]',
      'tell a running agent something; it hears it before its next turn; - reads stdin',
      'troupe send last "Leave the tests alone"',
    ),
  ).action((run: string, text: string | undefined, options: JsonOption) =>
    perform(async (context) => (await import('../commands/signal.ts')).sendCommand(context, run, text, options)),
  );
}

export function describeApply(add: Add, perform: Perform): void {
  const example = 'troupe apply last --dry-run\n  troupe apply last\n  troupe apply --undo';
  json(add('apply [run]', 'bring the result of a run to your files, or to a branch', example))
    .option('--branch <name>', 'as a commit on this new branch; your files stay as they are')
    .option('--dry-run', 'only show what would be changed')
    .option('--merge', 'also into files that you have changed and not committed')
    .option('--undo', 'take back what was applied last')
    .action((run: string | undefined, options: ApplyOptions) =>
      perform(async (context) => (await import('../tasks/apply.ts')).applyCommand(context, run, options)),
    );
}

export function describeChat(add: Add, perform: Perform): void {
  add('chat [agent]', 'talk with an agent; /help there says what else it can do', 'troupe chat helper')
    .option('-m, --model <name>', 'use this model, whatever the agents name')
    .option('--budget-usd <amount>', 'spend no more than this in the whole conversation', parseUsd)
    .option('--max-turns <count>', 'stop each answer after so many turns', parseCount)
    .option('--continue', 'go on with the newest conversation')
    .option('--session <id>', 'go on in this session')
    .option('--workspace <folder>', 'the folder the agent may touch')
    .option('--var <key=value>', 'a variable for prompts; may be given again', collectVariable)
    .option('-y, --yes', 'give every permission that is asked for')
    .addOption(notifyOption())
    .action((agent: string | undefined, options: ChatOptions) =>
      perform(async (context) => (await import('../chat/chat.ts')).chatCommand(context, agent, options)),
    );
}

export function describeAttach(add: Add, perform: Perform): void {
  add('attach [run-or-session]', 'the whole screen for a run: tree, words, questions, a line to it', 'troupe attach last').action(
    (what: string | undefined) => perform(async (context) => (await import('../attach/attach.ts')).attachCommand(context, what)),
  );
}

export function describeAnswers(add: Add, perform: Perform): void {
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
      new Option('--remember [scope]', 'and the same call later: in this session, or in this project').choices([
        'session',
        'project',
      ]),
    )
    .option('--whole', 'you have seen all of it, also what the question has no room for')
    .option('--shown <hash>', 'what you have seen, as the question names it: nothing else is approved')
    .addOption(
      new Option('--input <file>', 'make the call with the arguments in this JSON file instead (- for stdin)').conflicts(
        'remember',
      ),
    )
    .action((run: string, options: ApproveOptions) =>
      perform(async (context) => (await import('../commands/answer.ts')).approveCommand(context, run, options)),
    );
  answering(add('deny <run>', 'refuse the permission that is asked for and go on', 'troupe deny last --note "not on main"'))
    .option('--note <text>', 'what the agent is told')
    .action((run: string, options: AnswerOptions & { readonly note?: string }) => {
      const answer = { kind: 'denied', ...present({ note: options.note }) } as const;
      return perform(async (context) => (await import('../commands/answer.ts')).answerCommand(context, run, answer, options));
    });
}
