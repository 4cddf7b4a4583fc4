/** `troupe replay`: plays a run again over what is recorded of it, and says whether it came to the same. */
import { TroupeError } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import { playAgain } from '../../front/looking/replayed.ts';
import type { ReplayDifference } from '../../replay/comparison.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

export async function replayCommand(context: CommandContext, text: string, options: JsonOption): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger }) => {
    const row = await findRun(ledger, text);
    const played = await playAgain(ledger, row);
    if (!played.ok) throw new TroupeError(played.error.code, played.error.message, { fix: played.error.fix });
    const outcome = played.value;
    const { out } = context.terminal;
    if (options.json) printJson(context, 'replay', outcome);
    else if (outcome.kind === 'different') for (const line of differenceLines(outcome.first)) out.line(line);
    else out.line(`Run ${shortId(outcome.run)} came to the same: ${amount(outcome.runs, outcome.events)}.`);
    return outcome.kind === 'identical' ? exitCodes.completed : exitCodes.failed;
  });
}

const amount = (runs: number, events: number): string => `${counted(runs, 'run')}, ${counted(events, 'event')} compared`;

const KINDS = { changed: 'is another now', missing: 'did not come about again', new: 'is not recorded' } as const;

function differenceLines({ kind, run, agent, type, step, position, path, recorded, now }: ReplayDifference): readonly string[] {
  const where = `${type}${step === '' ? '' : ` (${step})`} of ${agent}, run ${shortId(run)}`;
  const place = kind === 'new' ? `behind event ${position}` : `event ${position}`;
  const side = (name: string, value: Json | undefined): readonly string[] =>
    value === undefined
      ? [`  ${name}: nothing`]
      : [`  ${name}: ${safeLine(JSON.stringify(value)).slice(0, limits.differenceCharacters)}`];
  return [
    safeLine(`The first difference: ${where}, ${place}: ${path === '' ? 'it' : path} ${KINDS[kind]}.`),
    ...side('recorded', recorded),
    ...side('now     ', now),
  ];
}
