/** `troupe why`: from a run's result, or any event, back to the prompt that caused it, through every agent on the way. */
import { type EventId, eventPosition, type SessionId } from '../base/ids.ts';
import type { Project } from '../project/project.ts';
import { type Cause, type Causes, foldCauses, initialCauses, resultOf, whyOf } from '../projections/why.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from './command.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findRun } from './find-run.ts';
import { plainLine } from './plain-lines.ts';
import { foldSession } from './session-events.ts';
import type { Screen } from './terminal.ts';

export interface WhyOptions extends JsonOption {
  /** Bookkeeping too: reservations, setups, requests. */
  readonly all?: boolean | undefined;
}

/** How many of the things that one step rests on are listed beside it. */
const BESIDE_MAX = 20;

export async function whyCommand(context: CommandContext, text: string, options: WhyOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const { causes, chain } = await chainOf(project, text);
    const { out } = context.terminal;
    if (options.json) printJson(context, chain);
    else for (const line of whyLines(causes, chain, options.all === true, out.paint)) out.line(line);
    return exitCodes.completed;
  });
}

/** The walk, a line for each step; what a step rests on besides is indented below it. */
export function whyLines(causes: Causes, chain: readonly Cause[], all: boolean, paint: Screen['paint']): readonly string[] {
  const onTheWay = new Set(chain.map((cause) => cause.event));
  const told = new Set<EventId>();
  return chain.flatMap((cause, index) => {
    const beside = cause.also.filter((event) => !onTheWay.has(event) && !told.has(event));
    for (const event of beside) told.add(event);
    const shown = all || index === 0 || cause.level !== 'detail';
    const lead = index === 0 ? '' : `${paint.dim('because')} `;
    return [...(shown ? [`${lead}${causeLine(cause, paint)}`] : []), ...besideLines(causes, beside, paint)];
  });
}

function besideLines({ events }: Causes, beside: readonly EventId[], paint: Screen['paint']): readonly string[] {
  const known = beside.flatMap((event) => events.get(event) ?? []);
  const lines = known.slice(0, BESIDE_MAX).map((cause) => `    ${paint.dim('and')} ${causeLine(cause, paint)}`);
  return known.length <= BESIDE_MAX ? lines : [...lines, paint.dim(`    and ${known.length - BESIDE_MAX} more`)];
}

const causeLine = (cause: Cause, paint: Screen['paint']): string =>
  `${plainLine(cause, paint)} ${paint.dim(`[${cause.position}]`)}`;

async function chainOf({ ledger }: Project, text: string): Promise<{ readonly causes: Causes; readonly chain: readonly Cause[] }> {
  const isEvent = eventPosition(text) !== undefined;
  const row = isEvent ? undefined : await findRun(ledger, text);
  const session = row?.session ?? (text.slice(0, text.lastIndexOf('.')) as SessionId);
  const causes = await foldSession(ledger, session, initialCauses(), foldCauses);
  const start = row === undefined ? (text as EventId) : resultOf(causes, row.run);
  const chain = start === undefined ? [] : whyOf(causes, start);
  if (chain.length === 0)
    throw usageError(`There is no event ${text} in this ledger`, 'event ids are in: troupe logs --jsonl <run>');
  return { causes, chain };
}
