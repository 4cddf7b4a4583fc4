/** A run or a session in each form that it can be exported in; the API gives the same (`src/http/api/export-routes.ts`). */
import { unreachable } from '../../base/errors.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { ExportFormat, Extent } from '../../front/one-file/exported.ts';
import { sessionFile } from '../../front/one-file/session-file.ts';
import { belongsTo } from '../../front/standing.ts';
import { trajectoryFile } from '../../front/trajectory/trajectory-file.ts';
import { readPages } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { type CallCosts, costLines, foldCosts, initialCosts } from '../../projections/costs.ts';
import { readableCost, readableCount, readableTokens } from '../../projections/readable.ts';
import { foldRunTree, initialRunTree } from '../../projections/run-tree.ts';
import { createScreen } from '../terminal/terminal.ts';
import { version } from '../terminal/version.ts';
import { tableLines } from '../view/table.ts';
import { treeLines } from '../view/tree-lines.ts';
import type { DocumentForm, DocumentHead } from './document-form.ts';
import { createEntries } from './entries.ts';
import { readFileApp } from './file-app.ts';
import { htmlPage } from './html-page.ts';
import { markdownPage } from './markdown-page.ts';

/** The document in parts, none larger than a page of the ledger. */
export function exportPieces(ledger: Ledger, extent: Extent, format: ExportFormat, now: number): AsyncIterable<string> {
  switch (format) {
    case 'jsonl':
      return jsonLines(ledger, extent);
    case 'html':
      return consoleFile(ledger, extent, now);
    case 'print':
      return documentOf(ledger, extent, htmlPage, now);
    case 'markdown':
      return documentOf(ledger, extent, markdownPage, now);
    case 'atif':
      return trajectoryFile(ledger, { session: extent.row.session, version: version(), ...present({ run: onlyRun(extent) }) });
    default:
      return unreachable(format);
  }
}

const onlyRun = ({ row, whole }: Extent): RunId | undefined => (whole ? undefined : row.run);

async function* consoleFile(ledger: Ledger, extent: Extent, now: number): AsyncGenerator<string, void> {
  const { session, agent } = extent.row;
  const wanted = { session, agent, now, version: version(), ...present({ run: onlyRun(extent) }) };
  yield* sessionFile(ledger, wanted, await readFileApp());
}

async function* jsonLines(ledger: Ledger, extent: Extent): AsyncGenerator<string, void> {
  for await (const page of pagesOf(ledger, extent)) yield page.map((event) => `${JSON.stringify(event)}\n`).join('');
}

async function* documentOf(ledger: Ledger, extent: Extent, page: DocumentForm, now: number): AsyncGenerator<string, void> {
  yield page.head(await headOf(ledger, extent, now));
  const entryOf = createEntries();
  for await (const events of pagesOf(ledger, extent))
    for (const event of events) {
      const entry = entryOf(event);
      if (entry !== undefined) yield page.entry(entry);
    }
  yield page.foot;
}

async function* pagesOf(ledger: Ledger, { row, whole }: Extent): AsyncGenerator<readonly LedgerEvent[], void> {
  const belongs = belongsTo(row.run);
  for await (const page of readPages(ledger, { session: row.session })) yield whole ? page : page.filter(belongs);
}

async function headOf(ledger: Ledger, extent: Extent, now: number): Promise<DocumentHead> {
  const tree = initialRunTree();
  const costs = initialCosts();
  let [events, from, until] = [0, '', ''];
  for await (const page of pagesOf(ledger, extent))
    for (const event of page) {
      foldRunTree(tree, event);
      foldCosts(costs, event);
      events += 1;
      from ||= event.timestamp;
      until = event.timestamp;
    }
  const { row, whole } = extent;
  const look = { now, width: Number.MAX_SAFE_INTEGER, paint: createScreen({ write: () => undefined }, false).paint, calls: 0 };
  const roots = whole ? tree.roots : [row.run];
  const continues = whole ? null : (tree.runs.get(row.run)?.continues ?? null);
  return {
    title: whole ? `Session ${row.session}` : `Run ${row.run} of ${row.agent}`,
    facts: [
      `session ${row.session}`,
      `${counted(events, 'event')} from ${from} to ${until}`,
      ...(continues === null ? [] : [`goes on after ${shortId(continues)}: an export of the session has both`]),
    ],
    tree: roots.flatMap((root) => treeLines(tree, root, look)).join('\n'),
    costs: costTable(costLines(costs), costs.total),
  };
}

function costTable(lines: ReturnType<typeof costLines>, total: CallCosts): string {
  const cells = (spent: CallCosts): readonly string[] => [
    readableCount(spent.calls),
    ...[spent.inputTokens, spent.outputTokens].map((tokens) => readableTokens(tokens, spent)),
    readableCost(spent),
  ];
  const rows = lines.map((line) => [line.agent, line.model, ...cells(line)]);
  return tableLines(['AGENT', 'MODEL', 'CALLS', 'IN', 'OUT', 'COST'], [...rows, ['total', '', ...cells(total)]]).join('\n');
}
