/**
 * `troupe completion`: a script for the shell. The commands are in it, as they are; what comes after them it asks from
 * `troupe complete`. Names come from files of others: the scripts compare and quote them, and never expand them.
 */
import type { Command } from 'commander';
import { type CommandContext, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { visibleCommands } from './words-at.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Words = readonly (readonly [word: string, about: string])[];

export function completionCommand(context: CommandContext, program: Command, shell: string): ExitCode {
  const script = completionScript(shell, visibleCommands(program));
  if (script === undefined) throw usageError(`There is no completion for "${shell}"`, `one of: ${SHELLS.join(', ')}`);
  context.terminal.out.write(script);
  return exitCodes.completed;
}

export function completionScript(shell: string, commands: Words): string | undefined {
  if (shell === 'bash') return bashScript(commands);
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
  return shell === 'fish' ? fishScript(commands) : undefined;
}

function bashScript(commands: Words): string {
  return `# troupe completion: source this file, or put it where your shell looks for completions.
_troupe() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line name quoted
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ] && [ "\${current#-}" = "$current" ]; then
    COMPREPLY=($(compgen -W "${commands.map(([command]) => command).join(' ')}" -- "$current"))
    return
  fi
  while IFS= read -r line; do
    name="\${line%%$'\\t'*}"
    [ -n "$name" ] || continue
    quoted="$(printf '%q' "$name")"
    case "$name" in
      "$current"*) COMPREPLY+=("$quoted"); continue ;;
    esac
    case "$quoted" in
      "$current"*) COMPREPLY+=("$quoted") ;;
    esac
  done <<NAMES
$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null)
NAMES
}
complete -o default -F _troupe troupe
`;
}

function fishScript(commands: Words): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = commands.map(
    ([command, about]) => `complete -c troupe -f -n __fish_use_subcommand -a ${command} -d ${quoted(about)}`,
  );
  return `# troupe completion: put this into ~/.config/fish/completions/troupe.fish
# Whether something that is known fits: files are offered where nothing does, as in the other shells.
function __troupe_knows
  __fish_use_subcommand; and return 1
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -g __troupe_fitting
  for one in ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
    test (string sub -l (string length -- "$current") -- "$one") = "$current"; and set -a __troupe_fitting "$one"
  end
  test (count $__troupe_fitting) -gt 0
end
${lines.join('\n')}
complete -c troupe -f -n __troupe_knows -a '(string join \\n -- $__troupe_fitting)'
`;
}
