/** Plays every case with every agent and model, and says how good each was and what it cost. */

import { present } from '../base/present.ts';
import type { EvalTable } from './eval-file.ts';
import type { Contender, EvalCell, EvalReport, Trial } from './report.ts';
import { type OpenGround, rateOf, totalOf } from './run-tests.ts';
import { tryOnce } from './trial.ts';

export interface EvalTerms {
  readonly name: string;
  readonly nowMs: number;
  /** Beside the file: where the folders are that cases name. */
  readonly folder: string;
  readonly usd?: number | undefined;
  tried(cell: Pick<EvalCell, 'case' | 'agent' | 'model'>, trial: Trial): void;
}

export async function runEval(open: OpenGround, table: EvalTable, terms: EvalTerms): Promise<EvalReport> {
  const cells: EvalCell[] = [];
  const spent: Trial[] = [];
  let left = terms.usd;
  let notRun = 0;
  // Case by case, so that a budget that ends early leaves contenders that can be compared.
  for (const [index, one] of table.cases.entries())
    for (const model of table.models ?? [undefined])
      for (const agent of table.agents) {
        const of = { case: one.name ?? `case ${index + 1}`, agent, model: model ?? null };
        const trials: Trial[] = [];
        const ground = await open(present({ model }));
        while (trials.length < table.trials && (left === undefined || left > 0)) {
          const { trial, isCutOff } = await tryOnce(ground, { ...one, agent, judges: table.judges }, terms.folder, left);
          left &&= isCutOff ? 0 : Math.max(0, left - trial.usd);
          spent.push(trial);
          // It would count against whoever was asked last.
          if (isCutOff) break;
          trials.push(trial);
          terms.tried(of, trial);
        }
        notRun += table.trials - trials.length;
        if (trials.length > 0) cells.push(cellOf(of, trials, table.trials));
      }
  return {
    name: terms.name,
    at: new Date(terms.nowMs).toISOString(),
    contenders: contendersOf(cells),
    cells,
    notRun,
    total: { ...totalOf(spent), trials: cells.reduce((sum, cell) => sum + cell.trials.length, 0) },
    page: null,
  };
}

function cellOf(of: Pick<EvalCell, 'case' | 'agent' | 'model'>, trials: Trial[], wanted: number): EvalCell {
  const { usd, unknownCalls, durationMs } = totalOf(trials);
  const passRate = rateOf(trials);
  return {
    ...of,
    trials,
    passRate,
    passAll: passRate === 1 && trials.length === wanted ? 1 : 0,
    score: meanOf(trials.flatMap(({ scores }) => scores.flatMap(({ score }) => (score === null ? [] : [score])))),
    usd: usd / trials.length,
    unknownCalls,
    durationMs: Math.round(durationMs / trials.length),
  };
}

/** The best first: who passes more, then whom the judges like more, then who costs less. */
function contendersOf(cells: readonly EvalCell[]): Contender[] {
  const byContender = Map.groupBy(cells, ({ agent, model }) => JSON.stringify([agent, model]));
  return [...byContender.values()]
    .map((own): Contender => {
      const [{ agent, model } = { agent: '', model: null }] = own;
      return {
        ...{ agent, model },
        passRate: meanOf(own.map((cell) => cell.passRate)) ?? 0,
        passAll: meanOf(own.map((cell) => cell.passAll)) ?? 0,
        score: meanOf(own.flatMap(({ score }) => (score === null ? [] : [score]))),
        usd: meanOf(own.map((cell) => cell.usd)) ?? 0,
        unknownCalls: own.reduce((sum, cell) => sum + cell.unknownCalls, 0),
        durationMs: Math.round(meanOf(own.map((cell) => cell.durationMs)) ?? 0),
      };
    })
    .toSorted((one, other) => other.passRate - one.passRate || (other.score ?? 0) - (one.score ?? 0) || one.usd - other.usd);
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
