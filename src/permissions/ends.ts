/** How parts of a command line end, as far as the line itself says it. */
import type { Pipeline } from './shell-syntax.ts';

/** Ends with something else than 0, for sure: `exit 1`, `false`, or a group that ends so. */
export function mustFail({ negated, commands }: Pipeline): boolean {
  const command = commands.at(-1);
  if (negated || command === undefined || commands.length > 1) return false;
  if (command.kind !== 'simple') {
    const last = command.body.at(-1);
    return last !== undefined && last.rest.length === 0 && !last.background && mustFail(last.first) && endsShell(last.first);
  }
  const [name, code, more] = command.words.map(({ text }) => text);
  if (name === 'false') return true;
  if (name !== 'exit' || more !== undefined) return false;
  return code === undefined || code === '$?' || /^(?:[1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/.test(code);
}

export function endsShell({ commands: [command] }: Pipeline): boolean {
  if (command?.kind === 'group') return endsShell(command.body.at(-1)?.first ?? { negated: false, commands: [] });
  return command?.kind === 'simple' && command.words[0]?.text === 'exit';
}

export function wordsAlone({ commands: [command, more] }: Pipeline): readonly string[] | undefined {
  if (command?.kind !== 'simple' || more !== undefined) return undefined;
  return command.words.map(({ text }) => text);
}
