/** `troupe sessions`: the conversations in the ledger, newest first: whom they are with, how they began, how they stand. */
import { codeOf } from '../../base/errors.ts';
import { type SessionId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { textOf } from '../../events/messages.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { addSpending, noSpending, spendingIn, spendingTypes } from '../../projections/costs.ts';
import { groupOfSession } from '../../projections/groups.ts';
import { firstLine } from '../../projections/readable.ts';
import { standingNext, type stateOf } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import type { PsRow } from './ps-rows.ts';
import { costCell, readableAge } from './ps-table.ts';

export interface SessionsOptions extends JsonOption {
  readonly all?: boolean | undefined;
}

/** The stable shape behind `--json`: fields may be added, never changed. */
interface SessionRow {
  readonly session: SessionId;
  readonly startedAt: number;
  /** When the newest prompt was given. */
  readonly lastAt: number;
  /** Who was asked last. */
  readonly agent: string;
  /** The group whose session it is. */
  readonly group: string | null;
  readonly prompts: number;
  /** The beginning of the first prompt; `null` when its events are gone. */
  readonly prompt: string | null;
  readonly state: ReturnType<typeof stateOf>;
  readonly cost: PsRow['cost'];
}

interface Listed {
  readonly rows: readonly SessionRow[];
  /** How many sessions there are. */
  readonly total: number;
}

const DEFAULT_LIMIT = 20;
const PROMPT_CHARACTERS = 80;

export async function sessionsCommand(context: CommandContext, options: SessionsOptions): Promise<ExitCode> {
  const { rows, total } = await readListed(context, options.all === true ? limits.runLookup : DEFAULT_LIMIT);
  const { out, progress } = context.terminal;
  if (options.json) printJson(context, 'sessions', rows);
  else if (rows.length === 0) progress.line('no sessions yet; begin one: troupe run <agent> "…"');
  else {
    printTable(
      out,
      ['SESSION', 'LAST', 'AGENT', 'PROMPTS', 'STATE', 'COST', 'BEGAN WITH'],
      rows.map(cellsAt(context.clock.now())),
    );
    if (rows.length < total) progress.line(`the newest ${rows.length} of ${total} sessions; all of them: --all`);
  }
  return exitCodes.completed;
}

function cellsAt(now: number): (row: SessionRow) => readonly string[] {
  return ({ session, lastAt, agent, group, prompts, prompt, state, cost }) => [
    shortId(session),
    readableAge(Math.max(0, now - lastAt)),
    safeLine(group === null ? agent : `${agent} (${group})`),
    String(prompts),
    state.replaceAll('_', ' '),
    costCell(cost),
    safeLine(prompt ?? '?'),
  ];
}

/** A project without a ledger has no sessions; that is not an error. */
async function readListed(context: CommandContext, limit: number): Promise<Listed> {
  try {
    return await withProject(context, { readOnly: true }, (project) => readSessions(project, limit));
  } catch (error) {
    if (codeOf(error) === 'ledger_missing') return { rows: [], total: 0 };
    throw error;
  }
}

async function readSessions({ ledger, engine }: Project, limit: number): Promise<Listed> {
  const organisation = await readOrganisation(ledger);
  const sessions = Map.groupBy(await ledger.runs({ roots: true, limit: limits.runLookup }), ({ session }) => session);
  const rows: SessionRow[] = [];
  for (const [session, roots] of sessions) {
    const [newest, oldest] = [roots[0], roots.at(-1)];
    if (newest === undefined || oldest === undefined || rows.length >= limit) break;
    rows.push({
      ...{ session, startedAt: oldest.startedAt, lastAt: newest.startedAt, agent: newest.agent },
      group: groupOfSession(organisation, session)?.name ?? null,
      prompts: roots.length,
      state: (await standingNext(engine, newest)).state,
      ...(await whatIsIn(ledger, session)),
    });
  }
  return { rows, total: sessions.size };
}

/** Nothing, when the events were collected or are damaged: the session is listed all the same. */
async function whatIsIn(ledger: Ledger, session: SessionId): Promise<Pick<SessionRow, 'prompt' | 'cost'>> {
  try {
    const [started] = await ledger.read({ session, types: ['run.started'], limit: 1 });
    let spent = noSpending();
    for await (const event of readEvents(ledger, { session, types: [...spendingTypes] }))
      spent = addSpending(spent, spendingIn(event) ?? noSpending());
    const { nanoUsd, unknownCalls } = spent;
    return {
      prompt: started?.event_type === 'run.started' ? promptOf(started.payload.input) : null,
      cost: { nanoUsd, unknownCalls },
    };
  } catch (error) {
    if (codeOf(error) === 'ledger_collected' || codeOf(error) === 'ledger_corrupt') return { prompt: null, cost: null };
    throw error;
  }
}

const promptOf = ({ content }: { readonly content: Parameters<typeof textOf>[0] }): string =>
  firstLine(textOf(content), PROMPT_CHARACTERS);
