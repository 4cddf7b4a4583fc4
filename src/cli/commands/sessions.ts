/** `troupe sessions`: the conversations in the ledger, newest first: whom they are with, how they began, how they stand. */

import { codeOf } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { programNames } from '../../events/going-on.ts';
import { countSessions, readSessions, type SessionRow } from '../../front/session-rows.ts';
import { readableAge } from '../../projections/readable.ts';
import { type CommandContext, callOf, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { costCell } from './ps-table.ts';

export interface SessionsOptions extends JsonOption {
  readonly all?: boolean | undefined;
}

const DEFAULT_LIMIT = 20;

export async function sessionsCommand(context: CommandContext, options: SessionsOptions): Promise<ExitCode> {
  const { rows, total } = await readListed(context, options.all === true ? limits.runLookup : DEFAULT_LIMIT);
  const { out, progress } = context.terminal;
  if (options.json) printJson(context, 'sessions', rows);
  else if (rows.length === 0) progress.line(`no sessions yet; begin one: ${callOf(context)} run <agent> "…"`);
  else {
    printTable(
      out,
      ['SESSION', 'LAST', 'AGENT', 'PROMPTS', 'STATE', 'COST', 'BEGAN WITH'],
      rows.map(cellsAt(context.clock.now())),
    );
    if (rows.length < total) progress.prose(`the newest ${rows.length} of ${total} sessions; all of them: --all`);
  }
  return exitCodes.completed;
}

function cellsAt(now: number): (row: SessionRow) => readonly string[] {
  return (row) => {
    const { session, lastAt, agent, group, prompts, prompt, state, cost } = row;
    return [
      shortId(session),
      readableAge(Math.max(0, now - lastAt)),
      safeLine(group === null ? agent : `${agent} (${group})`),
      String(prompts),
      state.replaceAll('_', ' '),
      costCell(cost),
      safeLine([...marksOf(row), prompt ?? '?'].join(' ')),
    ];
  };
}

const marksOf = ({ pinned, held, forgotten, forked, imported, bundle }: SessionRow): readonly string[] => [
  ...(held ? ['(held)'] : []),
  ...(pinned ? ['(pinned)'] : []),
  ...(forgotten === null ? [] : [forgotten === 'whole' ? '(forgotten)' : '(forgotten in part)']),
  ...(bundle === undefined ? [] : [`(imported from ${bundle.file})`]),
  ...(forked === undefined ? [] : [`(fork of ${shortId(forked.session)})`]),
  ...(imported === undefined ? [] : [`(from ${programNames[imported.program]})`]),
];

interface Listed {
  readonly rows: readonly SessionRow[];
  /** How many sessions there are. */
  readonly total: number;
}

/** A project without a ledger has no sessions; that is not an error. */
async function readListed(context: CommandContext, limit: number): Promise<Listed> {
  try {
    return await withProject(context, { readOnly: true }, async (project) => {
      const rows = await readSessions(project, { limit });
      return { rows, total: rows.length < limit ? rows.length : await countSessions(project.ledger) };
    });
  } catch (error) {
    if (codeOf(error) === 'ledger_missing') return { rows: [], total: 0 };
    throw error;
  }
}
