/**
 * One HTML file that needs nothing else and does nothing: no script, no address that is fetched. Every text is escaped, and a
 * policy in the file has browsers refuse whatever would slip through all the same.
 */
import { createHash } from 'node:crypto';
import { markedText } from '../terminal/safe-text.ts';
import type { DocumentForm } from './document-form.ts';
import type { Block, Entry } from './entries.ts';

const DEPTH_MAX = 8;
/** Longer texts are folded up. */
const OPEN_CHARACTERS = 4_000;

const STYLE = [
  ':root{color-scheme:light dark}',
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}',
  'pre{font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;',
  'border:1px solid #8886;border-radius:6px;padding:.6rem;margin:.4rem 0}',
  'pre.tree{white-space:pre;overflow-x:auto}',
  'section{margin:1.2rem 0;border-left:3px solid #8886;padding-left:.8rem}',
  'h3{font-size:1rem;margin:0}time,p.label{font-size:.8rem;opacity:.7;margin:.3rem 0 0}',
  ...Array.from({ length: DEPTH_MAX }, (_, index) => `.depth-${index + 1}{margin-left:${(index + 1) * 1.5}rem}`),
].join('');

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

export const htmlPage: DocumentForm = {
  head: ({ title, facts, tree, costs }) =>
    [
      '<!doctype html>',
      '<html lang="en"><head><meta charset="utf-8">',
      `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
      '<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">',
      `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>`,
      `<h1>${escaped(title)}</h1>`,
      `<ul>${facts.map((fact) => `<li>${escaped(fact)}</li>`).join('')}</ul>`,
      `<h2>Runs</h2>\n<pre class="tree">${escaped(tree)}</pre>`,
      `<h2>Costs</h2>\n<pre class="tree">${escaped(costs)}</pre>`,
      '<h2>Conversation</h2>\n',
    ].join('\n'),
  entry: ({ at, agent, depth, title, blocks }: Entry) =>
    [
      `<section class="depth-${Math.min(DEPTH_MAX, depth)}"><h3>${escaped(`${agent}: ${title}`)}</h3><time>${escaped(at)}</time>`,
      ...blocks.map(blockHtml),
      '</section>\n',
    ].join('\n'),
  foot: '</body></html>\n',
};

function blockHtml({ label, text }: Block): string {
  const heading = label === undefined ? '' : `<p class="label">${escaped(label)}</p>`;
  // The line break that a browser drops after <pre> is ours.
  const pre = `<pre>\n${escaped(text)}</pre>`;
  return text.length <= OPEN_CHARACTERS
    ? heading + pre
    : `${heading}<details><summary>${text.length} characters</summary>${pre}</details>`;
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return markedText(text).replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? '');
}
