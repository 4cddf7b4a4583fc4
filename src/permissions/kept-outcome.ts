/** `npm test; rc=$?; tail test.log; exit $rc`: a line that goes on and ends with what a part of it ended with. */
import type { Command, CommandList, ListItem, SimpleCommand } from './shell-syntax.ts';

export interface KeptOutcome {
  /** Which part of the pipeline it is; without it the whole. */
  readonly part?: number | undefined;
}

interface Before {
  /** What was set before. */
  readonly variables: ReadonlyMap<string, unknown>;
  /** The shell has `PIPESTATUS` and names of variables as bash has them, or not at all. */
  readonly keeps: boolean;
}

/** How the outcome of the item at `index` is that of the list, if it is. */
export function keptOutcome(list: CommandList, index: number, { variables, keeps }: Before): KeptOutcome | undefined {
  const [next, end] = [list[index + 1], list.at(-1)];
  if (next === undefined || end === undefined) return undefined;
  if (next === end) return outcomeIn(exitCodeOf(end) ?? '', list[index], keeps);
  const [, name = '', value = ''] = /^([a-z]\w*)=([\s\S]*)$/.exec(assignedBy(next)) ?? [];
  const between = list.slice(index + 2, -1);
  const isKept = keeps && name !== '' && !variables.has(name) && [`$${name}`, `\${${name}}`].includes(exitCodeOf(end) ?? '');
  return isKept && between.every((item) => leaves(item, name)) ? outcomeIn(value, list[index], keeps) : undefined;
}

/** What `exit` says; `$?` where it says nothing. */
function exitCodeOf(item: ListItem): string | undefined {
  const command = onlyCommand(item);
  if (command?.words[0]?.text !== 'exit' || command.words.length > 2) return undefined;
  return command.words[1]?.text ?? '$?';
}

function outcomeIn(code: string, item: ListItem | undefined, keeps: boolean): KeptOutcome | undefined {
  if (code === '$?') return {};
  const part = !keeps ? undefined : /^\$\{PIPESTATUS\[(\d)\]\}$/.exec(code)?.[1];
  if (part === undefined || item === undefined || item.rest.length > 0 || item.first.negated) return undefined;
  return Number(part) < item.first.commands.length ? { part: Number(part) } : undefined;
}

function assignedBy(item: ListItem): string {
  const command = onlyCommand(item);
  const [one, more] = command?.assignments ?? [];
  return one === undefined || more !== undefined || command?.words.length !== 0 ? '' : `${one.name}=${one.value}`;
}

function onlyCommand({ first, rest, background }: ListItem): SimpleCommand | undefined {
  const [command, more] = first.commands;
  const isOnly = more === undefined && rest.length === 0 && !first.negated && !background;
  return isOnly && command?.kind === 'simple' ? command : undefined;
}

/** Nothing in it names the variable, but to show it. */
function leaves({ first, rest }: ListItem, name: string): boolean {
  return [first, ...rest.map(({ pipeline }) => pipeline)].every(({ commands }) => commands.every((one) => leavesIt(one, name)));
}

function leavesIt(command: Command, name: string): boolean {
  if (command.kind !== 'simple') return command.body.every((item) => leaves(item, name));
  const texts = [...command.assignments.flatMap((one) => [one.name, one.value]), ...command.words.map(({ text }) => text)];
  const names = new RegExp(`(?<![\\w$])(?<!\\$\\{)${name}(?!\\w)|\\$\\{${name}[^}]`);
  return !texts.some((text) => names.test(text) || text.includes('(('));
}
