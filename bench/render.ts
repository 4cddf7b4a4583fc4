/**
 * Results to markdown. A ratio is to the floor of the same repetition, workload and size; a cell is the median over the
 * repetitions, with the least and the greatest in brackets.
 */
import { aims } from './aims.ts';
import { type FigureName, growthTurns, type Results, type Row, type WorkloadName } from './measurement.ts';
import { BASELINE } from './systems/list.ts';
import { bytes, median, number, spread, table } from './table.ts';

const PRODUCT = 'troupe';

export function render(results: Results): string {
  const sections = [
    heading(results),
    summary(results),
    oneAgent(results),
    throughput(results),
    growth(results, 'client CPU ms per turn', 'cpuMsPerTurn'),
    growth(results, 'ms per turn', 'msPerTurn'),
    disk(results),
    fanOut(results),
    coldStart(results),
    crowd(results),
    crash(results),
    notMeasured(results),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

interface Cell {
  readonly values: readonly number[];
  /** To the floor, repetition by repetition. */
  readonly ratios: readonly number[];
}

function cellOf(results: Results, system: string, workload: WorkloadName, figure: FigureName, turns?: number): Cell {
  const rows = results.rows.filter((row) => row.workload === workload && row.turns === turns);
  const own = rows.filter((row) => row.system === system);
  const floorOf = (row: Row) => rows.find((one) => one.system === BASELINE && one.repetition === row.repetition);
  return {
    values: own.map((row) => figureOf(row, figure)),
    ratios: own.map((row) => figureOf(row, figure) / figureOf(floorOf(row), figure)),
  };
}

function figureOf(row: Row | undefined, figure: FigureName): number {
  return row?.outcome.kind === 'measured' ? (row.outcome.figures[figure] ?? Number.NaN) : Number.NaN;
}

/** A table with one row per system that was measured; empty when the workload was not run. */
function perSystem(
  results: Results,
  title: string,
  workload: WorkloadName,
  head: readonly string[],
  cells: (cell: (figure: FigureName, turns?: number) => Cell) => readonly string[],
): string {
  const measured = results.systems.filter(({ name }) =>
    results.rows.some((row) => row.workload === workload && row.system === name && row.outcome.kind === 'measured'),
  );
  if (measured.length === 0) return '';
  const rows = measured.map(({ name }) => [name, ...cells((figure, turns) => cellOf(results, name, workload, figure, turns))]);
  return `### ${title}\n\n${table(['system', ...head], rows)}`;
}

function heading({ machine, rows, ...results }: Results): string {
  const loads = rows.flatMap(({ outcome }) =>
    outcome.kind === 'measured' && outcome.foreignPercent !== undefined ? [outcome.foreignPercent] : [],
  );
  const disturbed = loads.filter((load) => load > results.quietPercent).length;
  const mode = results.mode === 'quick' ? 'A quick look, not for claims. ' : '';
  return (
    `${mode}${machine.cores} cores of ${machine.cpu}, ${machine.memoryGib} GiB, ${machine.platform}, Node ${machine.node}, ` +
    `SQLite ${machine.sqlite}; repetitions: ${results.repetitions}; ${results.startedAt.slice(0, 10)}, ${results.seconds} s. ` +
    `Other processes used ${spread(loads, 0)} % of the CPUs; ${disturbed} of ${loads.length} measurements had more than ` +
    `${results.quietPercent} %.`
  );
}

function summary(results: Results): string {
  const others = results.systems.filter(({ name }) => name !== BASELINE && name !== PRODUCT);
  const rows = aims.map((aim) => {
    const ratio = (system: string) => median(cellOf(results, system, aim.workload, aim.figure, aim.turns).ratios);
    const own = ratio(PRODUCT);
    const verdict = Number.isFinite(own) ? (own <= aim.atMost ? 'yes' : '**no**') : reasonFor(results, aim.workload);
    return [aim.what, '1', ...others.map(({ name }) => number(ratio(name), 2)), number(own, 2), `${aim.atMost}`, verdict];
  });
  const head = ['ratio to the floor', BASELINE, ...others.map(({ name }) => name), PRODUCT, 'aim, at most', 'reached'];
  return `### Aims\n\n${table(head, rows)}`;
}

function reasonFor(results: Results, workload: WorkloadName): string {
  const row = results.rows.find((one) => one.workload === workload && one.system === PRODUCT);
  if (row === undefined) return 'not run';
  return row.outcome.kind === 'missing' ? row.outcome.why : 'failed';
}

function oneAgent(results: Results): string {
  const head = ['client CPU ms/turn', 'CPU × floor', 'ms/turn', '× floor', 'p95 ms/turn'];
  return perSystem(results, 'W1: one agent, 10 turns, one run after the other', 'w1', head, (cell) => [
    spread(cell('cpuMsPerTurn').values, 2),
    spread(cell('cpuMsPerTurn').ratios, 2),
    spread(cell('msPerTurn').values, 2),
    spread(cell('msPerTurn').ratios, 2),
    number(median(cell('p95MsPerTurn').values), 2),
  ]);
}

function throughput(results: Results): string {
  const head = ['client CPU ms/turn', 'CPU × floor', 'runs/s', 'peak RSS MB', 'RSS × floor', 'disk per run', 'server busy'];
  return perSystem(results, 'W2: 200 runs of 10 turns, 50 at a time', 'w2', head, (cell) => [
    spread(cell('cpuMsPerTurn').values, 2),
    spread(cell('cpuMsPerTurn').ratios, 2),
    spread(cell('runsPerSecond').values, 1),
    spread(cell('peakRssMb').values, 0),
    number(median(cell('peakRssMb').ratios), 2),
    bytes(median(cell('diskBytes').values)),
    `${number(100 * median(cell('serverCpuShare').values), 0)} %`,
  ]);
}

function growth(results: Results, what: string, figure: FigureName): string {
  const head = growthTurns.flatMap((turns) => [`${turns} turns`, '× floor']);
  return perSystem(results, `W3: one run of n turns, ${what}`, 'w3', head, (cell) =>
    growthTurns.flatMap((turns) => [spread(cell(figure, turns).values, 2), number(median(cell(figure, turns).ratios), 2)]),
  );
}

/** An exponent of 1 is linear growth, 2 is quadratic. */
function disk(results: Results): string {
  const [before, last] = [200, 500];
  const head = [...growthTurns.map((turns) => `${turns} turns`), `× floor at ${last}`, `growth ${before}→${last}`, 'written'];
  return perSystem(results, 'W3: bytes on disk after one run of n turns', 'w3', head, (cell) => {
    const size = (turns: number) => median(cell('diskBytes', turns).values);
    return [
      ...growthTurns.map((turns) => bytes(size(turns))),
      number(median(cell('diskBytes', last).ratios), 2),
      number(Math.log(size(last) / size(before)) / Math.log(last / before), 2),
      bytes(median(cell('writtenBytes', last).values)),
    ];
  });
}

function fanOut(results: Results): string {
  const head = [
    'ms',
    '× floor',
    'p95 ms',
    'client CPU ms',
    'CPU × floor',
    'ms at 100 ms per answer (ideal 500)',
    'peak in flight',
  ];
  return perSystem(results, 'W4: supervisor and 8 parallel sub-agents of 3 turns', 'w4', head, (cell) => [
    spread(cell('wallMs').values, 1),
    spread(cell('wallMs').ratios, 2),
    number(median(cell('p95WallMs').values), 1),
    number(median(cell('cpuMs').values), 1),
    number(median(cell('cpuMs').ratios), 2),
    spread(cell('delayedWallMs').values, 0),
    number(median(cell('peakInFlight').values), 0),
  ]);
}

function coldStart(results: Results): string {
  const head = ['ms', '× floor', 'CPU ms, whole process', 'CPU × floor', 'RSS MB'];
  return perSystem(results, 'W5: process start to first model request', 'w5', head, (cell) => [
    spread(cell('coldMs').values, 0),
    spread(cell('coldMs').ratios, 2),
    number(median(cell('cpuMs').values), 0),
    number(median(cell('cpuMs').ratios), 2),
    number(median(cell('peakRssMb').values), 0),
  ]);
}

function crowd(results: Results): string {
  const head = ['client CPU ms', 'CPU × floor', 'wall ms', '× floor', 'peak RSS MB', 'KB per session', 'peak in flight'];
  return perSystem(results, 'W6: 1,000 concurrent runs of 3 turns at 100 ms per answer (ideal 300 ms)', 'w6', head, (cell) => [
    spread(cell('cpuMs').values, 0),
    spread(cell('cpuMs').ratios, 2),
    spread(cell('wallMs').values, 0),
    spread(cell('wallMs').ratios, 2),
    number(median(cell('peakRssMb').values), 0),
    number(median(cell('kbPerSession').values), 0),
    number(median(cell('peakInFlight').values), 0),
  ]);
}

function crash(results: Results): string {
  const head = ['tool results on disk, of 6', 'model calls repeated', 'tool calls repeated'];
  return perSystem(results, 'SIGKILL in the 7th model call of 10, then resume', 'crash', head, (cell) => [
    spread(cell('resultsOnDisk').values, 0),
    spread(cell('repeatedModelCalls').values, 0),
    spread(cell('repeatedToolCalls').values, 0),
  ]);
}

function notMeasured(results: Results): string {
  const lines = results.rows.flatMap(({ repetition, workload, turns, system, outcome }) => {
    if (outcome.kind === 'measured') return [];
    const why =
      outcome.kind === 'missing' ? outcome.why : `failed: ${(outcome.errors[0] ?? '').replaceAll('\n', ' ').slice(0, 300)}`;
    return [`- repetition ${repetition}, ${workload}${turns === undefined ? '' : ` with ${turns} turns`}, ${system}: ${why}`];
  });
  const all = 'Every run gave the scripted answer, and the server saw exactly the expected number of requests.';
  return `### Not measured\n\n${lines.length === 0 ? all : lines.join('\n')}`;
}
