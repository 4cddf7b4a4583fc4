/**
 * Markdown in which texts of others stand in fences that they cannot end: a fence is longer than any row of backticks inside it.
 * What stands outside of fences is kept to one line, and its signs are escaped.
 */
import { markedText } from '../terminal/safe-text.ts';
import type { DocumentForm } from './document-form.ts';
import type { Block, Entry } from './entries.ts';

const FENCE_MIN = 3;
const HEADING = 3;
const HEADING_MAX = 6;

export const markdownPage: DocumentForm = {
  head: ({ title, facts, tree, costs }) => {
    const parts = [
      `# ${inline(title)}`,
      facts.map((fact) => `- ${inline(fact)}`).join('\n'),
      `## Runs\n\n${fencedBlock('text', tree)}`,
      `## Costs\n\n${fencedBlock('text', costs)}`,
      '## Conversation',
    ];
    return `${parts.join('\n\n')}\n`;
  },
  entry: ({ at, agent, depth, title, blocks }: Entry) => {
    const heading = `${'#'.repeat(Math.min(HEADING_MAX, HEADING + depth))} ${inline(`${agent}: ${title}`)}`;
    return `\n${[heading, inline(at), ...blocks.map(blockText)].join('\n\n')}\n`;
  },
  foot: '',
};

function blockText({ label, language, text }: Block): string {
  const fence = fencedBlock(language, text);
  return label === undefined ? fence : `${inline(label)}:\n\n${fence}`;
}

function fencedBlock(language: string, text: string): string {
  const safe = markedText(text).replace(/\n$/, '');
  const longest = [...safe.matchAll(/`+/g)].reduce((most, [row]) => Math.max(most, row.length), 0);
  const fence = '`'.repeat(Math.max(FENCE_MIN, longest + 1));
  return `${fence}${language}\n${safe}\n${fence}`;
}

/** One line without markup: nothing in it is a link, a picture, a tag or a heading. */
function inline(text: string): string {
  return markedText(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_{}[\]<>#|&!~]/g, '\\$&');
}
