/** What stands within a paragraph: emphasis, code, links. Where there are no colours, the marks of the writer stay. */
import type { Token } from 'marked';
import { safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { plainLook, type Stretch } from './stretches.ts';

export type Paint = Screen['paint'];
type Look = Stretch['look'];

const DEPTH_MAX = 20;

export function inlineStretches(tokens: readonly Token[], paint: Paint, look: Look = plainLook, depth = 0): readonly Stretch[] {
  if (depth > DEPTH_MAX) return tokens.map(({ raw }) => ({ text: raw, look }));
  return tokens.flatMap((token) => stretchesOf(token, paint, look, depth));
}

function stretchesOf(token: Token, paint: Paint, look: Look, depth: number): readonly Stretch[] {
  const within = (outer: Look): readonly Stretch[] => inlineStretches(tokensOf(token), paint, outer, depth + 1);
  const marked = (mark: string, own: Look): readonly Stretch[] =>
    paint.isColorSupported ? within(both(look, own)) : [{ text: mark, look }, ...within(look), { text: mark, look }];
  switch (token.type) {
    case 'strong':
      return marked('**', paint.bold);
    case 'em':
      return marked('*', paint.italic);
    case 'del':
      return marked('~~', paint.strikethrough);
    case 'codespan':
      return [codeStretch(textOf(token), paint, look)];
    case 'br':
      return [{ text: '\n', look }];
    case 'link':
      return linkStretches(token, paint, within(both(look, paint.underline)), look);
    case 'image':
      return [{ text: `[image: ${decoded(textOf(token))}] (${hrefOf(token)})`, look: both(look, paint.dim) }];
    case 'html':
      return [{ text: token.raw, look }];
    case 'escape':
      return [{ text: textOf(token), look }];
    default:
      return tokensOf(token).length > 0 ? within(look) : [{ text: decoded(textOf(token)), look }];
  }
}

const codeStretch = (text: string, paint: Paint, look: Look): Stretch =>
  paint.isColorSupported ? { text, look: both(look, paint.cyan) } : { text: `\`${text}\``, look };

/** The address is always there to be read: a text can say anything about where it leads. */
function linkStretches(token: Token, paint: Paint, text: readonly Stretch[], look: Look): readonly Stretch[] {
  const href = hrefOf(token);
  const said = text.map((stretch) => stretch.text).join('');
  if (href === '' || said === href || `mailto:${said}` === href) return text;
  return [...text, { text: ' ', look }, { text: `(${href})`, look: both(look, paint.dim) }];
}

const both =
  (outer: Look, inner: Look): Look =>
  (text) =>
    outer(inner(text));

export const tokensOf = (token: Token): readonly Token[] => ('tokens' in token ? (token.tokens ?? []) : []);
const textOf = (token: Token): string => ('text' in token && typeof token.text === 'string' ? token.text : token.raw);
const hrefOf = (token: Token): string => ('href' in token && typeof token.href === 'string' ? safeText(token.href) : '');

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]+));/g;

/** Entities as the signs they stand for; what they spell is as little trusted as what is written out. */
export function decoded(text: string): string {
  return safeText(
    text.replace(ENTITY, (whole, decimal?: string, hexadecimal?: string, name?: string) => {
      if (name !== undefined) return NAMED[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
    }),
  );
}
