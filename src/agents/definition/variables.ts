/**
 * `${NAME}` in prompts. Values are filled in when a run starts, so that a prompt can say what day it is; loading only checks
 * the names. Text that is filled in is not looked at again, so a value can never bring in another variable.
 * `$${NAME}` stands for the text `${NAME}`.
 */

import { suggest } from '../../base/did-you-mean.ts';
import { limits } from '../../base/limits.ts';
import type { AgentDefinition } from './definition.ts';

export const BUILT_IN_VARIABLES: readonly string[] = [
  'DATETIME',
  'DATE',
  'TIMEZONE',
  'DAY',
  'FORMAT',
  'MAX_TURNS',
  'MAX_TOOLS',
  'AGENT',
  'WORKSPACE',
];

/** `$${` is an escaped opening; anything else is `${…}` on one line. */
const TOKEN = /\$\$\{|\$\{([^{}\r\n]*)\}/g;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A `${…}` in a text, and where it stands. */
export interface Placeholder {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

export function placeholdersIn(text: string): readonly Placeholder[] {
  return Array.from(text.matchAll(TOKEN)).flatMap((match) => {
    const content = match[1];
    return content === undefined ? [] : [{ content, start: match.index, end: match.index + match[0].length }];
  });
}

/** Fills in what has a value and leaves everything else as it is. */
export function expandPrompt(prompt: string, values: Readonly<Record<string, string>>): string {
  return prompt.replace(TOKEN, (token, content: string | undefined) => {
    if (content === undefined) return '${';
    return (Object.hasOwn(values, content) ? values[content] : undefined) ?? token;
  });
}

/** Text that `expandPrompt` gives back unchanged: for prompts that were not written for Troupe. */
export function literalPrompt(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** The text that `literalPrompt` was given. */
export function writtenPrompt(prompt: string): string {
  return prompt.replaceAll('$${', () => '${');
}

export interface UnknownVariable {
  readonly name: string;
  readonly offset: number;
  readonly fix: string | undefined;
}

/** Names that nothing will fill in. `${a.b()}` and the like are other languages' text and are left alone. */
export function checkVariables(prompt: string, extra: readonly string[] = []): readonly UnknownVariable[] {
  const known = [...BUILT_IN_VARIABLES, ...extra];
  return placeholdersIn(prompt)
    .filter(({ content }) => VARIABLE.test(content) && !known.includes(content))
    .map(({ content, start }) => ({ name: content, offset: start, fix: suggest(content, known, 'variables') }));
}

export interface PromptCircumstances {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** As in `Europe/Athens`. */
  readonly timeZone: string;
  readonly workspace: string;
  /** The user's own variables; they cannot take the place of built-in ones. */
  readonly vars?: Readonly<Record<string, string>>;
}

/** The value of every variable for one run of one agent. */
export function promptValues(agent: AgentDefinition, circumstances: PromptCircumstances): Readonly<Record<string, string>> {
  const { now, timeZone, workspace, vars } = circumstances;
  const local = localTime(now, timeZone);
  return {
    ...vars,
    DATETIME: `${local.date}T${local.time}${local.offset}`,
    DATE: local.date,
    TIMEZONE: timeZone,
    DAY: local.day,
    FORMAT: agent.output?.format ?? (agent.output?.schema === undefined ? 'markdown' : 'json'),
    MAX_TURNS: String(agent.maxTurns ?? limits.maxTurns),
    MAX_TOOLS: String(agent.maxToolCallsPerTurn ?? limits.maxToolCallsPerTurn),
    AGENT: agent.name,
    WORKSPACE: workspace,
  };
}

function localTime(now: number, timeZone: string): { date: string; time: string; day: string; offset: string } {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    weekday: 'long',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  return {
    date: `${part('year')}-${part('month')}-${part('day')}`,
    time: `${part('hour')}:${part('minute')}:${part('second')}`,
    day: part('weekday'),
    offset: part('timeZoneName').replace('GMT', '') || '+00:00',
  };
}
