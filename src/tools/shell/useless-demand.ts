/**
 * Demanded commands that show nothing, whatever they end with: `npm test || true`. Read from the line as the runtime's own shell
 * takes it, so that whoever wrote it hears of it before a run is called verified by it, or can never be.
 */
import { exitMeaning } from '../../permissions/exit-code.ts';
import { INLINE_CODE } from '../../permissions/plain-command.ts';
import { type Command, type CommandList, parseCommandLine } from '../../permissions/shell-syntax.ts';
import { MAY_START_NOTHING } from '../../permissions/starters.ts';
import { commandText } from './proved-commands.ts';
import { looksLikeTestRun } from './test-commands.ts';

/** What the runtime's shell is told before the line. */
export const STRICT = 'set -euo pipefail\n';

const CANNOT_FAIL = new Set(['true', ':', 'echo', 'printf']);

/** Why it shows nothing; absent where it does, or may. */
export function uselessDemand(command: string): string | undefined {
  const meaning = exitMeaning(STRICT + command);
  // What is not understood is the owner's word, unless it is about tests: then the runtime does not count it.
  const parsed = parseCommandLine(command);
  if (!meaning.ok) {
    const isLeft = parsed.ok && parsed.value.at(-1)?.background === true;
    return isLeft || (looksLikeTestRun(command) && !isLoop(command)) ? meaning.error : undefined;
  }
  const { proved, hidden } = meaning.value;
  const lost = hidden.find(({ command: { words, variables }, why }) => {
    const fine = why === INLINE_CODE || why === MAY_START_NOTHING || why.startsWith('`!`');
    return !fine || [...words.keys()].some((from) => looksLikeTestRun(commandText({ words: words.slice(from), variables })));
  });
  if (lost !== undefined) return `it says nothing about \`${commandText(lost.command)}\`: ${lost.why}`;
  return proved.length === 0 && hidden.length === 0 && parsed.ok && cannotFail(parsed.value) ? 'it cannot fail' : undefined;
}

function cannotFail(list: CommandList): boolean {
  const commands = list.flatMap(({ first, rest }) => [first, ...rest.map(({ pipeline }) => pipeline)]);
  return commands.flatMap((pipeline) => pipeline.commands).every(alwaysEndsWell);
}

function alwaysEndsWell(command: Command): boolean {
  if (command.kind !== 'simple') return cannotFail(command.body);
  const [name = '', code] = command.words.map(({ text }) => text);
  return (CANNOT_FAIL.has(name) && !command.writes) || (name === 'exit' && code === '0');
}

/** A loop under `-e` stops at the first failure, though it cannot be read from the line. */
export function isLoop(command: string): boolean {
  return /\b(?:for|while|until)\b/.test(command);
}
