/** A run or a session as one document, as `troupe export` writes it: always a download, whatever is in it. */
import { z } from 'zod';
import { fail, ok } from '../../base/result.ts';
import { type ExportFormat, type ExportPieces, type Extent, exportFormats } from '../../front/one-file/exported.ts';
import { findVisibleSession } from '../../front/sight.ts';
import { type RouteNeeds, runIn } from './needs.ts';
import { notFound } from './refusals.ts';
import { defineRoute, type Route, type RouteOutcome } from './route.ts';

const query = z.strictObject({
  format: z
    .enum(exportFormats)
    .default('markdown')
    .describe(
      '`html` is session and console in one file, `print` a page without scripts, `atif` a trajectory for other programs',
    ),
});
const group = 'Export';

export function exportRoutes(needs: RouteNeeds, pieces: ExportPieces): readonly Route[] {
  const { ledger } = needs.project;
  const exported = async (extent: Extent, format: ExportFormat): RouteOutcome<never> => {
    const parts = pieces(ledger, extent, format, needs.clock.now())[Symbol.asyncIterator]();
    // What cannot be exported at all is refused as such; what goes wrong later cuts the download off.
    const first = await parts.next();
    const name = `${extent.whole ? extent.row.session : extent.row.run}.${ENDINGS[format]}`;
    const headers = {
      'content-type': TYPES[format],
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
    };
    return ok({ kind: 'response', response: new Response(bytesOf(first, parts), { headers }) });
  };
  return [
    defineRoute({
      ...{ method: 'GET', path: '/sessions/{session}/export', group, deed: 'look', query, answer: 'bytes' },
      summary:
        'A whole session as one document: markdown, one HTML file that is the console, a page to print, its events, or a trajectory.',
      handle: async ({ caller, param, query: { format } }) => {
        const session = await findVisibleSession(ledger, caller, param('session'));
        const [row] = session === undefined ? [] : await ledger.runs({ session, roots: true, limit: 1 });
        return row === undefined ? fail(notFound('such session')) : await exported({ row, whole: true }, format);
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/runs/{run}/export', group, deed: 'look', query, answer: 'bytes' },
      summary: 'The same of one run and those below it.',
      handle: async (asked) => {
        const found = await runIn(needs, asked);
        if (!found.ok) return found;
        const row = found.value;
        // The chain needs the envelopes of the whole session, also those of runs that are others'.
        const isWhole = asked.query.format === 'html';
        const session = isWhole ? await findVisibleSession(ledger, asked.caller, row.session) : row.session;
        return session === undefined ? fail(notFound('such session')) : await exported({ row, whole: false }, asked.query.format);
      },
    }),
  ];
}

const ENDINGS: Readonly<Record<ExportFormat, string>> = {
  ...{ markdown: 'md', html: 'html', print: 'html', jsonl: 'jsonl', atif: 'atif.json' },
};
const TYPES: Readonly<Record<ExportFormat, string>> = {
  markdown: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
  print: 'text/html; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  atif: 'application/json; charset=utf-8',
};

function bytesOf(first: IteratorResult<string, unknown>, parts: AsyncIterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: IteratorResult<string, unknown> | undefined = first;
  return new ReadableStream({
    async pull(stream) {
      const part = next ?? (await parts.next());
      next = undefined;
      if (part.done === true) stream.close();
      else stream.enqueue(encoder.encode(part.value));
    },
    async cancel() {
      await parts.return?.();
    },
  });
}
