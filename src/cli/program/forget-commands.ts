/** Commands on what is kept of sessions and for how long: pins, holds, forgetting. */
import type { Command } from 'commander';
import type { SessionsOptions } from '../commands/sessions.ts';
import type { ForgetCommandOptions } from '../forgetting/forget.ts';
import type { HoldOptions } from '../forgetting/standing.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { type Add, addTo, json } from './describe.ts';

/** The parser gives `--json` to the command above, which has it too. */
const all = <Options extends object>(called: Command): Options => called.optsWithGlobals<Options>();

export function describeSessions(add: Add, perform: Perform): void {
  const sessions = json(add('sessions', 'list conversations, newest first; pin, hold, release', 'troupe sessions'))
    .option('-a, --all', 'not only the newest')
    .action((options: SessionsOptions) =>
      perform(async (context) => (await import('../commands/sessions.ts')).sessionsCommand(context, options)),
    );
  for (const [name, pinned, about] of [
    ['pin', true, 'never collect what it holds'],
    ['unpin', false, 'collect it as the settings say'],
  ] as const)
    json(addTo(sessions, `${name} <session>`, about, `troupe sessions ${name} last`)).action(
      (session: string, _options: JsonOption, called: Command) =>
        perform(async (context) =>
          (await import('../forgetting/standing.ts')).sessionsPinCommand(context, session, pinned, all(called)),
        ),
    );
  json(
    addTo(
      sessions,
      'hold <session>',
      'let nobody collect or forget it until it is released',
      'troupe sessions hold last --reason "case 12"',
    ),
  )
    .requiredOption('--reason <text>', 'why; it stays with the session')
    .action((session: string, _options: HoldOptions, called: Command) =>
      perform(async (context) => (await import('../forgetting/standing.ts')).sessionsHoldCommand(context, session, all(called))),
    );
  json(addTo(sessions, 'release <session>', 'hold it no longer', 'troupe sessions release last')).action(
    (session: string, _options: JsonOption, called: Command) =>
      perform(async (context) =>
        (await import('../forgetting/standing.ts')).sessionsReleaseCommand(context, session, all(called)),
      ),
  );
}

export function describeForget(add: Add, perform: Perform): void {
  json(
    add(
      'forget [what]',
      'destroy what a session, run or event holds; shows it first',
      'troupe forget last\n  troupe forget --matching "a name" --yes',
    ),
  )
    .option('--matching <text>', 'every event that holds this text, there or anywhere')
    .option('--with-forks', 'in what was forked from it too')
    .option('--dry-run', 'only show')
    .option('-y, --yes', 'do not ask')
    .action((what: string | undefined, options: ForgetCommandOptions) =>
      perform(async (context) => (await import('../forgetting/forget.ts')).forgetCommand(context, what, options)),
    );
}
