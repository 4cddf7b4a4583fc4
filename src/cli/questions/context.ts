/** `troupe context`: what one request to a model contained, by where it came from and how large it is. */
import { counted } from '../../base/wording.ts';
import { readContext } from '../../front/search/request-context.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { firstLine, readableCount } from '../../projections/readable.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export interface ContextOptions extends JsonOption {
  readonly turn?: number | undefined;
  /** Every part, in the order of the request. */
  readonly parts?: boolean | undefined;
  /** `false`: a fork without a part is only made. */
  readonly run: boolean;
}

/** So many characters of a part are shown: how it begins. */
const SHOWN_CHARACTERS = 60;
const HUNDRED = 100;

export async function contextCommand(context: CommandContext, text: string, options: ContextOptions): Promise<ExitCode> {
  if (!options.run) throw usageError('--no-run is for a fork', 'add --without <origin>');
  return withProject(context, { readOnly: true }, async ({ ledger }) => {
    const found = await contextOf(ledger, await findRun(ledger, text), options.turn);
    if (options.json) printJson(context, 'context', found);
    else printContext(context, found, options.parts === true);
    return exitCodes.completed;
  });
}

/** Of a turn that there was. */
export async function contextOf(ledger: Ledger, row: RunRow, turn: number | undefined): Promise<Found> {
  const found = await readContext(ledger, row, turn);
  if (found !== undefined) return found;
  const asked = turn === undefined ? 'no request to a model' : `no request of turn ${turn}`;
  throw usageError(`There is ${asked} in ${row.run} (${row.agent})`, `its turns are in: troupe logs ${row.run} --level detail`);
}

type Found = NonNullable<Awaited<ReturnType<typeof readContext>>>;

function printContext({ terminal: { out, progress } }: CommandContext, found: Found, withParts: boolean): void {
  const counts = found.inputTokens === null ? 'nobody counted its tokens' : `${found.inputTokens} tokens as the provider counted`;
  out.line(`turn ${found.turn} of ${found.run}, ${safeLine(found.model)}: ${counts}`);
  const share = (tokens: number): string => `${Math.round((tokens / Math.max(1, found.total.tokens)) * HUNDRED)} %`;
  const cells = ({ parts, characters, tokens }: Found['total']): readonly string[] => [
    ...[String(parts), readableCount(characters), readableCount(tokens), share(tokens)],
  ];
  const rows = found.byOrigin.map((one) => [safeLine(one.origin), ...cells(one)]);
  printTable(out, ['ORIGIN', 'PARTS', 'CHARACTERS', 'TOKENS', 'SHARE'], [...rows, ['total', ...cells(found.total)]], ['ORIGIN']);
  if (!withParts) return;
  out.line();
  if (found.leftOut > 0) progress.prose(`${counted(found.leftOut, 'part')} before these are not listed (contextParts)`);
  const parts = found.parts.map(({ origin, tokens, from, text }) => [
    ...[safeLine(origin), readableCount(tokens), safeLine(from ?? '-'), safeLine(firstLine(text, SHOWN_CHARACTERS))],
  ]);
  printTable(out, ['ORIGIN', 'TOKENS', 'FROM', 'BEGINS'], parts, ['ORIGIN']);
}
