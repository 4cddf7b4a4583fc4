/** Paragraphs, titles, lists, quotes, code and tables as lines. Code is never wrapped: it is there to be copied. */
import type { MarkedToken, Token, Tokens } from 'marked';
import { textWidth } from '../terminal/text-width.ts';
import { inlineStretches, type Paint, tokensOf } from './inline.ts';
import { tableOf } from './markdown-table.ts';
import { plainLook, wrapStretches } from './stretches.ts';

const DEPTH_MAX = 20;
const RULE_WIDTH = 40;

export interface Room {
  readonly paint: Paint;
  readonly width: number;
  readonly depth: number;
}

export function blockLines(tokens: readonly Token[], room: Room): readonly string[] {
  const lines: string[] = [];
  let gap = false;
  for (const token of tokens) {
    if (token.type === 'space' || token.type === 'def') {
      gap = lines.length > 0;
      continue;
    }
    const drawn = linesOf(token, room);
    if (drawn.length === 0) continue;
    if (lines.length > 0 && (gap || standsApart(token))) lines.push('');
    lines.push(...drawn);
    gap = standsApart(token);
  }
  return lines;
}

const standsApart = ({ type }: Token): boolean => type !== 'text' && type !== 'list' && type !== 'checkbox';

/** The lexer has no extensions here, so that it makes no other tokens than its own. */
const known = (token: Token): MarkedToken => token as MarkedToken;

function linesOf(given: Token, room: Room): readonly string[] {
  const token = known(given);
  const { paint, width } = room;
  if (room.depth > DEPTH_MAX) return wrapStretches([{ text: token.raw.trimEnd(), look: plainLook }], width);
  switch (token.type) {
    case 'heading':
      return titleLines(token, room);
    case 'code':
      return codeLines(token, paint);
    case 'list':
      return listLines(token, room);
    case 'blockquote':
      return marked(blockLines(tokensOf(token), inner(room, 2)), paint.dim('│ '), paint.dim('│ '));
    case 'table':
      return tableOf(token, paint, width);
    case 'hr':
      return [paint.dim('─'.repeat(Math.min(width, RULE_WIDTH)))];
    case 'html':
      return wrapStretches([{ text: token.raw.trimEnd(), look: plainLook }], width);
    case 'checkbox':
      return [];
    default:
      return wrapStretches(inlineStretches(tokensOf(token).length > 0 ? tokensOf(token) : [token], paint), width);
  }
}

function titleLines(token: Tokens.Heading, { paint, width }: Room): readonly string[] {
  const look = token.depth === 1 ? (text: string) => paint.bold(paint.underline(text)) : paint.bold;
  const stretches = inlineStretches(token.tokens, paint, look);
  if (paint.isColorSupported) return wrapStretches(stretches, width);
  return wrapStretches([{ text: `${'#'.repeat(token.depth)} `, look }, ...stretches], width);
}

/** The fence stays, in grey: it says where the code begins and what it is, and nothing is put in front of its lines. */
function codeLines(token: Tokens.Code, paint: Paint): readonly string[] {
  const lines = token.text.replace(/\n$/, '').split('\n');
  if (token.codeBlockStyle === 'indented') return lines.map((line) => `    ${paint.cyan(line)}`);
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(token.raw)?.[1] ?? '```';
  return [paint.dim(`${fence}${token.lang ?? ''}`), ...lines.map((line) => paint.cyan(line)), paint.dim(fence)];
}

function listLines(token: Tokens.List, room: Room): readonly string[] {
  const first = typeof token.start === 'number' ? token.start : 1;
  const last = first + token.items.length - 1;
  const taken = token.ordered ? String(last).length + 2 : 2;
  return token.items.flatMap((item, index) => {
    const sign = token.ordered ? `${first + index}.`.padStart(taken - 1) : '•';
    const task = item.task ? (item.checked ? '[x] ' : '[ ] ') : '';
    const head = `${sign} ${task}`;
    const lines = blockLines(item.tokens, inner(room, textWidth(head)));
    const drawn = marked(lines.length === 0 ? [''] : lines, `${room.paint.dim(sign)} ${task}`, ' '.repeat(textWidth(head)));
    return token.loose && index > 0 ? ['', ...drawn] : drawn;
  });
}

const inner = (room: Room, taken: number): Room => ({
  ...room,
  width: Math.max(NARROW, room.width - taken),
  depth: room.depth + 1,
});
const NARROW = 10;

const marked = (lines: readonly string[], first: string, rest: string): readonly string[] =>
  lines.map((line, index) => `${index === 0 ? first : rest}${line}`.trimEnd());
