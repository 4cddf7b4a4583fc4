/**
 * What it costs that spans are sent: `node bench/telemetry.ts [--rounds 7]`. Runs of ten turns, one after the other, with a
 * model that thinks for no time, with and without a collector, which is another process and takes every batch. In turns, each in
 * a fresh process; ratios within a round.
 */
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import { type Pace, paces } from './measurement.ts';
import { runWorker, startServer, withFolder } from './processes.ts';
import { number, table } from './table.ts';

const pace: Pace = { ...paces.quick, warmMs: 1_000, measureMs: 4_000 };
const NAMES = ['troupe', 'troupe-telemetry'] as const;
type Name = (typeof NAMES)[number];

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } });
build();
const server = await startServer();
const rounds: Record<Name, number>[] = [];
try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const taken: Partial<Record<Name, number>> = {};
    for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
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

const spread = (figures: readonly number[], digits: number): string => {
  const sorted = figures.toSorted((left, right) => left - right);
  const at = (index: number): string => number(sorted[index] ?? Number.NaN, digits);
  return `${at(Math.floor(sorted.length / 2))} (${at(0)}–${at(sorted.length - 1)})`;
};
console.log(
  table(
    ['CPU for a turn', 'ms', 'times without'],
    [
      [
        'without',
        spread(
          rounds.map(({ troupe }) => troupe),
          2,
        ),
        '1',
      ],
      [
        'with spans',
        spread(
          rounds.map((round) => round['troupe-telemetry']),
          2,
        ),
        spread(
          rounds.map((round) => round['troupe-telemetry'] / round.troupe),
          3,
        ),
      ],
    ],
  ),
);
