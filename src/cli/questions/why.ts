/**
 * `troupe why`: from a run's result, what it waits for, or any event, back to the prompt that caused it, through every agent on
 * the way.
 */
import { type EventId, eventPosition, type SessionId } from '../../base/ids.ts';
import { readWhyDear, readWhyEnded, readWhyNotCalled } from '../../front/looking/asked-why.ts';
import { readWhy, type Why } from '../../front/looking/why.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import type { CauseLine, Causes } from '../../projections/why.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, hardWrap, textWidth } from '../terminal/text-width.ts';
import { plainLine } from '../view/plain-lines.ts';
import { printDear, printEnding, printNotCalled } from './why-answers.ts';

export interface WhyOptions extends JsonOption {
  /** Bookkeeping too: reservations, setups, requests. */
  readonly all?: boolean | undefined;
  /** Other questions about a run: why so dear, why it stopped, why this was not called. */
  readonly cost?: boolean | undefined;
  readonly end?: boolean | undefined;
  readonly notCalled?: string | undefined;
}

/** How many of the things that one step rests on are listed beside it. */
const BESIDE_MAX = 20;
/** `12:03:04 ` and `: `. */
const TIME_WIDTH = 11;
const TEXT_WIDTH_MIN = 20;
const REST_INDENT = 8;

export async function whyCommand(context: CommandContext, text: string, options: WhyOptions): Promise<ExitCode> {
  const others = [options.cost, options.end, options.notCalled].filter((one) => one !== undefined);
  if (others.length > 1 || (others.length === 1 && options.all === true))
    throw usageError('One question at a time: --cost, --end and --not-called each stand alone', 'ask again for the other');
  return withProject(context, { readOnly: true }, async (project) => {
    if (others.length === 1) return await answerOther(context, await findRun(project.ledger, text), project.ledger, options);
    const { causes, chain } = await chainOf(project, text);
    const { out } = context.terminal;
    if (options.json) printJson(context, 'why', chain);
    else {
      const width = out.isTty ? out.width() : Number.MAX_SAFE_INTEGER;
      for (const line of whyLines(causes, chain, { all: options.all === true, width, paint: out.paint })) out.line(line);
    }
    return exitCodes.completed;
  });
}

async function answerOther(context: CommandContext, row: RunRow, ledger: Ledger, options: WhyOptions): Promise<ExitCode> {
  if (options.cost === true) {
    const dear = await readWhyDear(ledger, row);
    if (options.json) printJson(context, 'why', dear);
    else printDear(context, dear);
  } else if (options.notCalled !== undefined) {
    const absent = await readWhyNotCalled(ledger, row, options.notCalled);
    if (options.json) printJson(context, 'why', absent);
    else printNotCalled(context, absent);
  } else {
    const ended = await readWhyEnded(ledger, row);
    if (options.json) printJson(context, 'why', ended);
    else printEnding(context, ended);
  }
  return exitCodes.completed;
}

export interface WhyLook {
  readonly all: boolean;
  readonly width: number;
  readonly paint: Screen['paint'];
}

/** The walk, a line for each step; what a step rests on besides is indented below it. */
export function whyLines(causes: Causes, chain: readonly CauseLine[], look: WhyLook): readonly string[] {
  const onTheWay = new Set(chain.map((cause) => cause.event));
  return chain.flatMap((cause, index) => {
    const beside = cause.also.filter((event) => !onTheWay.has(event));
    const shown = look.all || index === 0 || cause.level !== 'detail';
    const own = shown ? causeLines(cause, index === 0 ? '' : 'because ', look) : [];
    return [...own, ...besideLines(causes, beside, look)];
  });
}

function besideLines({ events }: Causes, beside: readonly EventId[], look: WhyLook): readonly string[] {
  const known = beside.flatMap((event) => events.get(event) ?? []);
  const lines = known.slice(0, BESIDE_MAX).flatMap((cause) => causeLines(cause, '    and ', look));
  return known.length <= BESIDE_MAX
    ? lines
    : [...lines, look.paint.dim(`    and ${known.length - BESIDE_MAX} more that it rests on`)];
}

/** What somebody is asked, or was: it is there whole. */
const ASKING: readonly CauseLine['type'][] = ['approval.asked', 'task.clarify'];

/** One line also on a screen: what does not fit is in `troupe logs`. */
function causeLines(cause: CauseLine, lead: string, { width, paint }: WhyLook): readonly string[] {
  const place = `[${cause.position}]`;
  const around = textWidth(lead) + TIME_WIDTH + textWidth(safeLine(cause.agent)) + textWidth(place) + 1;
  const room = Math.max(TEXT_WIDTH_MIN, width - around);
  const whole = safeLine(cause.text);
  const [text = '', ...rest] = ASKING.includes(cause.type) ? hardWrap(whole, room) : [cutToWidth(whole, room)];
  const first = `${paint.dim(lead)}${plainLine({ ...cause, text }, paint)} ${paint.dim(place)}`;
  if (rest.length === 0) return [first];
  return [first, ...hardWrap(rest.join(''), width - REST_INDENT).map((line) => `${' '.repeat(REST_INDENT)}${line}`)];
}

async function chainOf({ ledger }: Project, text: string): Promise<Why> {
  const isEvent = eventPosition(text) !== undefined;
  const row = isEvent ? undefined : await findRun(ledger, text);
  const session = row?.session ?? (text.slice(0, text.lastIndexOf('.')) as SessionId);
  const why = await readWhy(ledger, session, row === undefined ? { event: text as EventId } : { run: row.run });
  if (why.chain.length === 0)
    throw usageError(`There is no event ${text} in this ledger`, 'event ids are in: troupe logs --jsonl <run>');
  return why;
}
