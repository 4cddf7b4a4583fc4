/**
 * What it costs to be watched: `node bench/streaming.ts [--rounds 5]`. Runs of ten turns, one after the other, with a model that
 * streams, against the least that reads the same stream by hand, and both without streams. In turns, each in a fresh process;
 * ratios within a round.
 */
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import { type Pace, paces } from './measurement.ts';
import { runWorker, startServer, withFolder } from './processes.ts';
import { number, table } from './table.ts';

const pace: Pace = { ...paces.quick, warmMs: 1_000, measureMs: 2_000 };
const NAMES = ['floor', 'floor-streaming', 'troupe', 'troupe-watched'] as const;
type Name = (typeof NAMES)[number];

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
build();
const server = await startServer();
const rounds: Record<Name, number>[] = [];
try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const taken: Partial<Record<Name, number>> = {};
    for (const name of [...NAMES.slice(round % NAMES.length), ...NAMES.slice(0, round % NAMES.length)]) {
      const report = await withFolder((folder) =>
        runWorker(server.origin, pace, { system: name, workload: 'w1', folder, timeoutMs: pace.jobMs }),
      );
      if (report.errors.length > 0) throw new Error(report.errors.join('\n'));
      taken[name] = report.figures.cpuMsPerTurn ?? Number.NaN;
    }
    rounds.push(taken as Record<Name, number>);
  }
} finally {
  server.stop();
}

const spread = (figures: readonly number[]): string => {
  const sorted = figures.toSorted((left, right) => left - right);
  const at = (index: number): string => number(sorted[index] ?? Number.NaN, 2);
  return `${at(Math.floor(sorted.length / 2))} (${at(0)}–${at(sorted.length - 1)})`;
};
const ratio = (of: Name, to: Name): string => spread(rounds.map((round) => round[of] / round[to]));
console.log(
  table(
    ['CPU for a turn', 'ms', 'times the same loop by hand'],
    [
      ['by hand, whole answers', spread(rounds.map(({ floor }) => floor)), '1'],
      ['troupe, whole answers', spread(rounds.map(({ troupe }) => troupe)), ratio('troupe', 'floor')],
      ['by hand, streamed', spread(rounds.map((round) => round['floor-streaming'])), '1'],
      ['troupe, watched', spread(rounds.map((round) => round['troupe-watched'])), ratio('troupe-watched', 'floor-streaming')],
    ],
  ),
);
