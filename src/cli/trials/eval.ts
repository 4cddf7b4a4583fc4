/** `troupe eval`: a table of cases, played by agents and models, with a page that shows quality against cost. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import { readableCost, readableDuration } from '../../projections/readable.ts';
import { evalSchema } from '../../trials/eval-file.ts';
import { evalPage, nameOf } from '../../trials/eval-page.ts';
import { createGrounds } from '../../trials/grounds.ts';
import { readDescribed } from '../../trials/read-files.ts';
import type { EvalReport } from '../../trials/report.ts';
import { runEval } from '../../trials/run-eval.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { groundPlace, untilStopped } from './until-stopped.ts';

export interface EvalOptions extends JsonOption {
  readonly budgetUsd?: number | undefined;
  readonly output?: string | undefined;
}

const NANO = 1e9;
const percent = (share: number | null): string => (share === null ? '-' : `${Math.round(share * 100)} %`);

export async function evalCommand(context: CommandContext, file: string, options: EvalOptions): Promise<ExitCode> {
  const { clock, cwd, terminal } = context;
  const path = resolve(cwd, file);
  const table = await readDescribed(path, evalSchema);
  if (!table.ok) throw usageError(`${file} ${table.error}`, 'docs/trials.md shows what such a table looks like.');
  const name = basename(path, extname(path));
  const report = await untilStopped(context, async (signal): Promise<EvalReport> => {
    await using grounds = createGrounds(groundPlace(context), { signal, keepFiles: false });
    const made = await runEval(grounds.open, table.value, {
      ...{ name, nowMs: clock.now(), folder: dirname(path), ...present({ usd: options.budgetUsd }) },
      tried: (cell, trial) =>
        terminal.progress.line(
          `${trial.passed ? '✓' : '✗'} ${safeLine(cell.case)}, ${safeLine(nameOf(cell))}  ${readableDuration(trial.durationMs)}`,
        ),
    });
    const page = options.output === undefined ? await placeFor(await grounds.place(), made) : resolve(cwd, options.output);
    await writeFile(page, evalPage(made));
    return { ...made, page };
  });
  if (options.json === true) printJson(context, 'eval', report);
  else print(context, report);
  return report.notRun > 0 ? exitCodes.budget : exitCodes.completed;
}

async function placeFor({ home }: { readonly home: string }, { name, at }: EvalReport): Promise<string> {
  const folder = join(home, 'evals');
  await mkdir(folder, { recursive: true });
  return join(folder, `${name}-${at.replaceAll(/[:.]/g, '-')}.html`);
}

function print({ terminal: { out } }: CommandContext, { contenders, total, notRun, page }: EvalReport): void {
  const rows = contenders.map((one) => [
    ...[safeLine(nameOf(one)), percent(one.passRate), percent(one.passAll), percent(one.score)],
    ...[readableCost({ nanoUsd: Math.round(one.usd * NANO), unknownCalls: one.unknownCalls }), readableDuration(one.durationMs)],
  ]);
  printTable(out, ['WHO', 'PASS', 'ALL PASS', 'JUDGES', 'COST', 'TIME'], rows, ['WHO']);
  out.line('');
  const cost = readableCost({ nanoUsd: Math.round(total.usd * NANO), unknownCalls: total.unknownCalls });
  out.line(`${counted(total.trials, 'trial')} · ${cost} · ${readableDuration(total.durationMs)}`);
  if (notRun > 0) out.line(`${counted(notRun, 'trial')} not made, no budget was left: raise --budget-usd`);
  out.line(`page  ${page}`);
}
