/** Questions that begin with why and are not about a chain of causes: so dear, stopped, not called. */
import { limits } from '../../base/limits.ts';
import { foldSession } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { costDrivers, foldCostDrivers, initialCostDrivers, weightOf } from '../../projections/answers/cost-drivers.ts';
import { endingOf, foldEnding, initialEnding } from '../../projections/answers/ending.ts';
import { absences, foldAbsence, initialAbsence } from '../../projections/answers/not-called.ts';
import { belongsTo, nextCommand, nextHere } from '../standing.ts';

type Reads = Pick<Ledger, 'read'>;

/** The run and everything below it. */
async function foldTree<State>(
  ledger: Reads,
  row: RunRow,
  initial: State,
  fold: Parameters<typeof foldSession<State>>[3],
): Promise<State> {
  const counts = belongsTo(row.run);
  return await foldSession(ledger, row.session, initial, (state, event) => (counts(event) ? fold(state, event) : state));
}

export async function readWhyDear(ledger: Reads, row: RunRow) {
  const { total, agents, turns, retries, growth } = costDrivers(
    await foldTree(ledger, row, initialCostDrivers(), foldCostDrivers),
  );
  const weight = weightOf(total);
  const share = (of: Parameters<typeof weight>[0]): number => rounded(weight(of) / Math.max(1, weight(total)));
  return {
    ...{
      kind: 'cost' as const,
      run: row.run,
      session: row.session,
      total,
      measured: total.nanoUsd > 0 ? ('usd' as const) : ('tokens' as const),
    },
    agents: agents.map((one) => ({ agent: one.agent, runs: one.runs, ...one.spent, share: share(one.spent) })),
    turns: turns.slice(0, limits.dearTurns).map((one) => ({ ...one, share: share(one) })),
    retries: { failedAttempts: retries.failedAttempts, answersAfterFailure: retries.answersAfterFailure, ...retries.spent },
    growth: growth
      .slice(0, limits.dearTurns)
      .map((one) => ({ ...one, sentAgainShare: rounded(one.sentAgainTokens / Math.max(1, one.inputTokens)) })),
  };
}

const rounded = (share: number): number => Math.round(share * 1_000) / 1_000;

export async function readWhyEnded(ledger: Reads, row: RunRow) {
  const ending = endingOf(await foldTree(ledger, row, initialEnding(row.run), foldEnding));
  const { run, session, agent, state } = row;
  return {
    kind: 'end' as const,
    run,
    session,
    agent,
    state,
    ...ending,
    next: (await nextHere(ledger, row, nextCommand(row))) ?? null,
  };
}

export async function readWhyNotCalled(ledger: Reads, row: RunRow, name: string) {
  const runs = absences(await foldTree(ledger, row, initialAbsence(name), foldAbsence));
  const { run, session } = row;
  return { kind: 'not_called' as const, name, run, session, called: runs.some(({ reason }) => reason === 'called'), runs };
}
