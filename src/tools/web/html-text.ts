/**
 * HTML as text that reads well: headings, lists, links and paragraphs stay, scripts and styling go. One pass over the
 * input, in linear time whatever the input: pages come from strangers.
 */

const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object', 'canvas']);
const BLOCKS = new Set(
  'address article aside blockquote body dd div dl dt fieldset figure figcaption footer form header hr main nav ol p pre section table tbody thead title tr ul'.split(
    ' ',
  ),
);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
  laquo: '«',
  raquo: '»',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  euro: '€',
};
const TAG_CHARACTERS = 4_096;
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;

interface Tag {
  readonly name: string;
  readonly closing: boolean;
  readonly source: string;
}

/** Relative links are made whole with `base`. */
export function htmlToText(html: string, base?: string): string {
  const lower = html.toLowerCase();
  const page = createPage(base);
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const close = open < 0 ? -1 : html.indexOf('>', open);
    // Without another complete tag, what is left is text.
    if (close < 0) {
      page.text(html.slice(at));
      break;
    }
    page.text(html.slice(at, open));
    at = afterMarkup(html, lower, open, close, page.tag);
  }
  return page.result();
}

/** Handles what starts at `open` and returns where to go on; the end when something is never closed. */
function afterMarkup(html: string, lower: string, open: number, close: number, onTag: (tag: Tag) => void): number {
  if (html.startsWith('<!--', open)) return endAfter(lower, '-->', open + 4);
  const tag = parseTag(html.slice(open, Math.min(close, open + TAG_CHARACTERS)));
  if (tag === undefined) return close + 1;
  if (SKIPPED.has(tag.name) && !tag.closing) {
    const end = lower.indexOf(`</${tag.name}`, close);
    return end < 0 ? html.length : endAfter(lower, '>', end);
  }
  onTag(tag);
  return close + 1;
}

function endAfter(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end + mark.length;
}

function parseTag(source: string): Tag | undefined {
  const [, slash, name] = /^<(\/?)([a-z][a-z0-9]*)/i.exec(source) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), closing: slash === '/', source };
}

function createPage(base: string | undefined) {
  const parts: string[] = [];
  let preformatted = 0;
  /** Where the open link's text starts, and where it leads. */
  let link: { readonly start: number; readonly href: string } | undefined;

  const closeLink = (): void => {
    if (link === undefined) return;
    const label = parts.splice(link.start).join('').replaceAll(/\s+/g, ' ').trim();
    if (label !== '') parts.push(label === link.href ? label : `[${label}](${link.href})`);
    link = undefined;
  };
  const openLink = (source: string): void => {
    closeLink();
    const href = hrefOf(source, base);
    if (href !== undefined) link = { start: parts.length, href };
  };
  return {
    text: (raw: string): void => {
      if (raw === '') return;
      const plain = decodeEntities(raw);
      parts.push(preformatted > 0 ? plain : plain.replaceAll(/\s+/g, ' '));
    },
    tag: ({ name, closing, source }: Tag): void => {
      const heading = /^h([1-6])$/.exec(name)?.[1];
      if (name === 'a') {
        if (closing) closeLink();
        else openLink(source);
      } else if (name === 'br') parts.push('\n');
      else if (name === 'td' || name === 'th') parts.push(closing ? ' | ' : '');
      else if (heading !== undefined || name === 'li' || BLOCKS.has(name)) {
        closeLink();
        if (name === 'pre') preformatted = Math.max(0, preformatted + (closing ? -1 : 1));
        if (name === 'li') parts.push(closing ? '' : '\n- ');
        else parts.push('\n\n', heading === undefined || closing ? '' : `${'#'.repeat(Number(heading))} `);
      }
    },
    result: (): string => {
      closeLink();
      return tidied(parts.join(''));
    },
  };
}

function tidied(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const kept: string[] = [];
  // The converter itself leaves a space where a block begins; indentation inside `pre` is longer.
  for (const line of lines) if (line !== '' || (kept.at(-1) ?? '') !== '') kept.push(line.replace(/^ (?=\S)/, ''));
  return kept.join('\n').trim();
}

function hrefOf(source: string, base: string | undefined): string | undefined {
  const found = HREF.exec(source);
  const href = decodeEntities(found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim();
  if (href === '' || href.startsWith('#') || /^(?:javascript|data):/i.test(href)) return undefined;
  const whole = URL.parse(href, base);
  return whole === null ? undefined : whole.href;
}

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
    },
  );
}
