/**
 * `troupe complete`: what the shell asks when Tab is pressed. One line for each word that fits, with a tab and what it is. It
 * only reads, creates nothing, and is silent about everything that is wrong: nobody reads messages while they type.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Engine } from '../../engine/port.ts';
import type { RunRow } from '../../ledger/port.ts';
import type { RememberedRule } from '../../permissions/remembered-rule.ts';
import { firstLine } from '../../projections/readable.ts';
import { type CommandContext, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { type NameKind, type Offered, offeredAt } from './words-at.ts';

const ABOUT_CHARACTERS = 60;

/** `words` are those after the program's name; the last is being written and may be empty. */
export async function completeCommand(context: CommandContext, program: Command, words: readonly string[]): Promise<ExitCode> {
  const current = words.at(-1) ?? '';
  const place = offeredAt(program, words.slice(0, -1), current);
  const cwd = place.folder === undefined ? context.cwd : resolve(context.cwd, place.folder);
  const names = place.names === undefined ? [] : await namesOf[place.names]({ ...context, cwd }, current).catch(() => []);
  for (const [name, about] of [...place.words, ...names]) {
    // A name that cannot be printed as it is, or would be taken for an option, has to be written by hand.
    if (safeLine(name) !== name || (name.startsWith('-') && !current.startsWith('-'))) continue;
    context.terminal.out.line(about === '' ? name : `${name}\t${safeLine(firstLine(about, ABOUT_CHARACTERS))}`);
  }
  return exitCodes.completed;
}

type Names = (context: CommandContext, current: string) => Promise<Offered['words']>;

const namesOf: Readonly<Record<NameKind, Names>> = {
  agents: async (context) => {
    const { agents } = await (await import('../agents/files.ts')).readAgentFiles(context);
    return agents.map(({ definition }) => [definition.name, definition.description ?? '']);
  },
  runs: (context, current) =>
    withProject(context, { readOnly: true }, async ({ ledger, engine }) => {
      const rows = await ledger.runs({ limit: limits.completedRuns });
      const whole = current.startsWith('run_');
      const about = await standingsOf(engine, rows);
      const ids = rows.map((row) => [whole ? row.run : shortId(row.run), about(row)] as const);
      return rows.length === 0 ? [] : [['last', 'the newest run'], ...ids];
    }),
  tasks: (context) =>
    withProject(context, { readOnly: true }, async ({ ledger, engine }) => {
      const rows = await ledger.runs({ roots: true, limit: limits.completedRuns });
      const about = await standingsOf(engine, rows);
      return rows.map((row) => [row.run, about(row)]);
    }),
  groups: (context) =>
    withProject(context, { readOnly: true }, async ({ ledger }) => {
      const { groups } = await (await import('../../groups/organisation.ts')).readOrganisation(ledger);
      return [...groups.values()].map(({ name }) => [name, 'group']);
    }),
  executors: async (context) => {
    const { resolved } = await (await import('../executors/executors.ts')).executorsHere(context);
    return resolved.entries.map(({ name, title }) => [name, title]);
  },
  servers: async (context) => {
    const { foreign } = await (await import('../agents/files.ts')).settingsOf(context);
    return foreign.servers.filter(({ shadowedBy }) => shadowedBy === undefined).map(({ name, place }) => [name, place.file]);
  },
  sessions: (context) =>
    withProject(context, { readOnly: true }, async ({ ledger, engine }) => {
      const roots = await ledger.runs({ roots: true, limit: limits.completedRuns });
      const about = await standingsOf(engine, roots);
      const newest = new Map(roots.toReversed().map((row) => [row.session, about(row)]));
      return [...newest].reverse().map(([session, about]) => [shortId(session), about]);
    }),
  'rule-tools': async (context) => {
    const tools = (await rememberedRules(context)).map(({ tool }) => tool);
    return [...new Set(tools)].map((tool) => [tool, 'remembered']);
  },
  rules: async (context) => {
    const rules = await rememberedRules(context);
    return [...new Map(rules.flatMap(({ tool, pattern }) => (pattern === undefined ? [] : [[pattern, tool]])))];
  },
  presets: async (context) => {
    const { listed } = await (await import('../commands/presets.ts')).presetsOf(context);
    return listed.filter((one) => one.shadowedBy === undefined).map(({ preset }) => [preset.name, preset.description]);
  },
  templates: async () => (await import('../setup/templates.ts')).templates.map(({ name, about }) => [name, about]),
  shells: async () => (await import('./completion.ts')).SHELLS.map((shell) => [shell, '']),
};

/** Who it is and how it stands, in the words of every list: what the tree of a root asks is looked up, once for each. */
async function standingsOf(engine: Pick<Engine, 'waits'>, rows: readonly RunRow[]): Promise<(row: RunRow) => string> {
  const byRun = new Map(rows.map((row) => [row.run, row]));
  const { standingBelow, standingNext } = await import('../../front/standing.ts');
  const roots = new Map<string, string>();
  for (const row of rows) if (row.parent === null) roots.set(row.run, (await standingNext(engine, row)).state);
  const topOf = (row: RunRow): RunRow | undefined => {
    const above = row.parent === null ? undefined : byRun.get(row.parent);
    return above === undefined ? undefined : (topOf(above) ?? above);
  };
  return (row) => {
    const root = topOf(row);
    const state = roots.get(row.run) ?? (root === undefined ? row.state : standingBelow(root, row, false));
    return `${row.agent}, ${state.replaceAll('_', ' ')}`;
  };
}

/** For the project and for sessions. */
async function rememberedRules(context: CommandContext): Promise<readonly RememberedRule[]> {
  const { root } = await (await import('../agents/files.ts')).settingsOf(context);
  const { createRuleBook } = await import('../../project/rule-book.ts');
  const { sessionRulesOf } = await import('../drive/session-rules.ts');
  return [...createRuleBook(root, context.terminal.env).rules(), ...(await sessionRulesOf(context)).rules];
}
