/**
 * Reads the small XML documents that S3 servers answer with: elements and text. Strict, because it comes from outside:
 * what is not well-formed, and every part of XML that these answers do not need (document types, entities of their own,
 * comments, CDATA), is refused. The caller bounds the length.
 */
import { fail, ok, type Result } from '../../base/result.ts';

export interface XmlElement {
  /** Without the part before a colon. */
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

interface OpenElement {
  readonly tag: string;
  text: string;
  readonly children: XmlElement[];
}

const DEPTH = 16;
const DECLARATION = /^\uFEFF?\s*<\?xml\s[^<>]*\?>/;
const TOKEN =
  /<(?<closing>\/?)(?<tag>[A-Za-z_][\w.:-]*)(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(?<empty>\/?)>|(?<text>[^<]+)/y;
const ENTITY = /&(?<name>[^;&]{0,12});|&/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const CODE_POINT_MAX = 0x10_ffff;

export function readXml(document: string): Result<XmlElement, string> {
  const source = document.replace(DECLARATION, '').trim();
  const outer: OpenElement = { tag: '', text: '', children: [] };
  const open: OpenElement[] = [outer];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const { closing = '', tag = '', empty = '', text } = TOKEN.exec(source)?.groups ?? { tag: '' };
    const current = open.at(-1) ?? outer;
    if (text !== undefined) {
      const plain = withoutEntities(text);
      if (plain === undefined) return fail('it has an entity that is not known');
      current.text += plain;
    } else if (tag === '') return fail('it is not well-formed');
    else if (closing !== '') {
      if (open.length === 1 || current.tag !== tag || empty !== '') return fail('its elements are not closed in order');
      open.pop();
      open.at(-1)?.children.push(closed(current));
    } else if (empty !== '') current.children.push(closed({ tag, text: '', children: [] }));
    else if (open.length > DEPTH) return fail('its elements are nested too deep');
    else open.push({ tag, text: '', children: [] });
  }
  const [root, ...more] = outer.children;
  if (open.length > 1 || root === undefined || more.length > 0 || outer.text.trim() !== '') return fail('it is not one element');
  return ok(root);
}

export function childText(element: XmlElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}

const closed = ({ tag, text, children }: OpenElement): XmlElement => ({ name: tag.replace(/^.*:/, ''), text, children });

function withoutEntities(text: string): string | undefined {
  let known = true;
  const plain = text.replace(ENTITY, (_match, name: string | undefined) => {
    const meant = name === undefined ? undefined : (ENTITIES[name] ?? numbered(name));
    known &&= meant !== undefined;
    return meant ?? '';
  });
  return known ? plain : undefined;
}

function numbered(name: string): string | undefined {
  const [, hexadecimal, decimal] = /^#(?:x([0-9a-fA-F]+)|([0-9]+))$/.exec(name) ?? [];
  const point = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return point > 0 && point <= CODE_POINT_MAX ? String.fromCodePoint(point) : undefined;
}
