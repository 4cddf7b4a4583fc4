/** `troupe why`: from a run's result, or any event, back to the prompt that caused it. */
import { type EventId, eventPosition, type SessionId } from '../base/ids.ts';
import type { Project } from '../project/project.ts';
import { foldCauses, initialCauses, resultOf, whyOf } from '../projections/why.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from './command.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { findRun } from './find-run.ts';
import { plainLine } from './plain-lines.ts';
import { foldSession } from './session-events.ts';

export interface WhyOptions extends JsonOption {
  /** Bookkeeping too: reservations, setups, requests. */
  readonly all?: boolean | undefined;
}

export async function whyCommand(context: CommandContext, text: string, options: WhyOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const chain = await chainOf(project, text);
    const { out } = context.terminal;
    if (options.json) printJson(context, chain);
    else {
      const shown = chain.filter((cause, index) => options.all === true || index === 0 || cause.level !== 'detail');
      for (const [index, cause] of shown.entries()) {
        const lead = index === 0 ? '' : `${out.paint.dim('because')} `;
        out.line(`${lead}${plainLine(cause, out.paint)} ${out.paint.dim(`[${cause.position}]`)}`);
      }
    }
    return exitCodes.completed;
  });
}

async function chainOf({ ledger }: Project, text: string): Promise<ReturnType<typeof whyOf>> {
  const isEvent = eventPosition(text) !== undefined;
  const row = isEvent ? undefined : await findRun(ledger, text);
  const session = row?.session ?? (text.slice(0, text.lastIndexOf('.')) as SessionId);
  const causes = await foldSession(ledger, session, initialCauses(), foldCauses);
  const start = row === undefined ? (text as EventId) : resultOf(causes, row.run);
  const chain = start === undefined ? [] : whyOf(causes, start);
  if (chain.length === 0)
    throw usageError(`There is no event ${text} in this ledger`, 'event ids are in: troupe logs --jsonl <run>');
  return chain;
}
