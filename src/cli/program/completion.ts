/** `troupe completion`: a script for the shell, made from the commands as they are, so that it never lags behind. */
import type { Command } from 'commander';
import { type CommandContext, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';

/** Words after a command: its own commands, or its options. */
export interface CompletionWords {
  readonly command: string;
  readonly about: string;
  readonly words: readonly string[];
}

export function completionCommand(context: CommandContext, program: Command, shell: string): ExitCode {
  const script = completionScript(shell, completionWords(program));
  if (script === undefined) throw usageError(`There is no completion for "${shell}"`, 'one of: bash, zsh, fish');
  context.terminal.out.write(script);
  return exitCodes.completed;
}

export function completionWords(program: Command): readonly CompletionWords[] {
  return program.commands.map((command) => ({
    command: command.name(),
    about: command.summary() || command.description(),
    words: [
      ...command.commands.map((below) => below.name()),
      ...command.options.flatMap((option) => (option.long ? [option.long] : [])),
    ],
  }));
}

export function completionScript(shell: string, commands: readonly CompletionWords[]): string | undefined {
  if (shell === 'bash') return bashScript(commands);
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
  return shell === 'fish' ? fishScript(commands) : undefined;
}

function bashScript(commands: readonly CompletionWords[]): string {
  const cases = commands.map(({ command, words }) => `    ${command}) words="${words.join(' ')}" ;;`);
  return `# troupe completion: source this file, or put it where your shell looks for completions.
_troupe() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="${commands.map(({ command }) => command).join(' ')}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases.map((line) => `  ${line}`).join('\n')}
      *) words="" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _troupe troupe
`;
}

function fishScript(commands: readonly CompletionWords[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ command, about, words }) => [
    `complete -c troupe -n __fish_use_subcommand -a ${command} -d ${quoted(about)}`,
    ...words.map((word) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c troupe -n '__fish_seen_subcommand_from ${command}' ${what}`;
    }),
  ]);
  return `# troupe completion: put this into ~/.config/fish/completions/troupe.fish\n${lines.join('\n')}\n`;
}
