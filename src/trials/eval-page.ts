/** The report of an evaluation as one page that needs nothing else: quality against cost, and every case. No scripts. */
import type { Contender, EvalCell, EvalReport, Trial } from './report.ts';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const share = (value: number | null): string => (value === null ? '–' : `${(value * 100).toFixed(0)} %`);
const money = (usd: number, unknownCalls: number): string => `$${usd.toFixed(4)}${unknownCalls > 0 ? ' + unknown' : ''}`;
const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

export const nameOf = ({ agent, model }: Pick<Contender, 'agent' | 'model'>): string =>
  model === null ? agent : `${agent} · ${model}`;

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1d2230, #e7e9ee); --quiet: light-dark(#5b6472, #a3abb8); --line: light-dark(#d9dde4, #3a4150);
  --paper: light-dark(#ffffff, #171a21); --good: light-dark(#1a7f4b, #57c98b); --bad: light-dark(#b3261e, #ff8a80); }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1, summary { overflow-wrap: anywhere; } h1 { font-size: 1.4rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2rem; } .quiet { color: var(--quiet); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; } .good { color: var(--good); } .bad { color: var(--bad); }
svg { width: 100%; max-width: 44rem; height: auto; } svg text { fill: var(--ink); font-size: 12px; } svg .axis { stroke: var(--line); } svg circle { fill: var(--good); }
th { overflow-wrap: anywhere; min-width: 4rem; } .wide { overflow-x: auto; } pre { overflow-wrap: anywhere; white-space: pre-wrap; margin: .2rem 0; color: var(--quiet); } details summary { cursor: pointer; }
`;

export function evalPage(report: EvalReport): string {
  const { name, at, contenders, cells, notRun, total } = report;
  const left = notRun > 0 ? ` · ${notRun} trials not made: no budget was left` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(name)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(name)}</h1>
<p class="quiet">${escaped(at)} · ${total.trials} trials · ${money(total.usd, total.unknownCalls)} · ${seconds(total.durationMs)}${left}</p>
<h2>Quality against cost</h2>
${chart(contenders)}
${contenderTable(contenders)}
<h2>Case by case</h2>
${caseTable(cells, contenders)}
<h2>What failed</h2>
${failures(cells)}
</main>
</body>
</html>
`;
}

const [WIDTH, HEIGHT, MARGIN] = [640, 300, 44];

/** Cost to the right, quality upwards: the best stand above on the left. Each is a number, which the table below has too. */
function chart(contenders: readonly Contender[]): string {
  const most = Math.max(...contenders.map(({ usd }) => usd), 1e-6);
  const x = (usd: number): number => MARGIN + (usd / most) * (WIDTH - 2 * MARGIN);
  const y = (rate: number): number => HEIGHT - MARGIN - rate * (HEIGHT - 2 * MARGIN);
  const placed = contenders.map((one, index) => ({
    one,
    number: index + 1,
    place: `${round(x(one.usd))} ${round(y(one.passRate))}`,
  }));
  // Those in the same place are one dot.
  const dots = [...Map.groupBy(placed, ({ place }) => place)].map(([place, there]) => {
    const [left = '', top = ''] = place.split(' ');
    const titles = there.map(({ one }) => `${nameOf(one)}: ${share(one.passRate)}, ${money(one.usd, one.unknownCalls)}`);
    return `<circle cx="${left}" cy="${top}" r="5"><title>${escaped(titles.join('\n'))}</title></circle>
<text x="${left}" y="${Number(top) - 10}" text-anchor="middle">${there.map(({ number }) => number).join(', ')}</text>`;
  });
  const lines = [0, 0.5, 1].map(
    (rate) =>
      `<line class="axis" x1="${MARGIN}" x2="${WIDTH - MARGIN}" y1="${y(rate)}" y2="${y(rate)}"/>
<text x="4" y="${y(rate) + 4}">${share(rate)}</text>`,
  );
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="How many trials pass, against what one costs">
${lines.join('\n')}
${dots.join('\n')}
<text x="${MARGIN}" y="${HEIGHT - 12}">$0</text>
<text x="${WIDTH - MARGIN}" y="${HEIGHT - 12}" text-anchor="end">$${most.toFixed(4)} a trial</text>
</svg>`;
}

/** Dots that touch are one. */
const NEAR = 4;
const round = (place: number): number => Math.round(place / NEAR) * NEAR;

const number = (text: string, how = ''): string => `<td class="number${how}">${text}</td>`;
const columnHead = (text: string, how = ''): string => `<th scope="col"${how}>${text}</th>`;
const numberHead = (text: string): string => columnHead(text, ' class="number"');
const rowHead = (text: string): string => `<th scope="row">${escaped(text)}</th>`;
const table = (heads: readonly string[], rows: readonly string[]): string =>
  `<div class="wide" tabindex="0"><table><thead><tr>${heads.join('')}</tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table></div>`;

function contenderTable(contenders: readonly Contender[]): string {
  const heads = ['pass', 'all trials pass', 'judges', 'cost of a trial', 'time'].map(numberHead);
  const rows = contenders.map((one, index) => {
    const shares = [one.passRate, one.passAll, one.score].map((value) => number(share(value)));
    const spent = [money(one.usd, one.unknownCalls), seconds(one.durationMs)].map((text) => number(text));
    return `<tr>${number(String(index + 1))}${rowHead(nameOf(one))}${[...shares, ...spent].join('')}</tr>`;
  });
  return table([numberHead('#'), columnHead('who'), ...heads], rows);
}

function caseTable(cells: readonly EvalCell[], contenders: readonly Contender[]): string {
  const names = contenders.map(nameOf);
  const rows = [...Map.groupBy(cells, (cell) => cell.case)].map(([name, own]) => {
    const fields = names.map((who) => {
      const cell = own.find((one) => nameOf(one) === who);
      return cell === undefined ? number('–') : number(share(cell.passRate), cell.passRate === 1 ? ' good' : ' bad');
    });
    return `<tr>${rowHead(name)}${fields.join('')}</tr>`;
  });
  return table([columnHead('case'), ...names.map((name) => numberHead(escaped(name)))], rows);
}

function failures(cells: readonly EvalCell[]): string {
  const failed = cells.flatMap((cell) => cell.trials.filter(({ passed }) => !passed).map((trial) => ({ cell, trial })));
  if (failed.length === 0) return '<p>Nothing.</p>';
  return failed.map(({ cell, trial }) => failure(cell, trial)).join('\n');
}

function failure(cell: EvalCell, { run, checks }: Trial): string {
  const words = checks.filter(({ passed }) => !passed).map(({ check, why }) => `${check}: ${why ?? ''}`);
  const who = escaped(`${cell.case}, ${nameOf(cell)}`);
  const summary = `<summary>${who} <span class="quiet">${escaped(run ?? 'not started')}</span></summary>`;
  return `<details>${summary}<pre>${escaped(words.join('\n'))}</pre></details>`;
}
